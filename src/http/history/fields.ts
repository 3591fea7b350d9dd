import type { Account } from '../../commands/accounts/state.ts'
import type { Domain } from '../../commands/domains/domain.ts'
import { placesOf } from '../../commands/links/places.ts'
import { importedClicks, type Link } from '../../commands/links/state.ts'
import type { Webhook } from '../../commands/webhooks/webhook.ts'
import { type BioFields, bioLook, entriesOf } from '../../events/pages/bio.ts'
import { aliasPath, shownAlias } from '../../lib/short/alias.ts'
import { completedDomain } from '../../events/domains/domain.ts'
import { completed } from '../../events/links/link.ts'
import type { QrFields, QrPersonal } from '../../events/qr/qr.ts'
import { completedWebhook } from '../../events/webhooks/webhook.ts'
import { timestamp } from '../../lib/fields.ts'
import { utc } from '../../lib/zone.ts'
import { networksIn } from '../../lib/networks.ts'
import { publicPart } from '../../security/apikeys.ts'
import { rulesByName } from '../links/rules.ts'
import { dataOf } from '../qr/address.ts'

const mark = Symbol('hidden')
/** A value that is compared, but shown only as set or not. */
interface Hidden {
  readonly [mark]: true
  readonly value: string | null
}
const hidden = (value: string | null): Hidden => ({ [mark]: true, value })
const isHidden = (value: unknown): value is Hidden => typeof value === 'object' && value !== null && mark in value

/** The fields of a resource by their names in the API. */
export type Fields = Readonly<Record<string, unknown>>

/** The former and the present value of a field. Of a secret, only whether it is set. */
export interface FieldChange {
  readonly field: string
  readonly old: unknown
  readonly new: unknown
}

const shown = (value: unknown): unknown => (isHidden(value) ? value.value !== null : (value ?? null))

/** Most values are identical, or no objects: these need no JSON. */
const isSame = (one: unknown, other: unknown) =>
  one === other ||
  (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))

/** Returns the fields that differ, in the order of the later ones. */
export const changesBetween = (before: Fields, after: Fields): readonly FieldChange[] =>
  [...new Set([...Object.keys(after), ...Object.keys(before)])].flatMap((field) =>
    isSame(before[field] ?? null, after[field] ?? null)
      ? []
      : [{ field, old: shown(before[field]), new: shown(after[field]) }],
  )

/** Returns the address of a branded domain by its id; null: the service's own. */
export type OriginOf = (domain: number | null) => string

const timeOrNull = (time: string | null) => (time === null ? null : timestamp(time))

export const linkFieldsOf = (link: Link, originOf: OriginOf): Fields => {
  const { fields, password, unframed = [] } = link
  const { location, device, browser, language, ...others } = completed(fields)
  const { url, entered, domain, expiry, starts, last_variant: _, ...same } = others
  const presented = {
    domain: originOf(domain),
    alias: shownAlias(same.alias),
    expiry: timeOrNull(expiry),
    starts: timeOrNull(starts),
    ...rulesByName({ location, device, browser, language }),
    notes: same.notes ?? '',
    password: hidden(password),
    unframed: unframed.map((one) => ({ ...one, since: timestamp(one.since) })),
  }
  // as `completed`: it is made of each state
  // oxlint-disable-next-line prefer-object-spread
  const fieldsOf = Object.assign({ longurl: entered ?? url }, same, presented)
  // few links have one of these
  if (link.imported === undefined && link.places === undefined) return fieldsOf
  const addresses = placesOf(link).others.map((one) => `${originOf(one.domain)}/${aliasPath(one.alias)}`)
  return {
    ...fieldsOf,
    ...(link.imported && { imported: importedClicks(link) || null }),
    ...(addresses.length > 0 && { addresses }),
  }
}

export const qrFieldsOf = ({ logo, logoHash, data, name, ...same }: QrFields & QrPersonal): Fields => ({
  name,
  data: dataOf({ data }),
  ...same,
  logo: hidden(logo ?? logoHash ?? null),
})

export const bioFieldsOf = ({ links, lastEntry: _, ...same }: BioFields): Fields => ({
  ...bioLook,
  ...same,
  links: entriesOf(links),
})

export const domainFieldsOf = ({ fields, verified, exact }: Domain): Fields => ({
  ...completedDomain(fields),
  ...(exact && { aliases: 'exact' }),
  verified,
})

export const webhookFieldsOf = ({ fields, url, secret, stopped }: Webhook): Fields => ({
  ...completedWebhook(fields),
  url: url ?? '',
  enabled: stopped === null,
  secret: hidden(secret),
})

export const accountFieldsOf = ({
  email,
  username,
  password,
  timezone,
  status,
  rateLimit,
  exclusions,
  operator,
  erases,
}: Account): Fields => ({
  email,
  username,
  password: hidden(password),
  // UTC is the default
  timezone: timezone === utc ? null : timezone,
  // there is no account before it is registered
  status: status === 'none' ? null : status,
  rate_limit: rateLimit,
  exclusions,
  // few accounts ever have it
  operator: operator || null,
  erases: timeOrNull(erases),
})

/** Returns the fields of an API key; none for an unknown number. */
export const keyFieldsOf = ({ keys: { keys } }: Account, wanted: number): Fields => {
  const key = keys.find(({ number }) => number === wanted)
  if (!key) return {}
  return {
    key: `${publicPart(key.key)}…`,
    name: key.name,
    scopes: key.scopes,
    expires: timeOrNull(key.expires),
    addresses: key.addresses === null ? [] : networksIn(key.addresses),
  }
}
