import type { Format } from './records.ts'

/**
 * The names of each field in all formats, in lower case and without what is neither letter nor digit. Of several, the
 * first that is not empty counts.
 */
const names = {
  url: 'longurl destinationurl destination originalurl target targeturl longlink url',
  link: 'customlink custombitlink custombitlinks link shortlink bitlink tinyurl shorturl secureshorturl short',
  alias: 'alias shortcode keyword slashtag slug path shortid backhalf custom',
  host: 'domain domainname host',
  title: 'title name metatitle',
  description: 'description note notes comment comments metadescription',
  tags: 'tags tag labels label',
  created: 'createdat datecreated created creationdate createdts adddate timestamp date',
  expiry: 'expiry expiresat expirationdate expiredate expiration expires expirein validuntil',
  starts: 'starts startsat startdate validsince validfrom',
  maxClicks: 'maxclicks clickslimit clicklimit maxvisits',
  archived: 'archived isarchived',
  banned: 'banned',
  password: 'password',
  clicks: 'clicks totalclicks clickcount visits visitcount visitscount hits nonbots',
  uniques: 'uniqueclicks uniques uniquevisits',
  device: 'device devices devicetarget',
  iphone: 'iphoneurl iphone',
  ios: 'iosurl ios apple',
  android: 'androidurl android google',
  location: 'geo location locations geotarget',
  language: 'language languages languagetarget',
} as const
export type Field = keyof typeof names
export const fieldNames = Object.keys(names) as readonly Field[]

const entriesOf = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).flatMap(([field, all]) => all.split(' ').map((name, rank) => [name, { field, rank }] as const))
const known = new Map(entriesOf(names)) as ReadonlyMap<string, { readonly field: Field; readonly rank: number }>
/** Names that mean something else in one format. */
const ofFormat: { readonly [F in Format]?: Readonly<Record<string, Field>> } = {
  yourls: { source: 'link' },
  kutt: { address: 'alias' },
  dub: { key: 'alias' },
}
/** What names a record within its service only, or says again what other fields say. */
const ignored = new Set(
  'id linkid idstring ownerid userid workspaceid projectid creatorid integrationid originalid tagid tagsids domainid references links error qrcode qrcodeurl hasredirectrules rowid row revision'.split(
    ' ',
  ),
)
/** Names of columns that have no counterpart. */
const others = new Set(
  'leads conversions revenue sales saleamount updatedat updated updatedts modified lastclicked lastclickedat expiredurl spliturl splitpercent cloaking redirecttype type skipqs ip image video crawlable forwardquery redirectwithquery unsafe proxy rewrite doindex deleted hidden visibility campaign folder utmsource utmmedium utmcampaign utmterm utmcontent favourite status ogmetadata metaimage parameters forward variants'.split(
    ' ',
  ),
)

const plainName = (name: string) =>
  name
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** What a name means: `left` has no counterpart. Of several names of a field, the one with the lowest rank counts. */
export interface Meaning {
  readonly field: Field | 'left' | 'ignored'
  readonly rank: number
}

/** Returns what a name means in a format, undefined when it is not known. */
export const fieldOf = (name: string, format: Format): Meaning | undefined => {
  const plain = plainName(name)
  const own = ofFormat[format]?.[plain]
  if (own) return { field: own, rank: 9 }
  const found = known.get(plain)
  if (found) return found
  if (ignored.has(plain)) return { field: 'ignored', rank: 0 }
  return others.has(plain) ? { field: 'left', rank: 0 } : undefined
}
