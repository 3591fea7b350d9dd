import { account } from '../../commands/accounts/account.ts'
import type { Decider } from '../../commands/decider.ts'
import { domain } from '../../commands/domains/domain.ts'
import { campaign } from '../../commands/links/campaign.ts'
import { channel } from '../../commands/links/channel.ts'
import { link } from '../../commands/links/link.ts'
import type { Owned, OwnedCommand } from '../../commands/owned/owned.ts'
import { bio } from '../../commands/pages/bio.ts'
import { overlay } from '../../commands/pages/overlay.ts'
import { pixel } from '../../commands/pages/pixel.ts'
import { splash } from '../../commands/pages/splash.ts'
import { qr } from '../../commands/qr/qr.ts'
import { webhook } from '../../commands/webhooks/webhook.ts'
import type { DomainEvent } from '../../events/index.ts'
import { isResource, type OwnedKind, type ResourceKind } from '../../events/kinds.ts'
import * as bioPages from '../pages/bio.ts'
import * as overlays from '../pages/overlay.ts'
import * as splashes from '../pages/splash.ts'
import { addressesIn, dataOf } from '../qr/address.ts'
import {
  accountFieldsOf,
  bioFieldsOf,
  domainFieldsOf,
  type Fields,
  linkFieldsOf,
  type OriginOf,
  qrFieldsOf,
  webhookFieldsOf,
} from './fields.ts'

/** What every state of a resource says. */
interface Held {
  readonly status: string
  readonly account: number
}

/** What histories know of a kind of resource: what happens to one, and the fields that a state of it shows. */
export interface KindHistory<S = unknown> {
  readonly decider: Decider<never, S, DomainEvent>
  readonly fields: (state: unknown, originOf: OriginOf) => Fields
}

type Addresses = Readonly<Record<string, readonly (string | undefined)[]>>
/** The same of a resource that has no rules beyond those of `owned`, and is restored as all such are. */
export interface OwnedHistory extends KindHistory<Held> {
  readonly fields: (state: unknown) => Fields
  readonly owned: {
    readonly decider: Decider<OwnedCommand<object>, Owned<object>, DomainEvent>
    /** the addresses that visitors are led to, by their fields */
    readonly addresses: (fields: object) => Addresses
  }
}

/** Checks a history against the types of its own resource, then erases them, so that all fit into one table. */
const of = <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, fields: (state: S, originOf: OriginOf) => Fields) =>
  ({ decider, fields }) as unknown as KindHistory<S extends Held ? Held : unknown>

interface OwnedParts<F> {
  readonly fields?: (fields: F) => Fields
  readonly addresses?: (fields: F) => Addresses
}
const ofOwned = <F extends object, E extends DomainEvent>(
  decider: Decider<OwnedCommand<F>, Owned<F>, E>,
  { fields: fieldsOf = (fields) => fields as unknown as Fields, addresses = () => ({}) }: OwnedParts<F> = {},
) =>
  ({
    decider,
    fields: ({ fields }: Owned<F>) => fieldsOf(fields),
    owned: { decider, addresses },
  }) as unknown as OwnedHistory

export const histories = {
  account: of(account, accountFieldsOf),
  link: of(link, linkFieldsOf),
  qr: ofOwned(qr, { fields: qrFieldsOf, addresses: (fields) => ({ data: addressesIn(dataOf(fields)) }) }),
  domain: of(domain, domainFieldsOf),
  pixel: ofOwned(pixel),
  campaign: ofOwned(campaign),
  channel: ofOwned(channel),
  overlay: ofOwned(overlay, { addresses: overlays.addressesOf }),
  splash: ofOwned(splash, { addresses: splashes.addressesOf }),
  bio: ofOwned(bio, { fields: bioFieldsOf, addresses: bioPages.addressesOf }),
  webhook: of(webhook, webhookFieldsOf),
} as const satisfies Readonly<Record<OwnedKind, KindHistory<Held>>> & Readonly<Record<ResourceKind, object>>

/** Returns what histories know of a kind of stream; undefined when it has no resources. */
export const historyOf = (stream: string): KindHistory | undefined =>
  isResource(stream) ? (histories[stream] as KindHistory) : undefined

const known = new WeakMap<OriginOf, WeakMap<KindHistory, WeakMap<object, Fields>>>()
/**
 * Returns the fields of a state. They are made once for a request: the state after an event is the one before the next,
 * and resources begin with the same one.
 */
export const fieldsIn = (of: KindHistory, state: object, originOf: OriginOf): Fields => {
  const ofRequest = known.get(originOf) ?? new WeakMap<KindHistory, WeakMap<object, Fields>>()
  known.set(originOf, ofRequest)
  const ofKind = ofRequest.get(of) ?? new WeakMap<object, Fields>()
  ofRequest.set(of, ofKind)
  const fields = ofKind.get(state) ?? of.fields(state, originOf)
  ofKind.set(state, fields)
  return fields
}
