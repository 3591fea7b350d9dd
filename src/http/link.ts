import { randomUUID } from 'node:crypto'
import { campaign } from '../commands/campaign.ts'
import { type Link, link } from '../commands/link.ts'
import type { LinkFields } from '../events/link.ts'
import { findLink, type LinkFilter, type LinkListRow, type LinkRow, listLinks, livingPixels } from '../queries/link.ts'
import { linkStats } from '../queries/stats.ts'
import { withRandomAlias } from '../commands/alias.ts'
import { fail } from './api/errors.ts'
import { channelItem } from '../commands/channel.ts'
import { LinkBody, sentFields } from './linkbody.ts'
import { hashPassword } from '../security/passwords.ts'
import { type Call, route, type Services } from './api/route.ts'
import { statistics } from './stats.ts'
import { list, page, pathId, timestamp } from './api/fields.ts'

const notFound = 'Link not found.'

const passwordOf = async ({ password }: LinkBody) =>
  password === undefined ? {} : { password: password === null ? null : await hashPassword(password) }

type Addresses = Pick<Services, 'baseUrl' | 'domains'>
const origin = ({ domain }: Pick<LinkFields, 'domain'>, { baseUrl, domains }: Addresses) =>
  (domain === null ? undefined : domains.byId(domain)?.domain) ?? baseUrl()
/** A link's short address, on its branded domain if it has one. */
export const short = (row: Pick<LinkFields, 'alias' | 'domain'>, services: Addresses) =>
  `${origin(row, services)}/${row.alias}`
const titleOf = ({ title, metatitle }: Pick<LinkFields, 'title' | 'metatitle'>) => title || metatitle
const descriptionOf = ({ description, metadescription }: Pick<LinkFields, 'description' | 'metadescription'>) =>
  description || metadescription

const assignment = (channel: number, id: number) =>
  ({ type: 'AssignItem', channel, item: { kind: 'links', id } }) as const

const fromState = (id: number, { fields, password }: Link, since: string): LinkRow => ({
  ...fields,
  id,
  password: password !== null,
  expiry: fields.expiry === null ? null : new Date(fields.expiry),
  created: new Date(since),
})

/** From the tables, or while they are late from the link's own stream. */
export const readLink = async (
  { account, ids: [id = 0] }: Call<unknown>,
  { reader, handler, pending }: Services,
): Promise<LinkRow> => {
  const stream = `link-${id}`
  const row = pending.has(stream) ? undefined : await findLink(reader, account, id)
  if (row) return row
  const { state, since } = await handler.load(link, id)
  if (state.status !== 'open' || state.account !== account) return fail(404, notFound)
  // a link stays in a campaign that was deleted, but nobody sees that
  const { campaign: at } = state.fields
  const lives = at !== null && (await handler.load(campaign, at)).state.status === 'open'
  return { ...fromState(id, state, since), campaign: lives ? at : null }
}

const byName = (entries: LinkFields['location']) =>
  Object.fromEntries(entries.map(({ name, url }) => [name.toLowerCase(), url]))

const details = async (row: LinkRow, services: Services) => ({
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
  domain: origin(row, services),
  language: byName(row.language),
  parameters: row.parameters,
  metatitle: row.metatitle,
  metadescription: row.metadescription,
  metaimage: row.metaimage,
  campaign: row.campaign,
  pixels: await livingPixels(services.reader, row.pixels),
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
  domain: origin(row, services),
  campaign: row.campaign,
})

const detailed = async (row: LinkRow, services: Services) => ({
  details: await details(row, services),
  data: statistics(await linkStats(services.reader, row.id), 0, ['facebook', 'twitter', 'google']),
})

/** Of a domain's address: its id, null for the service's own, and 0, which no domain has, for one that is not known. */
const domainFilter = (address: string, account: number, { domains, isOwnHost }: Services) => {
  const host = address.replace(/^https?:\/\//i, '').split('/')[0] ?? ''
  const known = domains.byHost(host)
  return known?.account === account ? known.id : isOwnHost(host) ? null : 0
}
const filters = (query: Call<unknown>['query'], account: number, services: Services): LinkFilter => ({
  q: query['q'] || undefined,
  domain: query['domain'] ? domainFilter(query['domain'], account, services) : undefined,
  campaign: pathId(query['campaign']),
  channel: pathId(query['channel']),
})

/** A short address, with or without scheme, or an alias alone. */
const shortFilter = (short: string, account: number, services: Services): LinkFilter => {
  const [, host, alias = ''] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]*)/i.exec(short) ?? []
  return {
    aliasKey: alias.toLowerCase(),
    domain: host === undefined ? undefined : domainFilter(host, account, services),
  }
}

/** Existing clients ask so for one link, and look at `error`, not at the status. */
const findByShort = async ({ account, query }: Call<unknown>, services: Services) => {
  const filter = shortFilter(query['short'] ?? '', account, services)
  const asked = { limit: 1, page: 1 }
  const found = await listLinks(services.reader, account, filter, 'date', asked)
  const [row] = found.rows
  if (!row) return { error: 1, message: 'There is no such short link.' }
  const { details, data } = await detailed(row, services)
  return { error: 0, details, data: { ...data, urls: [listRow(services)(row)] } }
}

export const linkRoutes = [
  route({
    method: 'get',
    path: '/api/urls',
    run: async (call, services) => {
      const { account, query } = call
      if (query['short']) return findByShort(call, services)
      const asked = page(query)
      const order = query['order'] === 'click' ? 'click' : 'date'
      const rows = await listLinks(services.reader, account, filters(query, account, services), order, asked)
      return list('urls', asked, rows, listRow(services))
    },
  }),

  route({
    method: 'get',
    path: '/api/url/:id',
    run: async (call, services) => detailed(await readLink(call, services), services),
  }),

  route({
    method: 'post',
    path: '/api/url/add',
    body: LinkBody,
    run: async ({ account, body, create, write }, services) => {
      const given = { ...link.initialState.fields, ...(await sentFields(body, account, services)) }
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
      const made = given.alias ? await make(given.alias) : await withRandomAlias(make)
      if (body.channel) await write(channelItem, assignment(body.channel, made.id))
      const address = short(made.state.fields, services)
      return { id: made.id, shorturl: address, short: address }
    },
  }),

  route({
    method: 'put',
    path: '/api/url/:id/update',
    body: LinkBody,
    exists: readLink,
    run: async ({ account, ids: [id = 0], body, write }, services) => {
      const { state } = await write(link, {
        type: 'UpdateLink',
        id,
        account,
        changes: await sentFields(body, account, services),
        ...(await passwordOf(body)),
        token: randomUUID(),
        now: new Date().toISOString(),
      })
      if (body.channel) await write(channelItem, assignment(body.channel, id))
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
