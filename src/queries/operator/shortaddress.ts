import type { ShortAddress } from '../../lib/short/address.ts'
import type { AccountRow } from '../accounts/account.ts'
import { linkIdAt } from '../links/addresses.ts'
import type { Reader } from '../reader.ts'

/** What a public address belongs to. */
export interface Addressed {
  readonly kind: 'link' | 'bio' | 'qr' | 'campaign'
  readonly id: number
  readonly account: number
  readonly username: string | null
  /** of the account */
  readonly status: AccountRow['status']
  /** the alias or slug, as its owner wrote it */
  readonly name: string
}

/** Returns the first row that matches. `where` is an expression, `column` has the name. */
const find = async (
  { db, table }: Reader,
  kind: Addressed['kind'],
  where: string,
  value: string | number,
): Promise<Addressed | undefined> => {
  const [from, column] = tables[kind]
  const [row] = (await db({ x: table(from) })
    .join({ a: table('accounts') }, 'a.id', 'x.account')
    .whereNull('x.deleted')
    .whereRaw(`${where} = ?`, [value])
    .select('x.id', 'x.account', `x.${column} as name`, 'a.username', 'a.status')
    .limit(1)) as Omit<Addressed, 'kind'>[]
  return row && { ...row, kind, id: Number(row.id), account: Number(row.account) }
}
const tables = {
  link: ['links', 'alias'],
  bio: ['bios', 'alias'],
  qr: ['qrs', 'alias'],
  campaign: ['campaigns', 'slug'],
} as const

/** Returns the path of the list of a campaign below `/u/`. */
export const listPath = ({ username, name, id }: Pick<Addressed, 'username' | 'name' | 'id'>) =>
  `${username ?? ''}/${name}-${id}`

/** Returns the campaign whose list has this path, in lower case. */
const findList = async (reader: Reader, path: string) => {
  const campaign = await find(reader, 'campaign', 'x.id', Number(path.split('-').at(-1)))
  return campaign && listPath(campaign).toLowerCase() === path ? campaign : undefined
}

/**
 * Returns what is at a public address and not deleted. `domain` is the id of the branded domain; null for the service's
 * own host.
 */
export const findAddressed = async (
  reader: Reader,
  domain: number | null,
  { kind, name, keys }: Pick<ShortAddress, 'kind' | 'name' | 'keys'>,
): Promise<Addressed | undefined> => {
  if (kind === 'qr') return domain === null ? find(reader, 'qr', 'x.alias', name) : undefined
  if (kind === 'campaign') return domain === null ? find(reader, 'campaign', 'lower(x.slug)', name) : undefined
  if (kind === 'list') return domain === null ? findList(reader, name) : undefined
  for (const aliasKey of keys) {
    const id = await linkIdAt(reader, { domain, aliasKey })
    const link = id === undefined ? undefined : await find(reader, 'link', 'x.id', id)
    if (link) return link
  }
  return domain === null ? find(reader, 'bio', 'lower(x.alias)', name) : undefined
}

/** Returns a link, a bio page or a campaign that is not deleted. */
export const findAddressedById = (reader: Reader, kind: 'link' | 'bio' | 'campaign', id: number) =>
  find(reader, kind, 'x.id', id)
