import type { DomainEvent } from '../events/index.ts'
import { type Caller, requireOwn } from './caller.ts'
import { campaign } from './links/campaign.ts'
import { channel } from './links/channel.ts'
import { type Decider, refuse, Refused } from './decider.ts'
import { domain } from './domains/domain.ts'
import { overlay } from './pages/overlay.ts'
import { pixel } from './pages/pixel.ts'
import { splash } from './pages/splash.ts'

/** The resources that a link names. Undefined and null mean that it names none. */
export interface LinkReferences {
  readonly domain?: number | null | undefined
  readonly campaign?: number | null | undefined
  readonly channel?: number | null | undefined
  readonly pixels?: readonly number[] | undefined
  /** `splash-<id>`, `overlay-<id>` or a type without an id */
  readonly type?: string | undefined
}

/** Throws `Refused` (`not_yours`) unless every resource that a link names exists and belongs to the caller. */
export const requireReferences = async (
  caller: Pick<Caller, 'account' | 'load'>,
  { domain: domainId, campaign: campaignId, channel: channelId, pixels = [], type = '' }: LinkReferences,
): Promise<void> => {
  const own = async <C, S extends { readonly status: string; readonly account: number }, E extends DomainEvent>(
    field: string,
    what: 'domain' | 'campaign' | 'channel' | 'pixel' | 'splash' | 'overlay',
    decider: Decider<C, S, E>,
    id: number | null | undefined,
  ) => {
    if (id === null || id === undefined) return
    try {
      await requireOwn(caller, decider, id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refuse('not_yours', { what, field, id })
    }
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(type) ?? []
  await Promise.all([
    own('domain', 'domain', domain, domainId),
    own('campaign', 'campaign', campaign, campaignId),
    own('channel', 'channel', channel, channelId),
    ...pixels.map((pixelId) => own('pixels', 'pixel', pixel, pixelId)),
    kind === 'splash' && own('type', 'splash', splash, Number(id)),
    kind === 'overlay' && own('type', 'overlay', overlay, Number(id)),
  ])
}
