import { type BioEntry, type BioFields, entriesOf } from '../../events/pages/bio.ts'
import type { LinkFields, Unframed } from '../../events/links/link.ts'
import type { OverlayFields } from '../../events/pages/overlay.ts'
import type { PixelFields } from '../../events/pages/pixel.ts'
import type { SplashFields } from '../../events/pages/splash.ts'
import { streamId } from '../../events/streams.ts'
import { addressKey, linkAddress } from '../../projections/links/link.ts'
import { findPublicQrs, type PublicQr, qrPrefix } from '../qr/qr.ts'
import { planned, type Reader } from '../reader.ts'
import { everyAddress } from './addresses.ts'

type Identified<F> = F & { readonly id: number }
/** The resources that a link's interstitial uses and that are not deleted; each has its own stream. */
export interface Parts {
  readonly splash?: Identified<SplashFields> | undefined
  readonly overlay?: Identified<OverlayFields> | undefined
  readonly pixels: readonly Identified<Pick<PixelFields, 'type' | 'tag'>>[]
}

/** What a visitor sees before the destination. */
export interface Interstitial extends Parts {
  readonly type: 'direct' | 'frame' | 'splash' | 'overlay'
  readonly title: string
  readonly description: string
  readonly image: string
  /** the owner set at least one of the meta tags for link previews */
  readonly card: boolean
}

type Texts = Pick<LinkFields, 'title' | 'description' | 'metatitle' | 'metadescription' | 'metaimage'>

/** A link with all that a redirect needs. */
export interface Target
  extends
    Texts,
    Pick<LinkFields, 'url' | 'type' | 'location' | 'device' | 'browser' | 'language' | 'parameters' | 'pixels'>,
    Pick<LinkFields, 'expired_url' | 'max_clicks' | 'forward' | 'forward_path' | 'variants'> {
  readonly link: number
  readonly account: number
  /** of the link's stream */
  readonly revision: number
  /** of the link's last change in the log */
  readonly position: bigint
  /** where the visitor has come in: it has that number among the addresses of the link */
  readonly domain: number | null
  readonly aliasKey: string
  readonly address: number
  /** scrypt hash; `unreadable` protects the link without letting anyone in */
  readonly password: string | null
  readonly expiry: Date | null
  readonly starts: Date | null
  /** destinations that refuse to be framed: their visitors are redirected */
  readonly unframed: readonly Unframed[]
  /** undefined: the link redirects at once */
  readonly interstitial: Interstitial | undefined
}

/** A link whose splash page or overlay was deleted redirects directly. */
const typeOf = (type: string, { splash, overlay }: Parts): Interstitial['type'] => {
  if (type === 'frame' || type === 'splash') return type
  return splash ? 'splash' : overlay ? 'overlay' : 'direct'
}
/** Returns the interstitial of a link, or undefined if it has none. */
export const interstitialOf = (link: Texts & Pick<LinkFields, 'type'>, parts: Parts): Interstitial | undefined => {
  const { title, description, metatitle, metadescription, metaimage } = link
  const type = typeOf(link.type, parts)
  const card = [metatitle, metadescription, metaimage].some(Boolean)
  if (type === 'direct' && parts.pixels.length === 0 && !card) return undefined
  return {
    ...parts,
    type,
    card,
    title: metatitle || title,
    description: metadescription || description,
    image: metaimage,
  }
}
/** Returns the streams of an interstitial's resources. */
export const partStreams = ({ splash, overlay, pixels }: Parts): readonly string[] => [
  ...(splash ? [streamId('splash', splash.id)] : []),
  ...(overlay ? [streamId('overlay', overlay.id)] : []),
  ...pixels.map(({ id }) => streamId('pixel', id)),
]

/** A bio page with all that it shows. */
export interface BioTarget extends Omit<BioFields, 'links' | 'lastEntry'> {
  readonly bio: number
  readonly account: number
  readonly links: readonly BioEntry[]
  /** of the page's stream */
  readonly revision: number
  /** of the page's last change in the log */
  readonly position: bigint
  readonly domain: null
  readonly aliasKey: string
}

/** What a public address may lead to. */
export type PublicTarget = Target | BioTarget | PublicQr
/** Returns the stream of a target, which identifies it. */
export const targetStream = (target: PublicTarget) => {
  if ('link' in target) return streamId('link', target.link)
  return 'bio' in target ? streamId('bio', target.bio) : streamId('qr', target.qr)
}

/** Where a target is; a null domain is the service's own host. */
export interface PublicAddress {
  readonly domain: number | null
  readonly aliasKey: string
}
const isQrAddress = ({ aliasKey }: PublicAddress) => aliasKey.startsWith(qrPrefix)

/**
 * Returns the targets at some addresses, in their order; none where it is deleted or its account is not active. Makes
 * three statements at most: one for links, bio pages and QR codes each.
 */
export const findPublicTargets = async (
  reader: Reader,
  addresses: readonly PublicAddress[],
): Promise<readonly (PublicTarget | undefined)[]> => {
  const keyOf = ({ domain, aliasKey }: PublicAddress) => addressKey(domain, aliasKey)
  const found = new Map<string, PublicTarget>()
  const read = async <T>(wanted: readonly T[], find: (wanted: readonly T[]) => Promise<readonly PublicTarget[]>) => {
    if (wanted.length > 0) for (const target of await find(wanted)) found.set(keyOf(target), target)
  }
  const [codes, pages] = [addresses.filter(isQrAddress), addresses.filter((address) => !isQrAddress(address))]
  await read(pages.map(keyOf), (keys) => findTargets(reader, keys))
  const maybeBios = pages.filter((address) => address.domain === null && !found.has(keyOf(address)))
  await read(
    maybeBios.map(({ aliasKey }) => aliasKey),
    (aliases) => findBioTargets(reader, aliases),
  )
  await read(
    codes.map(({ aliasKey }) => aliasKey.slice(qrPrefix.length)),
    async (aliases) => (await findPublicQrs(reader, aliases)).flatMap((code) => code ?? []),
  )
  return addresses.map((address) => found.get(keyOf(address)))
}

type Row = Omit<Target, 'link' | 'account' | 'revision' | 'position' | 'domain' | 'aliasKey' | 'interstitial'> & {
  id: string
  account: string
  revision: string
  position: string
  domain: string | null
  alias_key: string
  shown_splash: Parts['splash'] | null
  shown_overlay: (NonNullable<Parts['overlay']> & { corner: OverlayFields['position'] }) | null
  shown_pixels: Parts['pixels'] | null
}

const columns =
  'id account revision position url type title description location device browser language parameters pixels password expiry metatitle metadescription metaimage unframed starts expired_url max_clicks forward forward_path variants'
    .split(' ')
    .map((name) => `l.${name}`)
    .join()

// one address after another: as long as PostgreSQL has not analyzed the table, it would read all of it for some of them
// at once
const findTargets = async (reader: Reader, addressKeys: readonly string[]) => {
  const { db, table } = reader
  // most links have no interstitial, and then these subqueries do not run
  const one = (kind: string, name: string) =>
    `case when l.type like '${kind}-%' then (select row_to_json(s) from ${table(name)} s
     where s.id = substr(l.type, ${kind.length + 2})::bigint and s.account = l.account and s.deleted is null) end as shown_${kind}`
  const pixels = `case when json_array_length(l.pixels) > 0 then (
      select json_agg(json_build_object('id', p.id, 'type', p.type, 'tag', p.tag) order by n)
      from json_array_elements_text(l.pixels) with ordinality as e (pixel, n) join ${table('pixels')} p on p.id = e.pixel::bigint
      where p.account = l.account and p.deleted is null) end as shown_pixels`
  const sql = `select ${columns}, p.domain, p.alias_key, p.address, ${one('splash', 'splashes')}, ${one('overlay', 'overlays')}, ${pixels}
    from unnest(?::text[]) as k (address) cross join lateral (
      select * from ${everyAddress(table)} every where ${linkAddress} = k.address limit 1
    ) p join ${table('links')} l on l.id = p.link join ${table('accounts')} a on a.id = l.account where a.status = 'active'`
  const { rows } = await db.raw<{ rows: Row[] }>(sql, [[...addressKeys]]).options(planned(reader, sql))
  return rows.map(target)
}

// named one by one: what a rest of so many columns makes takes ten times as long to make, and longer to read at each
// visit
const target = (row: Row): Target => {
  const { shown_splash, shown_overlay, shown_pixels } = row
  const overlay = shown_overlay && { ...shown_overlay, position: shown_overlay.corner }
  const parts = { splash: shown_splash ?? undefined, overlay: overlay ?? undefined, pixels: shown_pixels ?? [] }
  return {
    link: Number(row.id),
    account: Number(row.account),
    revision: Number(row.revision),
    position: BigInt(row.position),
    domain: row.domain === null ? null : Number(row.domain),
    aliasKey: row.alias_key,
    address: row.address,
    interstitial: interstitialOf(row, parts),
    url: row.url,
    type: row.type,
    title: row.title,
    description: row.description,
    location: row.location,
    device: row.device,
    browser: row.browser,
    language: row.language,
    parameters: row.parameters,
    pixels: row.pixels,
    password: row.password,
    expiry: row.expiry,
    metatitle: row.metatitle,
    metadescription: row.metadescription,
    metaimage: row.metaimage,
    unframed: row.unframed,
    starts: row.starts,
    expired_url: row.expired_url,
    max_clicks: row.max_clicks,
    forward: row.forward,
    forward_path: row.forward_path,
    variants: row.variants,
  }
}

const bioColumns = 'id account revision position name alias title description avatar links theme color'
  .split(' ')
  .map((name) => `b.${name}`)
  .join()
type BioRow = BioFields & Pick<Row, 'id' | 'account' | 'revision' | 'position'>

const findBioTargets = async (reader: Reader, aliasKeys: readonly string[]): Promise<readonly BioTarget[]> => {
  const { db, table } = reader
  const sql = `select ${bioColumns} from unnest(?::text[]) as k (alias) cross join lateral (
      select * from ${table('bios')} where deleted is null and lower(alias) = k.alias limit 1
    ) b join ${table('accounts')} a on a.id = b.account where a.status = 'active'`
  const { rows } = await db.raw<{ rows: BioRow[] }>(sql, [[...aliasKeys]]).options(planned(reader, sql))
  return rows.map(({ id, account, revision, position, links, ...fields }) => ({
    ...fields,
    links: entriesOf(links),
    bio: Number(id),
    account: Number(account),
    revision: Number(revision),
    position: BigInt(position),
    domain: null,
    aliasKey: fields.alias.toLowerCase(),
  }))
}
