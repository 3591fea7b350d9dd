import { z } from 'zod'
import { countryCode } from '../../clicks/visitor/country.ts'
import { media } from '../../clicks/visitor/medium.ts'
import { campaign } from '../../commands/links/campaign.ts'
import { link } from '../../commands/links/link.ts'
import { channel } from '../../commands/links/channel.ts'
import { bio } from '../../commands/pages/bio.ts'
import { qr } from '../../commands/qr/qr.ts'
import { notStorable, says } from '../../lib/fields.ts'
import { isStorable } from '../../lib/storable.ts'
import { bioRules } from '../../events/statistics/click.ts'
import { findCampaign } from '../../queries/links/campaign.ts'
import { findChannel } from '../../queries/links/channel.ts'
import { findBio } from '../../queries/pages/bio.ts'
import { findQr } from '../../queries/qr/qr.ts'
import { type Filters, visitClasses } from '../../queries/statistics/conditions.ts'
import { wasReclassified } from '../../queries/statistics/reclassifications.ts'
import { scansOf, type Subject, viewsOf } from '../../queries/statistics/facts.ts'
import { filterId } from '../api/fields.ts'
import { partIn } from '../api/limits/part.ts'
import { readOwned } from '../api/owned.ts'
import type { Call } from '../api/route.ts'
import { readLink } from '../links/link.ts'

/** The label of visits without one: no country is known, no referrer was sent. */
export const noLabel = 'none'
const mostValues = 50

/** A text that a statement can contain. */
const words = z.string().refine(isStorable, notStorable).optional()
/** Values of visits, separated by commas; undefined when none were sent. */
const values = words
  .transform((text) => (text ? [...new Set(text.split(',').map((value) => value.trim()))].filter(Boolean) : undefined))
  .refine(
    (given) => given === undefined || given.length <= mostValues,
    says('too_many', { what: 'values', max: mostValues }),
  )
  .transform((given) => given?.map((value) => (value === noLabel ? '' : value)))
const countries = values.transform((given, context) =>
  given?.map((value) => {
    const code = value === '' ? '' : countryCode(value)
    if (code === undefined) context.addIssue(says('not_one_of', { what: 'countries' }))
    return code ?? ''
  }),
)
const someOf = <N extends string>(known: readonly N[]) =>
  values.transform((given, context) =>
    given?.flatMap((value) => {
      const found = known.find((name) => name === value)
      if (found !== undefined) return [found]
      context.addIssue(says('not_one_of', { what: 'several', values: known.map((name) => name || noLabel).join(', ') }))
      return []
    }),
  )

const flag = z
  .enum(['true', 'false'], says('not_one_of', { values: 'true, false' }))
  .optional()
  .transform((text) => (text === undefined ? undefined : text === 'true'))

/** Revisions count from 0. */
const revision = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text)
    context.addIssue(says('out_of_range', { what: 'whole', min: 0, max: 999_999_999 }))
    return z.NEVER
  })
  .meta({ type: 'integer', minimum: 0 })

/** The filters of statistics and of the visits behind them, as in a query. */
export const filterShape = {
  link: filterId,
  campaign: filterId,
  channel: filterId,
  qr: filterId,
  bio: filterId,
  made_by: filterId,
  revision,
  destination: words.transform((text) => text || undefined),
  country: countries,
  referrer: values,
  medium: someOf(['', ...media]),
  browser: values,
  os: values,
  device: values,
  language: values,
  source: values,
  variant: values,
  rule: values,
  class: someOf(visitClasses),
  unique: flag,
}
/** The classes to count: the present ones of visits, or those that they were counted with first. */
export const classesShape = z.enum(['now', 'then'], says('not_one_of', { values: 'now, then' })).optional()

/**
 * Returns the classes to count if some visits have changed theirs; otherwise both are the same, and need no mention.
 */
export const countedClasses = async (
  { reader, account }: Pick<Call, 'reader' | 'account'>,
  wanted: 'now' | 'then' = 'now',
) => ((await wasReclassified(reader, account)) ? wanted : undefined)

const Shape = z.object(filterShape)
type Given = z.output<typeof Shape>

/** Responds 404 for a resource that the caller does not have. */
const requireNamed = async (call: Call, given: Given) => {
  // the tables do not have the maker of these
  if (call.limited)
    for (const decider of [link, campaign, channel, qr, bio] as const) {
      const id = given[decider.kind as 'link']
      if (id !== undefined) await call.load(decider as typeof link, id)
    }
  if (given.link !== undefined) await readLink(call, given.link)
  if (given.campaign !== undefined) await readOwned(campaign, findCampaign, call, given.campaign)
  if (given.channel !== undefined) await readOwned(channel, findChannel, call, given.channel)
  if (given.qr !== undefined) await readOwned(qr, findQr, call, given.qr)
  if (given.bio !== undefined) await readOwned(bio, findBio, call, given.bio)
}

const isOfViews = ({ bio: page, rule }: Given) => page !== undefined && rule?.join() === bioRules.view

/** Returns the subject of a request, and its filters. Throws `Refused` for a resource of another account. */
export const readFilters = async (
  call: Call,
  given: Given,
): Promise<{ readonly subject: Subject; readonly filters: Filters }> => {
  await requireNamed(call, given)
  const { link: ofLink, qr: code, bio: page, made_by: maker, ...others } = given
  const part = partIn(call, maker)
  // a named resource is in the part that the caller is limited to
  const filters = { ...others, part: maker === undefined ? undefined : part }
  if (ofLink !== undefined) return { subject: { link: ofLink }, filters: { ...filters, qr: code, bio: page } }
  if (code !== undefined) return { subject: scansOf(code), filters: { ...filters, bio: page } }
  if (page !== undefined && isOfViews(given)) return { subject: viewsOf(page), filters }
  return { subject: { account: call.account }, filters: { ...filters, part, bio: page } }
}
