import { randomUUID } from 'node:crypto'
import { campaign } from '../../../commands/links/campaign.ts'
import { addressesOf } from '../../../commands/links/places.ts'
import { isFramed, link } from '../../../commands/links/link.ts'
import { kinds, type OwnedKind, ownedKinds } from '../../../events/kinds.ts'
import { unreadable } from '../../../security/seal.ts'
import { byId } from '../../api/fields.ts'
import { endpoint, type Route } from '../../api/route.ts'
import { type Blocking, rejectBlocked } from '../../api/blockedaddress.ts'
import { linkFieldsOf } from '../fields.ts'
import { histories, type OwnedHistory } from '../kinds.ts'
import { ownedOrDeleted } from '../routes.ts'
import { origin, short } from '../../links/address.ts'
import { rejectDestinations, rejectGainedPlaces } from '../../links/allowed.ts'
import { missingChannels, missingParts, takenAddresses } from './missing.ts'
import { formerState, notRestored, restore, RestoreBody, type RestoreServices } from './restore.ts'
import { type AccountRestoreServices, accountRestoreRoutes } from './account.ts'
import { domainRestoreRoute } from './domain.ts'
import { webhookRestoreRoute } from './webhook.ts'
import type { DomainServices } from '../../domains/domain.ts'
import type { LinkWriting } from '../../links/write.ts'
import type { WebhookServices } from '../../webhooks/fields.ts'
import { restoreContract } from '../contract/history.ts'

const isOpen = ({ status }: { readonly status: string }) => status === 'open'

const ownedRoute = (
  services: RestoreServices & Blocking,
  kind: OwnedKind,
  { owned: { decider, addresses }, fields }: OwnedHistory,
) =>
  endpoint(restoreContract, `POST /api/${kinds[kind].path}/:id/restore`, {
    scope: 'write',
    params: byId,
    single: true,
    owner: ownedOrDeleted(decider),
    body: RestoreBody,
    run: async (call) => {
      const { account, body, load, params } = call
      const { id } = params
      const { state: before } = await load(decider, id)
      const former = await formerState(decider, id, call, services, isOpen)
      // what the operator has blocked since does not come back this way
      rejectBlocked(addresses(former?.state.fields ?? before.fields), services)
      const to = former && { revision: former.revision, fields: former.state.fields }
      const token = randomUUID()
      return restore(call, services, {
        kind,
        before,
        fields,
        isDeleted: ({ status }) => status === 'deleted',
        dryRun: body.dryRun ?? false,
        write: ({ write }) => write(decider, { type: 'Restore', id, account, to, token }),
        lost: () => missingChannels(call, kind, id),
      })
    },
  })

const linkRoute = (services: RestoreServices & LinkWriting) =>
  endpoint(restoreContract, 'POST /api/url/:id/restore', {
    scope: 'links:write',
    params: byId,
    single: true,
    owner: ownedOrDeleted(link),
    body: RestoreBody,
    run: async (call) => {
      const { account, body, load, params } = call
      const { id } = params
      const { state: before } = await load(link, id)
      const former = await formerState(link, id, call, services, isOpen)
      const { fields, password, places } = former?.state ?? before
      // its present campaign is not checked: another member may have added it there
      if (fields.campaign !== null && fields.campaign !== before.fields.campaign) await load(campaign, fields.campaign)
      rejectDestinations(fields, services)
      const to = former && { revision: former.revision, fields, password, ...(places && { places }) }
      const [token, now] = [randomUUID(), new Date().toISOString()]
      const had = addressesOf(former?.state ?? before)
      const taken = await takenAddresses(services, id, before, had.slice(1))
      const back = had.filter((one) => !taken.includes(one))
      rejectGainedPlaces(id, before, back, services)
      const without = taken.map(({ address }) => address)
      const answer = await restore(call, services, {
        kind: 'link',
        before,
        // computed by the service, not set by a user
        fields: (state) => {
          const { unframed: _, ...rest } = linkFieldsOf(state, (domain) => origin({ domain }, services))
          return rest
        },
        isDeleted: ({ status }) => status === 'deleted',
        dryRun: body.dryRun ?? false,
        write: ({ write }) => write(link, { type: 'RestoreLink', id, account, to, token, without, now }),
        lost: async (after) => [
          ...(password === unreadable ? [notRestored('password', { what: 'erased' })] : []),
          ...taken.map((one) => notRestored('addresses', { what: 'taken', address: short(one, services) })),
          ...(await missingParts(call, after.fields)),
          ...(await missingChannels(call, 'link', id)),
        ],
      })
      if (!body.dryRun && isFramed(fields.type)) services.frameChecks.checkSoon({ id, account })
      return answer
    },
  })

/** What the routes that restore need. */
export type RestoreRouteServices = AccountRestoreServices & DomainServices & LinkWriting & WebhookServices

/** The routes of resources that have rules of their own. */
const routesOfKinds = {
  link: linkRoute,
  domain: domainRestoreRoute,
  webhook: webhookRestoreRoute,
} as const satisfies Partial<Record<OwnedKind, unknown>>
type SpecialKind = keyof typeof routesOfKinds
const isSpecial = (kind: OwnedKind): kind is SpecialKind => Object.hasOwn(routesOfKinds, kind)

export const restoreRoutes = (services: RestoreRouteServices): readonly Route[] => [
  ...ownedKinds.map((kind) =>
    isSpecial(kind) ? routesOfKinds[kind](services) : ownedRoute(services, kind, histories[kind]),
  ),
  ...accountRestoreRoutes(services),
]
