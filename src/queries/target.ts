import type { BioFields } from '../events/bio.ts'
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

/** All that is shown of a bio page. */
export interface BioTarget extends BioFields {
  readonly bio: number
  readonly account: number
  /** in the log, of the page's last change */
  readonly position: bigint
  readonly domain: null
  readonly aliasKey: string
}

/** What may stand at a public address; its stream names it among all of them. */
export type Occupant = Target | BioTarget
export const streamOf = (occupant: Occupant) => ('bio' in occupant ? `bio-${occupant.bio}` : `link-${occupant.link}`)

/** What lives at an address (a null domain is the service's own), unless its account is not active. */
export const findOccupant = async (reader: Reader, domain: number | null, aliasKey: string) =>
  (await findTarget(reader, domain, aliasKey)) ?? (domain === null ? findBioTarget(reader, aliasKey) : undefined)

type Row = Omit<Target, 'link' | 'account' | 'revision' | 'position' | 'domain' | 'aliasKey'> & {
  id: string
  account: string
  revision: string
  position: string
  domain: string | null
  alias_key: string
}

const findTarget = async ({ db, table }: Reader, domain: number | null, aliasKey: string) => {
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

const findBioTarget = async ({ db, table }: Reader, aliasKey: string): Promise<BioTarget | undefined> => {
  const [row] = (await db({ b: table('bios') })
    .join({ a: table('accounts') }, 'a.id', 'b.account')
    .where({ 'b.deleted': null, 'a.status': 'active' })
    .whereRaw('lower(b.alias) = ?', [aliasKey])
    .select(...'id account position name alias title description avatar links'.split(' ').map((name) => `b.${name}`))
    .limit(1)) as (BioFields & { id: string; account: string; position: string })[]
  if (!row) return undefined
  const { id, account, position, ...fields } = row
  return { ...fields, bio: Number(id), account: Number(account), position: BigInt(position), domain: null, aliasKey }
}

/** Whatever is remembered of a stream, or of an address, is no longer true. */
export interface Changed {
  readonly stream: string
  readonly domain: number | null
  readonly aliasKey: string
  readonly position: bigint
}

/** Links and bio pages that changed between two positions of the log. */
export const occupantsChanged = async ({ db, table }: Reader, after: bigint, upTo: bigint): Promise<Changed[]> => {
  const between = { after: after.toString(), upTo: upTo.toString() }
  const { rows } = await db.raw<{ rows: (Pick<Row, 'domain' | 'alias_key' | 'position'> & { stream: string })[] }>(
    `select 'link-' || id as stream, domain, alias_key, position from ${table('links')}
     where position > :after and position <= :upTo
     union all
     select 'bio-' || id, null, lower(alias), position from ${table('bios')}
     where position > :after and position <= :upTo`,
    between,
  )
  return rows.map(({ stream, domain, alias_key, position }) => ({
    stream,
    domain: domain === null ? null : Number(domain),
    aliasKey: alias_key,
    position: BigInt(position),
  }))
}
