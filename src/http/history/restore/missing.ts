import { domain } from '../../../commands/domains/domain.ts'
import type { Handler } from '../../../commands/handle.ts'
import { addressesOf, isSame, type LinkAddress } from '../../../commands/links/places.ts'
import { aliasClaimName } from '../../../commands/links/alias.ts'
import { link } from '../../../commands/links/link.ts'
import type { Link } from '../../../commands/links/state.ts'
import { bio } from '../../../commands/pages/bio.ts'
import type { KeptKind, OwnedKind } from '../../../events/kinds.ts'
import type { ItemKind } from '../../../events/links/channel.ts'
import type { StoredLinkFields } from '../../../events/links/link.ts'
import { parseStreamId, streamId } from '../../../events/streams.ts'
import type { WebhookFields } from '../../../events/webhooks/webhook.ts'
import type { Reading } from '../../api/route.ts'
import { isOpen, membershipsOf } from '../../links/assigned.ts'
import { histories } from '../kinds.ts'
import { notRestored, type NotRestored } from './restore.ts'

type Found = readonly NotRestored[]
type Asking = Pick<Reading, 'load'>

/** Says of a resource by its id, if it is deleted. What names it works without it until it is restored, too. */
const gone = async ({ load }: Asking, field: string, kind: KeptKind, id: number): Promise<Found> => {
  const found = await isOpen({ load }, histories[kind].decider, id)
  return found ? [] : [notRestored(field, { what: kind, id })]
}

/** Says of the domain of a link, if its visitors get 404. */
const unreachable = async (asking: Asking, id: number): Promise<Found> => {
  const { status, verified } = (await asking.load(domain, id)).state
  if (status !== 'open') return gone(asking, 'domain', 'domain', id)
  return verified ? [] : [notRestored('domain', { what: 'unverified', id })]
}

/** Says which of the things that the fields of a link name have no effect now. */
export const missingParts = async (asking: Asking, fields: StoredLinkFields): Promise<Found> => {
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(fields.type) ?? []
  const found = await Promise.all([
    fields.domain === null ? [] : unreachable(asking, fields.domain),
    fields.campaign === null ? [] : gone(asking, 'campaign', 'campaign', fields.campaign),
    ...fields.pixels.map((pixel) => gone(asking, 'pixels', 'pixel', pixel)),
    kind === 'splash' || kind === 'overlay' ? gone(asking, 'type', kind, Number(id)) : [],
  ])
  return found.flat()
}

/**
 * Returns those of the former addresses of a link that others have now: another link, or a bio page. What another
 * account has, or had last, is reserved for that.
 */
export const takenAddresses = async (
  { handler }: { readonly handler: Pick<Handler, 'claimant' | 'load'> },
  id: number,
  now: Link,
  former: readonly LinkAddress[],
): Promise<readonly LinkAddress[]> => {
  const isTaken = async (one: LinkAddress) => {
    const stream = await handler.claimant({ kind: 'alias', name: aliasClaimName(one) })
    if (stream === undefined || stream === streamId('link', id)) return false
    const { kind, id: holder } = parseStreamId(stream)
    if (kind !== 'link') {
      const { account, status, fields } = (await handler.load(bio, holder)).state
      return account !== now.account || (status === 'open' && isSame(one, { domain: null, alias: fields.alias }))
    }
    const { state } = await handler.load(link, holder)
    return (
      state.account !== now.account ||
      (state.status === 'open' && addressesOf(state).some((other) => isSame(one, other)))
    )
  }
  const taken = await Promise.all(former.map(isTaken))
  return former.filter((_, i) => taken[i])
}

const itemKinds: Readonly<Partial<Record<OwnedKind, ItemKind>>> = { link: 'links', bio: 'bio', qr: 'qr' }

/** Says which of the channels that a resource is in are deleted. */
export const missingChannels = async (reading: Reading, kind: OwnedKind, id: number): Promise<Found> => {
  const item = itemKinds[kind]
  if (!item) return []
  const memberships = await membershipsOf(reading, { kind: item, id })
  return memberships.flatMap((one) =>
    one.exists ? [] : [notRestored('channels', { what: 'channel' as const, id: one.channel })],
  )
}

/** Says which of the resources that a webhook sends the clicks of are deleted. */
export const missingFilters = async (
  asking: Asking,
  { links, campaigns, channels, domains }: Pick<WebhookFields, 'links' | 'campaigns' | 'channels' | 'domains'>,
): Promise<Found> => {
  const each = (field: string, kind: KeptKind, ids: readonly number[]) => ids.map((id) => gone(asking, field, kind, id))
  const found = await Promise.all([
    ...each('links', 'link', links),
    ...each('campaigns', 'campaign', campaigns),
    ...each('channels', 'channel', channels),
    ...each('domains', 'domain', domains),
  ])
  return found.flat()
}
