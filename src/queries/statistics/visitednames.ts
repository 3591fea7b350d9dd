import { idOrNull, type Reader } from '../reader.ts'

/** What a person calls something that was visited. */
export type VisitedName = { readonly alias: string; readonly domain: number | null } | { readonly name: string }

/**
 * Returns the names of links, and of QR codes (`qr/7`) and bio pages (`bio/7`), of an account, also of deleted ones.
 */
export const visitedNames = async (
  { db, table }: Reader,
  account: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, VisitedName>> => {
  const ids = (prefix: string) =>
    keys.flatMap((key) =>
      key.startsWith(prefix) && /^\d+$/.test(key.slice(prefix.length)) ? [key.slice(prefix.length)] : [],
    )
  const read = async <R>(name: string, columns: string, prefix: string): Promise<readonly R[]> => {
    const wanted = ids(prefix)
    if (wanted.length === 0) return []
    const { rows } = await db.raw<{ rows: R[] }>(
      `select id, ${columns} from ${table(name)} where account = ? and id = any(?::bigint[])`,
      [account, wanted],
    )
    return rows
  }
  type Link = { readonly id: string; readonly alias: string; readonly domain: string | null }
  type Named = { readonly id: string; readonly name: string | null; readonly alias: string }
  const links = await read<Link>('links', 'alias, domain', '')
  const codes = await read<Named>('qrs', 'name, alias', 'qr/')
  const pages = await read<Named>('bios', 'name, alias', 'bio/')
  return new Map<string, VisitedName>([
    ...links.map(({ id, alias, domain }) => [id, { alias, domain: idOrNull(domain) }] as const),
    ...codes.map(({ id, name, alias }) => [`qr/${id}`, { name: name || alias }] as const),
    ...pages.map(({ id, name, alias }) => [`bio/${id}`, { name: name || alias }] as const),
  ])
}
