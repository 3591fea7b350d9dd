import { z } from 'zod'
import type { Caller } from '../../commands/caller.ts'
import type { FieldChanges } from '../../commands/links/link.ts'
import { requireReferences } from '../../commands/references.ts'
import { defined } from '../../lib/defined.ts'
import { expiry, must, starts, text } from '../../lib/fields.ts'
import { countryCode } from '../../clicks/visitor/country.ts'
import { deviceNames, isDeviceName } from '../../clicks/visitor/device.ts'
import { isLanguage } from '../../clicks/visitor/language.ts'
import { failField } from '../api/errors.ts'
import { alias, bodyId, flag, orEmpty, orInitial, orNone, url, urlAsSent } from '../api/fields.ts'
import { type Blocking, rejectBlocked } from '../api/blockedaddress.ts'
import { type OurHosts, rejectOwnAddresses } from '../api/ownaddress.ts'
import type { LinkAddresses } from './address.ts'
import { tags } from './tag.ts'

/** A name that never matches is refused: its visitors would go elsewhere without a sign. */
const targets = <N extends string>(name: N, isPossible: (name: string) => boolean, expected: string) =>
  orNone(
    z
      .array(
        z.object({ [name]: text(64).refine(isPossible, `must be ${expected}`), link: url } as Record<N, z.ZodString> & {
          link: typeof url
        }),
        must('an array of objects'),
      )
      .max(50, 'must have at most 50 entries'),
  ).transform((entries) =>
    firstOfEach(
      (entries ?? []).map((entry) => ({
        name: (entry as Record<N, string>)[name].trim(),
        url: (entry as { link: string }).link,
      })),
    ),
  )
/** Keeps the first of several targets with the same name. */
const firstOfEach = <T extends { name: string }>(entries: readonly T[]) =>
  [...new Map(entries.toReversed().map((entry) => [entry.name.toLowerCase(), entry])).values()].toReversed()

const parameters = orNone(
  z
    .array(
      z.object({ name: text(256).optional(), value: z.union([z.number().transform(String), text(256)]).default('') }),
      must('an array of objects'),
    )
    .max(20, 'must have at most 20 entries'),
).transform((entries) => (entries ?? []).flatMap(({ name, value }) => (name ? [{ name, value }] : [])))

const pixels = orNone(z.array(bodyId, must('an array of ids')).max(20, 'must have at most 20 ids')).transform((ids) => [
  ...new Set(ids ?? []),
])
/** How visitors are redirected. A bare id means a splash page. */
const type = z
  .union([z.int().transform(String), z.null().transform(() => ''), z.string(must('a string'))])
  .transform((given) => (/^[1-9]\d*$/.test(given) ? `splash-${given}` : given.toLowerCase() || 'direct'))
  .pipe(
    z
      .string()
      .regex(
        /^(?:direct|frame|splash|(?:splash|overlay)-[1-9]\d{0,15})$/,
        'must be direct, frame or splash, or one of your splash pages (splash-7) or overlays (overlay-7)',
      ),
  )
const oneId = z.union([z.null(), z.literal('').transform(() => null), bodyId], 'must be an id')

const maxClicks = orNone(
  z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], 'must be a whole number')
    .refine((n) => n >= 1 && n <= 1_000_000_000, 'must be between 1 and 1,000,000,000'),
)

const weight = z.int(must('a whole number')).min(0, 'must be at least 0').max(1000, 'must be at most 1,000').default(1)
const variants = orNone(
  z
    .array(z.object({ id: bodyId.optional(), url, weight }), must('an array of objects'))
    .max(10, 'must have at most 10 entries')
    .refine((given) => given.length !== 1, 'must have at least 2 entries, or none')
    .refine((given) => given.length === 0 || given.some((one) => one.weight > 0), 'must have a weight above 0'),
).transform((given) => given ?? [])

const fields = {
  custom: alias,
  type,
  password: text(1024)
    .nullable()
    .transform((word) => word || null),
  expiry,
  title: orEmpty(text(255)),
  description: orEmpty(text(2000)),
  geotarget: targets(
    'location',
    (name) => countryCode(name) !== undefined,
    'a country by its English name or ISO code, for example Canada or CA',
  ),
  devicetarget: targets('device', isDeviceName, `one of ${deviceNames.join(', ')}`),
  languagetarget: targets('language', isLanguage, 'a language code, for example fr or pt-BR'),
  metatitle: orEmpty(text(255)),
  metadescription: orEmpty(text(2000)),
  metaimage: orEmpty(url),
  parameters,
  domain: z.string(must('a string')).nullable(),
  pixels,
  campaign: oneId,
  channel: oneId,
  tags,
  notes: orNone(text(4000)),
  archived: orInitial(flag, false),
  starts,
  expired_url: orEmpty(url),
  max_clicks: maxClicks,
  forward: orInitial(flag, false),
  variants,
}
/** The body of `url/add` and `url/update`. */
export const LinkBody = z.object({ url: urlAsSent, ...z.object(fields).partial().shape })
export type LinkBody = z.output<typeof LinkBody>
/** The same for a link that may keep its URL. */
export const LinkChanges = LinkBody.partial({ url: true })
export type LinkChanges = z.output<typeof LinkChanges>

/** Returns the id of the account's branded domain by its address, with or without scheme; null for the service's own. Fails with 400. */
const domainOf = (address: string, account: number, { baseUrl, domains }: LinkAddresses) => {
  const host = address
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .toLowerCase()
  if (host === '' || host === new URL(baseUrl()).host) return null
  const found = domains.own(account, host)
  return found && !found.deleted ? found.id : failField('domain', 'must be a domain of your account')
}

const urlsOf = (targets: readonly { readonly url: string }[] = []) => targets.map(({ url }) => url)

/** What the fields of a link are checked with. */
export interface LinkChecks extends LinkAddresses, OurHosts, Blocking {}

/** Returns the fields that were sent, by their names in the events. Fails unless every resource they refer to exists in the account. */
export const sentFields = async (
  body: LinkChanges,
  caller: Pick<Caller, 'account' | 'load'>,
  services: LinkChecks,
): Promise<FieldChanges> => {
  const { url: sent, custom, geotarget, devicetarget, languagetarget, channel, password: _, ...same } = body
  const destinations = {
    url: [sent?.url],
    geotarget: urlsOf(geotarget),
    devicetarget: urlsOf(devicetarget),
    languagetarget: urlsOf(languagetarget),
    variants: urlsOf(same.variants),
    expired_url: [same.expired_url],
  }
  rejectOwnAddresses(destinations, services)
  rejectBlocked({ ...destinations, metaimage: [same.metaimage] }, services)
  const domain = body.domain === undefined ? undefined : domainOf(body.domain ?? '', caller.account, services)
  await requireReferences(caller, { ...same, domain, channel })
  return defined({
    ...same,
    ...(sent && { url: sent.url, entered: sent.entered === sent.url ? null : sent.entered }),
    domain,
    alias: custom,
    location: geotarget,
    device: devicetarget,
    language: languagetarget,
  })
}
