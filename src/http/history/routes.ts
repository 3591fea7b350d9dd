import { z } from 'zod'
import { account } from '../../commands/accounts/account.ts'
import { type Caller, hideForeign } from '../../commands/caller.ts'
import { type Decider, refuse } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { requireOwnedOrDeleted } from '../../commands/owned/owned.ts'
import type { DomainEvent } from '../../events/index.ts'
import { kindAt, kinds, type OwnedKind, ownedKinds, resourceKinds } from '../../events/kinds.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { streamId } from '../../events/streams.ts'
import { type HistoryOf, type HistoryRow, keySubject } from '../../queries/history/history.ts'
import { byId, filterId } from '../api/fields.ts'
import { list, type ListCall, listQuery } from '../api/list/list.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { readPage } from './history.ts'
import { histories } from './kinds.ts'
import { findInHistory, searchingFor } from './search.ts'
import { type LinkAddresses, origin } from '../links/address.ts'
import { historyContract, historyEntries } from './contract/history.ts'
import { says } from '../../lib/fields.ts'
import { failField } from '../api/errors.ts'

/** Returns the `owner` check of a route for a resource that may be deleted. */
export const ownedOrDeleted =
  <C, S extends { readonly status: string; readonly account: number }, E extends DomainEvent>(
    decider: Decider<C, S, E>,
  ) =>
  async (call: Pick<Caller, 'account' | 'load'> & { readonly params: { readonly id: number } }) =>
    requireOwnedOrDeleted(
      (await call.load(decider, call.params.id).catch(hideForeign(call.account, decider.kind))).state,
      call.account,
      decider.kind,
    )

/** The `owner` check of a route for an API key that may have ended. */
export const ownKeyOrEnded = async (
  call: Pick<Caller, 'account' | 'load'> & { readonly params: { readonly id: number } },
) => {
  const { state } = await call.load(account, call.account)
  if (call.params.id < 1 || call.params.id > state.keys.lastKey) refuse('not_found', { what: 'key' })
}

/** ms before a time that is still before it */
const justBefore = (time: Date) => new Date(time.getTime() - 1)

/** What histories need. */
export interface HistoryServices extends LinkAddresses {
  readonly handler: Handler
  readonly ordinals: Ordinals
}

const HistoryQuery = listQuery(historyEntries).extend({ member: filterId })

const listEvents = async (
  of: HistoryOf,
  call: ListCall &
    Pick<Call, 'from' | 'reader' | 'gone' | 'limited'> & { readonly query: { readonly member?: number | undefined } },
  services: HistoryServices,
) => {
  const { ordinals, handler } = services
  const { from, to, member } = call.query
  const signal = call.gone()
  const upTo = async (time: Date) => (await ordinals.lastAt(justBefore(time)))?.position ?? 0n
  const span = {
    after: from && (await upTo(from)),
    upTo: to && (await upTo(to)),
    by: member === undefined ? undefined : { account: call.account, member },
  }
  const sources = {
    reader: call.reader,
    ordinals,
    handler,
    // who sees a part of the account reads the histories of single resources only
    seen: call.limited && 'subject' in of ? { part: call.limited, own: of.subject } : undefined,
    originOf: (id: number | null) => origin({ domain: id }, services),
    signal,
  }
  return list(
    historyEntries,
    call,
    async (request) => {
      const find = (until?: number) => findInHistory(of, span, request, sources, { until })
      const { total, searched, ...listed } = await (request.q ? searchingFor(call, signal, find) : find())
      const placeOf = ({ position }: HistoryRow) => [position.toString(), ...(request.q ? [total] : [])]
      return { total, searched, ...(await readPage({ listed, placeOf, shown: call.query.fields }, sources)) }
    },
    (entry) => entry,
  )
}

const resourceRoute = (services: HistoryServices, kind: OwnedKind) =>
  endpoint(historyContract, `GET /api/${kinds[kind].path}/:id/history`, {
    // as its details: the address of a webhook is often a secret
    scope: kind === 'webhook' ? ['webhooks', 'audit'] : 'read',
    params: byId,
    query: HistoryQuery,
    owner: ownedOrDeleted(histories[kind].decider),
    run: (call) => listEvents({ subject: streamId(kind, call.params.id) }, call, services),
  })

const paths = resourceKinds.map((kind) => kinds[kind].path).toSorted()
/** `true`, or not sent: other words would silently return what was not asked for. */
const onlyTrue = z
  .string()
  .optional()
  .transform((given, context) => {
    if (given === undefined || given === '' || given === 'true') return given === 'true'
    context.addIssue(says('not_one_of', { what: 'true' }))
    return z.NEVER
  })
const AccountQuery = HistoryQuery.extend({
  resource: z
    .string()
    .optional()
    .transform((given, context) => {
      const known = kindAt(given ?? '')
      if (known || !given) return known
      context.addIssue(says('not_one_of', { values: paths.join(', ') }))
      return z.NEVER
    })
    .meta({ enum: paths }),
  deleted: onlyTrue,
  group: z
    .string()
    .regex(/^(?:|request|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i, says('wrong_form', { what: 'group' }))
    .optional()
    .transform((given) => given?.toLowerCase() || undefined),
})

/** Filters that would find only groups whose first event has what they ask for. */
const rejectFilters = ({ group, ...query }: z.output<typeof AccountQuery>) => {
  if (group !== 'request') return
  for (const field of ['q', 'resource', 'deleted', 'member'] as const)
    if (query[field] !== undefined && query[field] !== false) failField(field, 'not_supported', { what: 'group' })
}

export const historyRoutes = (services: HistoryServices): readonly Route[] => [
  endpoint(historyContract, 'GET /api/account/history', {
    // it has the names and the rights of keys
    scope: ['account', 'audit'],
    query: AccountQuery,
    run: (call) => {
      rejectFilters(call.query)
      const { resource: kind, deleted, group } = call.query
      return listEvents({ account: call.account, kind, deleted, group }, call, services)
    },
  }),
  endpoint(historyContract, 'GET /api/key/:id/history', {
    scope: ['account', 'audit'],
    params: byId,
    query: HistoryQuery,
    owner: ownKeyOrEnded,
    run: (call) => listEvents({ subject: keySubject(call.account, call.params.id) }, call, services),
  }),
  ...ownedKinds.map((kind) => resourceRoute(services, kind)),
]
