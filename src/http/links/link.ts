import { hideForeign } from '../../commands/caller.ts'
import { domain } from '../../commands/domains/domain.ts'
import { campaign } from '../../commands/links/campaign.ts'
import { domainsOf, placesOf } from '../../commands/links/places.ts'
import { link } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import { countRevision, type Loaded } from '../../commands/load.ts'
import { requireOwned } from '../../commands/owned/owned.ts'
import { completed } from '../../events/links/link.ts'
import { streamId } from '../../events/streams.ts'
import { problem } from '../../lib/problems/problem.ts'
import { answerOf, Failure } from '../api/errors.ts'
import { findLink, type LinkListRow, type LinkRow, listLinks } from '../../queries/links/link.ts'
import { readCurrent } from '../api/write/current.ts'
import { byId } from '../api/fields.ts'
import { list } from '../api/list/list.ts'
import { type Call, endpoint, type Reading, type Route } from '../api/route.ts'
import { LinkBody, LinkUpdate } from './body.ts'
import { isOpen } from './assigned.ts'
import { addressRoutes } from './moreaddresses.ts'
import { detailed, listRow, nowIn } from './shown.ts'
import { type DomainNames, filterOf, ListQuery, shortFilters, spellingVariants } from './filter.ts'
import { addLink, deleteLink, type LinkWriting, updateLink } from './write.ts'
import { ownedBy } from '../api/owned.ts'
import { linkContract, urls } from './contract/link.ts'

/** What the routes of links need. */
export interface LinkServices extends LinkWriting, DomainNames {}

const fromState = (id: number, { state, since, revision }: Loaded<Link>): Omit<LinkRow, 'campaign' | 'reachable'> => ({
  ...completed(state.fields),
  id,
  unframed: state.unframed ?? [],
  password: state.password !== null,
  expiry: state.fields.expiry === null ? null : new Date(state.fields.expiry),
  starts: state.fields.starts ? new Date(state.fields.starts) : null,
  created: new Date(state.created ?? since),
  revision: countRevision(revision),
  main: placesOf(state).main,
  others: state.places && state.places.others.length > 0 ? state.places.others : null,
})

/**
 * Returns a link from the tables or, while its changes are not projected yet, from its stream. Throws `Refused`
 * (`not_found`).
 */
export const readLink = async ({ account, load, reader, pending }: Reading, id: number): Promise<LinkRow> =>
  readCurrent<LinkRow>({
    pending: pending.has(streamId('link', id)),
    inTables: () => findLink(reader, account, id),
    inStream: async () => {
      const loaded = await load(link, id).catch(hideForeign(account, 'link'))
      const { fields } = requireOwned(loaded.state, account, 'link')
      // a link keeps the id of a deleted campaign, which is not shown
      const exists = fields.campaign !== null && (await isOpen({ load }, campaign, fields.campaign))
      const sites = domainsOf(loaded.state).map(async (id) => id === 0 || (await load(domain, id)).state)
      const reachable = (await Promise.all(sites)).some(
        (site) => site === true || (site.status === 'open' && site.verified),
      )
      return { ...fromState(id, loaded), campaign: exists ? fields.campaign : null, reachable }
    },
  })

/** links of a page that are read at once: an answer has no room for many large ones */
const linksAtOnce = 100

/** Returns one link by its short address. The status is 200 even when there is none, because clients check `error`. */
const findByShort = async (reading: Reading & Pick<Call, 'limited'>, short: string, services: LinkServices) => {
  const { account, limited, reader } = reading
  const request = { limit: 1, page: 1, order: 'date', part: limited } as const
  let rows: readonly LinkListRow[] = []
  for (const filter of shortFilters(short, account, services))
    if (rows.length === 0) ({ rows } = await listLinks(reader, account, filter, request))
  const [listed] = rows
  const row = listed && (await findLink(reader, account, listed.id))
  if (!row) return answerOf(new Failure(404, problem('not_found', { what: 'short' })))
  const { details, data } = await detailed(reading, row, services)
  return { details, data: { ...data, urls: [listRow(services, nowIn(reader))(listed)] } }
}

export const linkRoutes = (services: LinkServices): readonly Route[] => [
  endpoint(linkContract, 'GET /api/urls', {
    scope: 'read',
    limited: true,
    query: ListQuery,
    run: async (call) => {
      const { account, query } = call
      if (query.short !== undefined) return findByShort(call, query.short, services)
      const filter = filterOf(query, account, services)
      return list(
        urls,
        call,
        (request) => listLinks(call.reader, account, filter, request, linksAtOnce),
        listRow(services, nowIn(call.reader)),
        spellingVariants,
      )
    },
  }),

  endpoint(linkContract, 'GET /api/url/:id', {
    statistics: true,
    single: true,
    scope: 'read',
    params: byId,
    run: async (call) => detailed(call, await readLink(call, call.params.id), services),
  }),

  endpoint(linkContract, 'POST /api/url/add', {
    scope: 'links:write',
    limited: true,
    body: LinkBody,
    run: (call) => addLink(call, call.body, services),
  }),

  endpoint(linkContract, 'PUT /api/url/:id/update', {
    single: true,
    scope: 'links:write',
    params: byId,
    owner: ownedBy(link),
    body: LinkUpdate,
    run: (call) => updateLink(call, call.params.id, call.body, services),
  }),

  endpoint(linkContract, 'DELETE /api/url/:id/delete', {
    single: true,
    scope: 'links:write',
    params: byId,
    run: (call) => deleteLink(call, call.params.id),
  }),
  ...addressRoutes(services),
]
