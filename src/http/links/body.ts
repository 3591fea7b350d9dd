import { z } from 'zod'
import type { Caller } from '../../commands/caller.ts'
import type { FieldChanges } from '../../commands/links/link.ts'
import { requireReferences } from '../../commands/references.ts'
import { defined } from '../../lib/defined.ts'
import { expiry, must, orStop, says, starts, text, verbatim } from '../../lib/fields.ts'
import { browserOf } from '../../clicks/visitor/browser.ts'
import { countryCode } from '../../clicks/visitor/country.ts'
import { deviceNames, deviceOf } from '../../clicks/visitor/device.ts'
import { isLanguage } from '../../clicks/visitor/language.ts'
import { canonicalRange } from '../../clicks/visitor/range.ts'
import { failField } from '../api/errors.ts'
import {
  bodyId,
  destination,
  destinationAsSent,
  flag,
  linkAlias,
  orEmpty,
  orInitial,
  orNone,
  url,
} from '../api/fields.ts'
import type { LinkAddresses } from './address.ts'
import { type LinkChecks, rejectDestinations } from './allowed.ts'
import { tags } from './tag.ts'

/** Targets of one kind that a link has at most. */
const mostTargets = 300

/**
 * A name that never matches is refused: its visitors would go elsewhere without a sign. `meaning` is the same for all
 * names of the same visitors, undefined for such a name.
 */
const targets = <N extends string>(name: N, meaning: (name: string) => string | undefined, problem: string) =>
  orNone(
    z
      .array(
        z.object({
          [name]: text(64).refine((given) => meaning(given) !== undefined, problem),
          link: destination,
        } as Record<N, z.ZodString> & {
          link: typeof destination
        }),
        must('wrong_type', { what: 'objects' }),
      )
      .max(mostTargets, says('too_many', { max: mostTargets })),
  ).transform((entries) =>
    firstOfEach(
      (entries ?? []).map((entry) => ({
        name: (entry as Record<N, string>)[name].trim(),
        url: (entry as { link: string }).link,
      })),
      meaning,
    ),
  )
/** Keeps the first of several targets that mean the same: the others could never match. */
const firstOfEach = <T extends { name: string }>(
  entries: readonly T[],
  meaning: (name: string) => string | undefined,
) => [...new Map(entries.toReversed().map((entry) => [meaning(entry.name), entry])).values()].toReversed()

const parameters = orNone(
  z
    .array(
      z.object({
        name: text(256).optional(),
        value: z.union([z.number().transform(String), verbatim(256)]).default(''),
      }),
      must('wrong_type', { what: 'objects' }),
    )
    .max(20, says('too_many', { max: 20 })),
).transform((entries) => (entries ?? []).flatMap(({ name, value }) => (name ? [{ name, value }] : [])))

const pixels = orNone(
  z.array(bodyId, must('wrong_type', { what: 'ids' })).max(20, says('too_many', { what: 'ids', max: 20 })),
).transform((ids) => [...new Set(ids ?? [])])
/** How visitors are redirected. A bare id means a splash page. */
const type = z
  .union([z.int().transform(String), z.null().transform(() => ''), z.string(must('wrong_type', { what: 'string' }))])
  .transform((given) => given.trim())
  .transform((given) => (/^[1-9]\d*$/.test(given) ? `splash-${given}` : given.toLowerCase() || 'direct'))
  .pipe(
    z
      .string()
      .regex(/^(?:direct|frame|splash|(?:splash|overlay)-[1-9]\d{0,15})$/, says('not_one_of', { what: 'redirect' })),
  )
const oneId = z.union([z.null(), z.literal('').transform(() => null), bodyId], says('wrong_type', { what: 'id' }))

const maxClicks = orNone(
  z
    .union([z.int(), z.string().regex(/^\d+$/).transform(Number)], says('wrong_type', { what: 'whole' }))
    .refine((n) => n >= 1 && n <= 1_000_000_000, says('out_of_range', { min: 1, max: 1_000_000_000 })),
)

const weight = z
  .int(must('wrong_type', { what: 'whole' }))
  .min(0, says('too_small', { min: 0 }))
  .max(1000, says('too_large', { max: 1000 }))
  .default(1)
const variants = orNone(
  z
    .array(z.object({ id: bodyId.optional(), url, weight }), must('wrong_type', { what: 'objects' }))
    .max(10, orStop(says('too_many', { max: 10 })))
    .refine((given) => given.length !== 1, orStop(says('too_few', { min: 2 })))
    .refine((given) => given.length === 0 || given.some((one) => one.weight > 0), says('too_few', { what: 'weight' })),
).transform((given) => given ?? [])

const fields = {
  custom: linkAlias,
  type,
  password: verbatim(1024)
    .nullable()
    .transform((word) => word || null),
  expiry,
  title: orEmpty(text(255)),
  description: orEmpty(text(2000)),
  geotarget: targets('location', countryCode, says('wrong_form', { what: 'country' })),
  devicetarget: targets('device', deviceOf, says('not_one_of', { values: deviceNames.join(', ') })),
  browsertarget: targets('browser', browserOf, says('wrong_form', { what: 'browser' })),
  languagetarget: targets(
    'language',
    (name) => (isLanguage(name) ? canonicalRange(name) : undefined),
    says('wrong_form', { what: 'language' }),
  ),
  metatitle: orEmpty(text(255)),
  metadescription: orEmpty(text(2000)),
  metaimage: orEmpty(url),
  parameters,
  domain: z.string(must('wrong_type', { what: 'string' })).nullable(),
  pixels,
  campaign: oneId,
  channel: oneId,
  tags,
  notes: orNone(text(4000)),
  archived: orInitial(flag, false),
  starts,
  expired_url: orEmpty(url),
  max_clicks: maxClicks,
  forward: orInitial(z.literal('path').or(flag), false),
  variants,
}
/** The body of `url/add` and `url/update`. */
export const LinkBody = z.object({ url: destinationAsSent, ...z.object(fields).partial().shape })
export type LinkBody = z.output<typeof LinkBody>
const keeping = z.object({ keep_old: flag }).partial().shape
/** The body of `url/update`. */
export const LinkUpdate = LinkBody.extend(keeping)
/** The same for a link that may keep its URL. */
export const LinkChanges = LinkUpdate.partial({ url: true })
export type LinkChanges = z.output<typeof LinkChanges>

const counted = z
  .union(
    [
      z.int(),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ],
    says('wrong_type', { what: 'whole' }),
  )
  .refine((n) => n >= 0 && n <= 1_000_000_000_000, says('out_of_range', { min: 0, max: 1_000_000_000_000 }))
/** What a link brings from the service that it comes from. */
const origin = {
  date: starts.refine((at) => at === null || at <= new Date().toISOString(), says('in_future')),
  clicks: orNone(counted),
  uniqueclicks: orNone(counted),
  source: text(64).regex(/^[a-z0-9][a-z0-9.-]*$/, says('wrong_form', { what: 'source' })),
}
export const NewLink = LinkBody.extend(z.object(origin).partial().shape)
export type NewLink = z.output<typeof NewLink>

const WithId = z.object({ id: bodyId })
/** What a row of a bulk request may have, by operation. */
export const BulkRow = { create: NewLink, update: LinkChanges.extend(WithId.shape), delete: WithId } as const

/**
 * Returns the id of the account's branded domain by its address, with or without scheme; null for the service's own.
 * Fails with 400.
 */
const domainOf = (address: string, account: number, { baseUrl, domains }: LinkAddresses) => {
  const host = address
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .toLowerCase()
  if (host === '' || host === new URL(baseUrl()).host) return null
  const found = domains.own(account, host)
  return found && !found.deleted ? found.id : failField('domain', 'not_yours', { what: 'host' })
}

/**
 * Returns the fields that were sent, by their names in the events. Fails unless every resource they refer to exists in
 * the account.
 */
export const sentFields = async (
  body: LinkChanges,
  caller: Pick<Caller, 'account' | 'load'>,
  services: LinkChecks,
): Promise<FieldChanges> => {
  const { geotarget, devicetarget, browsertarget, languagetarget, ...others } = body
  const { url: sent, custom, channel, forward, password: _, keep_old: _keep, ...same } = others
  const targeted = { location: geotarget, device: devicetarget, browser: browsertarget, language: languagetarget }
  rejectDestinations({ ...same, ...targeted, url: sent?.url }, services)
  const domain = body.domain === undefined ? undefined : domainOf(body.domain ?? '', caller.account, services)
  await requireReferences(caller, { ...same, domain, channel })
  return defined({
    ...same,
    ...(sent && { url: sent.url, entered: sent.entered === sent.url ? null : sent.entered }),
    ...(forward !== undefined && { forward: forward !== false, forward_path: forward === 'path' }),
    domain,
    alias: custom,
    ...targeted,
  })
}
