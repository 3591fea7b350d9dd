import type { DomainEvent } from '../events/index.ts'
import type { LinkFields } from '../events/link.ts'
import { type Caller, requireOwn } from './caller.ts'
import { campaign } from './campaign.ts'
import { channel } from './channel.ts'
import { type Decider, Refused } from './decider.ts'
import { domain } from './domain.ts'
import { overlay } from './overlay.ts'
import { pixel } from './pixel.ts'
import { splash } from './splash.ts'

/** The resources that a link names. Undefined and null mean that it names none. */
export type LinkReferences = {
  readonly [K in 'domain' | 'campaign' | 'pixels' | 'type']?: LinkFields[K] | undefined
} & { readonly channel?: number | null | undefined }

/** Throws `Refused` (`invalid`) unless every resource that a link names exists and belongs to the caller. */
export const requireReferences = async (
  caller: Pick<Caller, 'account' | 'load'>,
  { domain: domainId, campaign: campaignId, channel: channelId, pixels = [], type = '' }: LinkReferences,
): Promise<void> => {
  const own = async <C, S extends { readonly status: string; readonly account: number }, E extends DomainEvent>(
    field: string,
    decider: Decider<C, S, E>,
    id: number | null | undefined,
  ) => {
    if (id === null || id === undefined) return
    try {
      await requireOwn(caller, decider, field, id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      throw new Refused('invalid', `\`${field}\` must name what exists in your account; ${id} does not.`)
    }
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(type) ?? []
  await Promise.all([
    own('domain', domain, domainId),
    own('campaign', campaign, campaignId),
    own('channel', channel, channelId),
    ...pixels.map((pixelId) => own('pixels', pixel, pixelId)),
    kind === 'splash' && own('type', splash, Number(id)),
    kind === 'overlay' && own('type', overlay, Number(id)),
  ])
}
