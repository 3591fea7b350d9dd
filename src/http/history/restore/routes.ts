import { randomUUID } from 'node:crypto'
import { bio } from '../../../commands/pages/bio.ts'
import { campaign } from '../../../commands/links/campaign.ts'
import { channel } from '../../../commands/links/channel.ts'
import type { Decider } from '../../../commands/decider.ts'
import { destinationsOf, isFramed, link } from '../../../commands/links/link.ts'
import type { Handler } from '../../../commands/handle.ts'
import { overlay } from '../../../commands/pages/overlay.ts'
import type { Owned, OwnedCommand } from '../../../commands/owned/owned.ts'
import { pixel } from '../../../commands/pages/pixel.ts'
import { qr } from '../../../commands/qr/qr.ts'
import { splash } from '../../../commands/pages/splash.ts'
import type { DomainEvent } from '../../../events/index.ts'
import { completed, type StoredLinkFields } from '../../../events/links/link.ts'
import type { QuotaKind } from '../../../queries/accounts/quota.ts'
import { unreadable } from '../../../security/seal.ts'
import { byId } from '../../api/fields.ts'
import { endpoint, type Route, route } from '../../api/route.ts'
import * as bioPages from '../../pages/bio.ts'
import { type Blocking, rejectBlocked } from '../../api/blockedaddress.ts'
import { bioFieldsOf, type Fields, linkFieldsOf, qrFieldsOf } from '../fields.ts'
import { ownedOrDeleted } from '../routes.ts'
import { origin } from '../../links/address.ts'
import * as overlays from '../../pages/overlay.ts'
import { rejectOwnAddresses } from '../../api/ownaddress.ts'
import { addressesIn } from '../../qr/qr.ts'
import { dataOf } from '../../qr/address.ts'
import { formerState, type NotRestored, restore, RestoreBody, type RestoreServices } from './restore.ts'
import { type AccountRestoreServices, accountRestoreRoutes } from './account.ts'
import { domainRestoreRoute } from './domain.ts'
import { webhookRestoreRoute } from './webhook.ts'
import type { DomainServices } from '../../domains/domain.ts'
import type { LinkWriting } from '../../links/write.ts'
import type { WebhookServices } from '../../webhooks/fields.ts'
import * as splashes from '../../pages/splash.ts'
import { restoreContract } from '../contract/history.ts'

/** The addresses that visitors are led to, by their fields. */
type Addresses = Readonly<Record<string, readonly (string | undefined)[]>>
const isOpen = ({ status }: { readonly status: string }) => status === 'open'

interface OwnedRestore<F> {
  readonly name: string
  readonly label: string
  readonly quota: QuotaKind
  readonly addressesOf?: (fields: F) => Addresses
  readonly fieldsOf?: (fields: F) => Fields
}

const ownedRoute = <F extends object, E extends DomainEvent>(
  services: RestoreServices & Blocking,
  decider: Decider<OwnedCommand<F>, Owned<F>, E>,
  { name, label, quota, addressesOf = () => ({}), fieldsOf = (fields) => fields as unknown as Fields }: OwnedRestore<F>,
) =>
  route({
    method: 'post',
    path: `/api/${name}/:id/restore`,
    scope: 'write',
    params: byId,
    single: true,
    owner: ownedOrDeleted(decider),
    body: RestoreBody,
    run: async (call) => {
      const { account, body, load, params } = call
      const { id } = params
      const { state: before } = await load(decider, id)
      const former = await formerState(decider, id, body, services, isOpen)
      // what the operator has blocked since does not come back this way
      rejectBlocked(addressesOf(former?.state.fields ?? before.fields), services)
      const to = former && { revision: former.revision, fields: former.state.fields }
      const token = randomUUID()
      return restore(call, services, {
        kind: decider.kind,
        label,
        before,
        quota,
        fields: ({ fields }) => fieldsOf(fields),
        isDeleted: before.status === 'deleted',
        dryRun: body.dryRun ?? false,
        write: ({ write }) => write(decider, { type: 'Restore', id, account, to, token }),
        notRestored: [],
      })
    },
  })

const linkAddresses = (fields: StoredLinkFields) => {
  const { expired_url, metaimage } = completed(fields)
  return { destinations: { url: destinationsOf(fields), expired_url: [expired_url] }, metaimage: [metaimage] }
}

/** Says which of the things that a link names do not exist now: it works without them until they are restored, too. */
const missingParts = async (fields: StoredLinkFields, handler: Handler): Promise<readonly NotRestored[]> => {
  const gone = async <C, S extends { readonly status: string }, E extends DomainEvent>(
    field: string,
    label: string,
    decider: Decider<C, S, E>,
    id: number,
  ): Promise<readonly NotRestored[]> => {
    const { state } = await handler.load(decider, id)
    return state.status === 'open'
      ? []
      : [{ field, reason: `${label} ${id} is deleted. Restore it, and it counts again.` }]
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(fields.type) ?? []
  const found = await Promise.all([
    fields.campaign === null ? [] : gone('campaign', 'Campaign', campaign, fields.campaign),
    ...fields.pixels.map((pixelId) => gone('pixels', 'Pixel', pixel, pixelId)),
    kind === 'splash' ? gone('type', 'Splash page', splash, Number(id)) : [],
    kind === 'overlay' ? gone('type', 'CTA overlay', overlay, Number(id)) : [],
  ])
  return found.flat()
}

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
      const former = await formerState(link, id, body, services, isOpen)
      const { fields, password } = former?.state ?? before
      const { destinations, metaimage } = linkAddresses(fields)
      rejectOwnAddresses(destinations, services)
      rejectBlocked({ ...destinations, metaimage }, services)
      const to = former && { revision: former.revision, fields, password }
      const token = randomUUID()
      const lost = password === unreadable ? [{ field: 'password', reason: 'It was erased. Set a new one.' }] : []
      const answer = await restore(call, services, {
        kind: 'link',
        label: 'Link',
        before,
        quota: 'link',
        // found by the service, not set by anybody
        fields: (state) => {
          const { unframed: _, ...rest } = linkFieldsOf(state, (domain) => origin({ domain }, services))
          return rest
        },
        isDeleted: before.status === 'deleted',
        dryRun: body.dryRun ?? false,
        write: ({ write }) => write(link, { type: 'RestoreLink', id, account, to, token }),
        notRestored: [...lost, ...(await missingParts(fields, services.handler))],
      })
      if (!body.dryRun && isFramed(fields.type)) services.frameChecks.checkSoon(id)
      return answer
    },
  })

/** What the routes that restore need. */
export type RestoreRouteServices = AccountRestoreServices & DomainServices & LinkWriting & WebhookServices

export const restoreRoutes = (services: RestoreRouteServices): readonly Route[] => [
  linkRoute(services),
  ownedRoute(services, qr, {
    name: 'qr',
    label: 'QR code',
    quota: 'qr',
    addressesOf: (fields) => ({ data: addressesIn(dataOf(fields)) }),
    fieldsOf: qrFieldsOf,
  }),
  domainRestoreRoute(services),
  ownedRoute(services, pixel, { name: 'pixel', label: 'Pixel', quota: 'pixel' }),
  ownedRoute(services, campaign, { name: 'campaign', label: 'Campaign', quota: 'campaign' }),
  ownedRoute(services, channel, { name: 'channel', label: 'Channel', quota: 'channel' }),
  ownedRoute(services, overlay, {
    name: 'overlay',
    label: 'CTA overlay',
    quota: 'overlay',
    addressesOf: overlays.addressesOf,
  }),
  ownedRoute(services, splash, {
    name: 'splash',
    label: 'Splash page',
    quota: 'splash',
    addressesOf: splashes.addressesOf,
  }),
  ownedRoute(services, bio, {
    name: 'bio',
    label: 'Bio page',
    quota: 'bio',
    addressesOf: bioPages.addressesOf,
    fieldsOf: bioFieldsOf,
  }),
  webhookRestoreRoute(services),
  ...accountRestoreRoutes(services),
]
