import type { LinkFields } from '../events/link.ts'
import type { Reader } from './reader.ts'

/** All that a redirect needs to know of a link. */
export interface Target extends Pick<
  LinkFields,
  'url' | 'type' | 'location' | 'device' | 'language' | 'parameters' | 'pixels'
> {
  readonly link: number
  readonly account: number
  /** of the link's stream, as a number */
  readonly revision: number
  /** in the log, of the link's last change */
  readonly position: bigint
  readonly domain: number | null
  readonly aliasKey: string
  /** scrypt hash */
  readonly password: string | null
  readonly expiry: Date | null
}

type Row = Omit<Target, 'link' | 'account' | 'revision' | 'position' | 'domain' | 'aliasKey'> & {
  id: string
  account: string
  revision: string
  position: string
  domain: string | null
  alias_key: string
}

/** The live link at an address (a null domain is the service's own), unless its account is not active. */
export const findTarget = async ({ db, table }: Reader, domain: number | null, aliasKey: string) => {
  const [row] = (await db({ l: table('links') })
    .join({ a: table('accounts') }, 'a.id', 'l.account')
    .where({ 'l.alias_key': aliasKey, 'l.domain': domain, 'l.deleted': null, 'a.status': 'active' })
    .select(
      ...'id account revision position domain alias_key url type location device language parameters pixels password expiry'
        .split(' ')
        .map((name) => `l.${name}`),
    )
    .limit(1)) as Row[]
  return row && target(row)
}

const target = ({ id, account, revision, position, domain, alias_key, ...rest }: Row): Target => ({
  ...rest,
  link: Number(id),
  account: Number(account),
  revision: Number(revision),
  position: BigInt(position),
  domain: domain === null ? null : Number(domain),
  aliasKey: alias_key,
})

export interface ChangedLink {
  readonly link: number
  readonly domain: number | null
  readonly aliasKey: string
  readonly position: bigint
}

/** Links that changed between two positions of the log: what is remembered of them is no longer true. */
export const linksChanged = async ({ db, table }: Reader, after: bigint, upTo: bigint): Promise<ChangedLink[]> => {
  const rows = (await db(table('links'))
    .where('position', '>', after.toString())
    .where('position', '<=', upTo.toString())
    .select('id', 'domain', 'alias_key', 'position')) as Row[]
  return rows.map((row) => ({
    link: Number(row.id),
    domain: row.domain === null ? null : Number(row.domain),
    aliasKey: row.alias_key,
    position: BigInt(row.position),
  }))
}
