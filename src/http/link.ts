import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { Refused } from '../commands/decider.ts'
import { type Link, link } from '../commands/link.ts'
import type { LinkFields } from '../events/link.ts'
import { findLink, type LinkListRow, type LinkRow, listLinks } from '../queries/link.ts'
import { type Count, linkStats } from '../queries/stats.ts'
import { countryName } from '../visitor/country.ts'
import { network } from '../visitor/referrer.ts'
import { aliasProblem, randomAlias } from './alias.ts'
import { fail } from './errors.ts'
import { hashPassword } from './password.ts'
import { type Call, route, type Services } from './route.ts'
import { expiry, list, must, orEmpty, orNone, page, text, timestamp, url } from './wire.ts'

const notFound = 'Link not found.'

const targets = <N extends string>(name: N) =>
  orNone(
    z
      .array(
        z.object({ [name]: text(64), link: url } as Record<N, z.ZodString> & { link: typeof url }),
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
/** A target named twice: the first counts. */
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

/** Names of other resources, which do not exist yet: only what names none of them is taken. */
const noneOf = (resource: string) =>
  z
    .unknown()
    .refine(
      (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
      `there is no such ${resource}`,
    )
    .optional()

const fields = {
  custom: z
    .string(must('a text'))
    .nullable()
    .transform((alias) => alias || undefined)
    .superRefine((alias, context) => {
      const problem = alias === undefined ? undefined : aliasProblem(alias)
      if (problem) context.addIssue(problem)
    }),
  type: z
    .string(must('a text'))
    .nullable()
    .transform((type) => type || 'direct')
    .pipe(
      z.enum(
        ['direct', 'frame', 'splash'],
        'must be direct, frame or splash, or name a splash page or an overlay of yours',
      ),
    ),
  password: text(1024)
    .nullable()
    .transform((word) => word || null),
  expiry,
  title: orEmpty(text(255)),
  description: orEmpty(text(2000)),
  geotarget: targets('location'),
  devicetarget: targets('device'),
  languagetarget: targets('language'),
  metatitle: orEmpty(text(255)),
  metadescription: orEmpty(text(2000)),
  metaimage: orEmpty(url),
  parameters,
  domain: z.string(must('a text')).nullable(),
  pixels: noneOf('pixel'),
  campaign: noneOf('campaign'),
  channel: noneOf('channel'),
}
const Body = z.object({ url, ...z.object(fields).partial().shape })
type Body = z.output<typeof Body>

/** The address of a domain, with or without scheme: the service's own, until there are others. */
const domainOf = (address: string, { baseUrl }: Services) => {
  const own = new URL(baseUrl()).host
  const host = address
    .replace(/^https?:\/\//i, '')
    .replace(/\/$/, '')
    .toLowerCase()
  return host === '' || host === own ? null : fail(400, 'domain: there is no such domain in your account.')
}

const notOurs = (body: Body, { isOurs }: Services) => {
  const addresses = {
    url: [body.url],
    geotarget: body.geotarget,
    devicetarget: body.devicetarget,
    languagetarget: body.languagetarget,
  }
  for (const [field, given] of Object.entries(addresses))
    for (const address of (given ?? []).map((entry) => (typeof entry === 'string' ? entry : entry.url)))
      if (isOurs(new URL(address).hostname))
        fail(400, `${field}: must not lead to one of this service's own addresses.`)
}

/** The fields that were sent, as the events name them. */
const sent = (body: Body, services: Services): Partial<LinkFields> => {
  notOurs(body, services)
  const {
    custom,
    geotarget,
    devicetarget,
    languagetarget,
    domain,
    pixels: _p,
    campaign: _c,
    channel: _h,
    password: _w,
    ...same
  } = body
  const renamed = {
    ...same,
    alias: custom,
    location: geotarget,
    device: devicetarget,
    language: languagetarget,
    domain: domain === undefined ? undefined : domainOf(domain ?? '', services),
  }
  return Object.fromEntries(Object.entries(renamed).filter(([, value]) => value !== undefined))
}

const passwordOf = async ({ password }: Body) =>
  password === undefined ? {} : { password: password === null ? null : await hashPassword(password) }

const short = ({ alias }: Pick<LinkFields, 'alias' | 'domain'>, { baseUrl }: Services) => `${baseUrl()}/${alias}`
const titleOf = ({ title, metatitle }: Pick<LinkFields, 'title' | 'metatitle'>) => title || metatitle
const descriptionOf = ({ description, metadescription }: Pick<LinkFields, 'description' | 'metadescription'>) =>
  description || metadescription

const fromState = (id: number, { fields, password }: Link, since: string): LinkRow => ({
  ...fields,
  id,
  password: password !== null,
  expiry: fields.expiry === null ? null : new Date(fields.expiry),
  created: new Date(since),
})

/** From the tables, or while they are late from the link's own stream. */
const read = async (
  { account, ids: [id = 0] }: Call<unknown>,
  { reader, handler, late }: Services,
): Promise<LinkRow> => {
  const stream = `link-${id}`
  const row = late.is(stream) ? undefined : await findLink(reader, account, id)
  if (row) return row
  const { state, since } = await handler.load(link, stream)
  return state.status === 'open' && state.account === account ? fromState(id, state, since) : fail(404, notFound)
}

const byName = (entries: LinkFields['location']) =>
  Object.fromEntries(entries.map(({ name, url }) => [name.toLowerCase(), url]))

const details = (row: LinkRow, services: Services) => ({
  id: row.id,
  shorturl: short(row, services),
  longurl: row.url,
  title: titleOf(row),
  description: descriptionOf(row),
  location: byName(row.location),
  device: byName(row.device),
  expiry: row.expiry && timestamp(row.expiry),
  date: timestamp(row.created),
  alias: row.alias,
  type: row.type,
  domain: services.baseUrl(),
  language: byName(row.language),
  parameters: row.parameters,
  metatitle: row.metatitle,
  metadescription: row.metadescription,
  metaimage: row.metaimage,
  campaign: row.campaign,
  pixels: row.pixels,
  password: row.password,
})

const listRow = (services: Services) => (row: LinkListRow) => ({
  id: row.id,
  alias: row.alias,
  shorturl: short(row, services),
  longurl: row.url,
  clicks: row.clicks,
  title: titleOf(row),
  description: descriptionOf(row),
  date: timestamp(row.created),
  uniqueclicks: row.uniques,
  domain: services.baseUrl(),
  campaign: row.campaign,
})

/** The ten labels with most clicks, counts as text. */
const top = (counts: readonly Count[], label: (text: string) => string) =>
  counts.length === 0
    ? 0
    : Object.fromEntries(counts.slice(0, 10).map(({ label: text, n }) => [label(text), String(n)]))

const socialCount = (referrers: readonly Count[]) => {
  const of = (site: string) => referrers.reduce((sum, { label, n }) => (network(label) === site ? sum + n : sum), 0)
  return { facebook: of('facebook'), twitter: of('twitter'), google: of('google') }
}

const statistics = async (id: number, { reader }: Services) => {
  const { clicks, uniques, country, referrer, browser, os } = await linkStats(reader, id)
  const or = (unknown: string) => (label: string) => label || unknown
  return {
    clicks,
    uniqueClicks: uniques,
    topCountries: top(country, countryName),
    topReferrers: top(referrer, or('Direct')),
    topBrowsers: top(browser, or('Unknown Browser')),
    topOs: top(os, or('Unknown OS')),
    socialCount: socialCount(referrer),
  }
}

export const linkRoutes = [
  route({
    method: 'get',
    path: '/api/urls',
    run: async ({ account, query }, services) => {
      const asked = page(query)
      const order = query['order'] === 'click' ? 'click' : 'date'
      return list('urls', asked, await listLinks(services.reader, account, order, asked), listRow(services))
    },
  }),

  route({
    method: 'get',
    path: '/api/url/:id',
    run: async (call, services) => {
      const row = await read(call, services)
      return { details: details(row, services), data: await statistics(row.id, services) }
    },
  }),

  route({
    method: 'post',
    path: '/api/url/add',
    body: Body,
    run: async ({ account, body, create }, services) => {
      const given = { ...link.initialState.fields, ...sent(body, services) }
      const { password = null } = await passwordOf(body)
      const token = randomUUID()
      const make = (alias: string) =>
        create('link', link, (id) => ({
          type: 'CreateLink' as const,
          id,
          account,
          fields: { ...given, alias },
          password,
          token,
          now: new Date().toISOString(),
        }))
      const made = given.alias ? await make(given.alias) : await untilFree(() => make(randomAlias()))
      const address = short(made.state.fields, services)
      return { id: made.id, shorturl: address, short: address }
    },
  }),

  route({
    method: 'put',
    path: '/api/url/:id/update',
    body: Body,
    exists: read,
    run: async ({ account, ids: [id = 0], body, write }, services) => {
      const { state } = await write(link, {
        type: 'UpdateLink',
        id,
        account,
        changes: sent(body, services),
        ...(await passwordOf(body)),
        token: randomUUID(),
        now: new Date().toISOString(),
      })
      const address = short(state.fields, services)
      return { id, short: address, shorturl: address }
    },
  }),

  route({
    method: 'delete',
    path: '/api/url/:id/delete',
    run: async ({ account, ids: [id = 0], write }) => {
      await write(link, { type: 'DeleteLink', id, account })
      return { message: 'Link has been deleted.' }
    },
  }),
]

/** A random alias that is taken is drawn again; with 40 random bits that is rare. */
const untilFree = async <R>(draw: () => Promise<R>, tries = 10): Promise<R> => {
  try {
    return await draw()
  } catch (error) {
    if (error instanceof Refused && error.what === 'alias' && tries > 1) return untilFree(draw, tries - 1)
    throw error
  }
}
