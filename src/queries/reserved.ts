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
  const held = (kind: HeldRow['kind'], from: string, name: string, domain = 'null::bigint') =>
    `select '${kind}' as kind, id, account, ${name} as name, ${domain} as domain from ${table(from)}
     where lower(${name}) = any (?) and deleted is null`
  const sources = [
    held('link', 'links', 'alias', 'domain'),
    held('bio', 'bios', 'alias'),
    held('campaign', 'campaigns', 'slug'),
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
