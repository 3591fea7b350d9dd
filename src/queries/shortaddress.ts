import type { ShortAddress } from '../lib/shortaddress.ts'
import { addressKey, linkAddress } from '../projections/link.ts'
import type { AccountRow } from './account.ts'
import type { Reader } from './reader.ts'

/** What a public address belongs to. */
export interface Addressed {
  readonly kind: 'link' | 'bio' | 'qr' | 'campaign'
  readonly id: number
  readonly account: number
  /** of the account */
  readonly status: AccountRow['status']
  /** the alias or slug, as its owner wrote it */
  readonly name: string
}

const columns = (name: string) => ['x.id', 'x.account', `x.${name} as name`, 'a.status']

/** Returns what is at a public address and not deleted. `domain` is the id of the branded domain; null for the service's own host. */
export const findAddressed = async (
  { db, table }: Reader,
  domain: number | null,
  { kind, name }: Pick<ShortAddress, 'kind' | 'name'>,
): Promise<Addressed | undefined> => {
  const find = async (what: Addressed['kind'], from: string, column: string, where: string, value: string) => {
    const [row] = (await db({ x: table(from) })
      .join({ a: table('accounts') }, 'a.id', 'x.account')
      .whereNull('x.deleted')
      .whereRaw(`${where} = ?`, [value])
      .select(columns(column))
      .limit(1)) as Omit<Addressed, 'kind'>[]
    return row && { ...row, kind: what, id: Number(row.id), account: Number(row.account) }
  }
  if (kind === 'qr') return domain === null ? find('qr', 'qrs', 'alias', 'x.alias', name) : undefined
  if (kind === 'campaign')
    return domain === null ? find('campaign', 'campaigns', 'slug', 'lower(x.slug)', name) : undefined
  const link = await find('link', 'links', 'alias', linkAddress, addressKey(domain, name))
  return link ?? (domain === null ? find('bio', 'bios', 'alias', 'lower(x.alias)', name) : undefined)
}
