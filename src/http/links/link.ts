import { type Caller, hideForeign } from '../../commands/caller.ts'
import { campaign } from '../../commands/links/campaign.ts'
import { destinationsOf, isFramed, link } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import { countRevision, type Loaded } from '../../commands/load.ts'
import { requireOwned } from '../../commands/owned/owned.ts'
import { completed, type LinkFields } from '../../events/links/link.ts'
import { streamId } from '../../events/streams.ts'
import { timestamp } from '../../lib/fields.ts'
import { findLink, type LinkListRow, type LinkRow, listLinks, existingPixels } from '../../queries/links/link.ts'
import { linkStats } from '../../queries/statistics/stats.ts'
import { readCurrent } from '../api/write/current.ts'
import { byId } from '../api/fields.ts'
import { list } from '../api/list/list.ts'
import { route, type Services } from '../api/route.ts'
import { LinkBody } from './body.ts'
import { channelsOf } from './assigned.ts'
import { filterOf, ListQuery, shortFilter, spellingVariants, urls } from './filter.ts'
import { addLink, deleteLink, label, origin, short, updateLink } from './write.ts'
import { ownedBy } from '../api/owned.ts'
import { statistics, variantCounts } from '../statistics/totals.ts'

const titleOf = ({ title, metatitle }: Pick<LinkFields, 'title' | 'metatitle'>) => title || metatitle
const descriptionOf = ({ description, metadescription }: Pick<LinkFields, 'description' | 'metadescription'>) =>
  description || metadescription

const fromState = (id: number, { state, since, revision }: Loaded<Link>): LinkRow => ({
  ...completed(state.fields),
  id,
  unframed: state.unframed ?? [],
  password: state.password !== null,
  expiry: state.fields.expiry === null ? null : new Date(state.fields.expiry),
  starts: state.fields.starts ? new Date(state.fields.starts) : null,
  created: new Date(since),
  revision: countRevision(revision),
})

/** Returns a link from the tables or, while its changes are not projected yet, from its stream. Throws `Refused` (`not_found`). */
export const readLink = async (
  { account, load }: Pick<Caller, 'account' | 'load'>,
  id: number,
  { reader, pending }: Pick<Services, 'reader' | 'pending'>,
): Promise<LinkRow> =>
  readCurrent<LinkRow>({
    pending: pending.has(streamId('link', id)),
    inTables: () => findLink(reader, account, id),
    inStream: async () => {
      const loaded = await load(link, id).catch(hideForeign(account, label))
      const { fields } = requireOwned(loaded.state, account, label)
      // a link keeps the id of a deleted campaign, which is not shown
      const exists = fields.campaign !== null && (await load(campaign, fields.campaign)).state.status === 'open'
      return { ...fromState(id, loaded), campaign: exists ? fields.campaign : null }
    },
  })

const byName = (entries: LinkFields['location']) =>
  Object.fromEntries(entries.map(({ name, url }) => [name.toLowerCase(), url]))

/** Returns the destinations that visitors are redirected to, because they refuse to be shown in the frame of this link. */
const unframedOf = (row: LinkRow) => {
  const destinations = isFramed(row.type) ? destinationsOf(row) : []
  return row.unframed
    .filter(({ url }) => destinations.includes(url))
    .map(({ url, reason, since }) => ({ url, reason, since: timestamp(new Date(since)) }))
}

const details = async (row: LinkRow, channels: readonly number[], services: Services) => ({
  id: row.id,
  shorturl: short(row, services),
  longurl: row.entered ?? row.url,
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
  channels,
  pixels: await existingPixels(services.reader, row.pixels),
  password: row.password,
  unframed: unframedOf(row),
  tags: row.tags,
  notes: row.notes ?? '',
  archived: row.archived,
  starts: row.starts && timestamp(row.starts),
  expired_url: row.expired_url,
  max_clicks: row.max_clicks,
  forward: row.forward,
  variants: row.variants,
  revision: row.revision,
})

/** Returns what a visitor of a link meets now; an archived link redirects all the same. */
const statusOf = (
  { id, url, starts, expiry, max_clicks: most, clicks, password }: LinkListRow,
  { blocks, reader }: Pick<Services, 'blocks' | 'reader'>,
) => {
  const now = reader.now ?? new Date()
  if (blocks.link(id) || blocks.destination(url)) return 'blocked'
  if ((expiry !== null && expiry <= now) || (most !== null && clicks >= most)) return 'expired'
  if (starts !== null && starts > now) return 'scheduled'
  return password ? 'protected' : 'active'
}

const listRow = (services: Services) => (row: LinkListRow) => ({
  id: row.id,
  alias: row.alias,
  shorturl: short(row, services),
  longurl: row.entered ?? row.url,
  clicks: row.clicks,
  title: titleOf(row),
  description: descriptionOf(row),
  date: timestamp(row.created),
  uniqueclicks: row.uniques,
  domain: origin(row, services),
  campaign: row.campaign,
  tags: row.tags,
  archived: row.archived,
  status: statusOf(row, services),
  revision: row.revision,
})

const detailed = async (call: Pick<Caller, 'account' | 'load'>, row: LinkRow, services: Services) => {
  const stats = await linkStats(services.reader, row.id)
  const topVariants = variantCounts(stats)
  const hasVariants = row.variants.length > 0 || topVariants !== 0
  return {
    details: await details(row, await channelsOf(call, row.id, services), services),
    data: { ...statistics(stats, 0, ['facebook', 'twitter', 'google']), ...(hasVariants && { topVariants }) },
  }
}

/** Returns one link by its short address. The status is 200 even when there is none, because clients check `error`. */
const findByShort = async (call: Pick<Caller, 'account' | 'load'>, short: string, services: Services) => {
  const { account } = call
  const found = await listLinks(services.reader, account, shortFilter(short, account, services), {
    limit: 1,
    page: 1,
    order: 'date',
  })
  const [row] = found.rows
  if (!row) return { error: 1, message: 'There is no such short link.' }
  const { details, data } = await detailed(call, row, services)
  return { error: 0, details, data: { ...data, urls: [listRow(services)(row)] } }
}

export const linkRoutes = [
  route({
    method: 'get',
    path: urls.path,
    scope: 'read',
    query: ListQuery,
    run: async (call, services) => {
      const { account, query } = call
      if (query.short !== undefined) return findByShort(call, query.short, services)
      const filter = filterOf(query, account, services)
      return list(
        urls,
        call,
        services,
        (request) => listLinks(services.reader, account, filter, request),
        listRow(services),
        spellingVariants,
      )
    },
  }),

  route({
    method: 'get',
    path: '/api/url/:id',
    statistics: true,
    single: true,
    scope: 'read',
    params: byId,
    run: async (call, services) => detailed(call, await readLink(call, call.params.id, services), services),
  }),

  route({
    method: 'post',
    path: '/api/url/add',
    scope: 'links:write',
    body: LinkBody,
    run: (call, services) => addLink(call, call.body, services),
  }),

  route({
    method: 'put',
    path: '/api/url/:id/update',
    single: true,
    scope: 'links:write',
    params: byId,
    owner: ownedBy(link, label),
    body: LinkBody,
    run: (call, services) => updateLink(call, call.params.id, call.body, services),
  }),

  route({
    method: 'delete',
    path: '/api/url/:id/delete',
    single: true,
    scope: 'links:write',
    params: byId,
    run: (call) => deleteLink(call, call.params.id),
  }),
]
