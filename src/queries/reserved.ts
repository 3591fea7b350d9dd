import { everyAddress } from './links/addresses.ts'
import type { Reader } from './reader.ts'

/** Something that has an address which is reserved by now. */
export interface HeldRow {
  readonly kind: 'link' | 'bio' | 'campaign'
  readonly id: number
  readonly account: number
  readonly name: string
  /** id of the branded domain; null for the service's own host */
  readonly domain: number | null
}

/** Returns the links, bio pages and campaigns whose alias or slug, in lower case, is one of the words. */
export const listHeld = async ({ db, table }: Reader, words: readonly string[]): Promise<readonly HeldRow[]> => {
  const held = (kind: HeldRow['kind'], from: string, [id, name, domain]: readonly [string, string, string]) =>
    `select '${kind}' as kind, ${id} as id, account, ${name} as name, ${domain} as domain from ${from}
     where lower(${name}) = any (?)`
  const open = (of: string) => `(select * from ${table(of)} where deleted is null) o`
  const sources = [
    held('link', `${everyAddress(table)} a`, ['link', 'alias', 'domain']),
    held('bio', open('bios'), ['id', 'alias', 'null::bigint']),
    held('campaign', open('campaigns'), ['id', 'slug', 'null::bigint']),
  ]
  const { rows } = await db.raw<{ rows: HeldRow[] }>(
    `${sources.join(' union all ')} order by name, kind, id`,
    sources.map(() => [...words]),
  )
  return rows.map(({ kind, id, account, name, domain }) => {
    const on = domain === null ? null : Number(domain)
    return { kind, id: Number(id), account: Number(account), name, domain: on }
  })
}
