import type { DomainEvent } from '../events/index.ts'
import { type Caller, requireOwn } from './caller.ts'
import { campaign } from './links/campaign.ts'
import { channel } from './links/channel.ts'
import { type Decider, Refused } from './decider.ts'
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

/** Throws `Refused` (`invalid`) unless every resource that a link names exists and belongs to the caller. */
export const requireReferences = async (
  caller: Pick<Caller, 'account' | 'load'>,
  { domain: domainId, campaign: campaignId, channel: channelId, pixels = [], type = '' }: LinkReferences,
): Promise<void> => {
  const own = async <C, S extends { readonly status: string; readonly account: number }, E extends DomainEvent>(
    field: string,
    resource: string,
    decider: Decider<C, S, E>,
    id: number | null | undefined,
  ) => {
    if (id === null || id === undefined) return
    try {
      await requireOwn(caller, decider, decider.kind, id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      throw new Refused('invalid', `\`${field}\` must refer to ${resource} of your account; ${id} is not one.`)
    }
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(type) ?? []
  await Promise.all([
    own('domain', 'a domain', domain, domainId),
    own('campaign', 'a campaign', campaign, campaignId),
    own('channel', 'a channel', channel, channelId),
    ...pixels.map((pixelId) => own('pixels', 'a pixel', pixel, pixelId)),
    kind === 'splash' && own('type', 'a splash page', splash, Number(id)),
    kind === 'overlay' && own('type', 'an overlay', overlay, Number(id)),
  ])
}
