import type { LinkedKind } from '../events/kinds.ts'
import { type Caller, requireOwn } from './caller.ts'
import { campaign } from './links/campaign.ts'
import { channel } from './links/channel.ts'
import { refuse, Refused } from './decider.ts'
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

type Asking = Pick<Caller, 'account' | 'load'>
const requireLinked: Readonly<Record<LinkedKind, (caller: Asking, id: number) => Promise<unknown>>> = {
  domain: (caller, id) => requireOwn(caller, domain, id),
  campaign: (caller, id) => requireOwn(caller, campaign, id),
  channel: (caller, id) => requireOwn(caller, channel, id),
  pixel: (caller, id) => requireOwn(caller, pixel, id),
  splash: (caller, id) => requireOwn(caller, splash, id),
  overlay: (caller, id) => requireOwn(caller, overlay, id),
}

/** Throws `Refused` (`not_yours`) unless every resource that a link names exists and belongs to the caller. */
export const requireReferences = async (
  caller: Asking,
  { pixels = [], type = '', ...named }: LinkReferences,
): Promise<void> => {
  const own = async (what: LinkedKind, id: number | null | undefined, field: string = what) => {
    if (id === null || id === undefined) return
    try {
      await requireLinked[what](caller, id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refuse('not_yours', { what, field, id })
    }
  }
  const [, kind, id] = /^(splash|overlay)-(\d+)$/.exec(type) ?? []
  await Promise.all([
    own('domain', named.domain),
    own('campaign', named.campaign),
    own('channel', named.channel),
    ...pixels.map((pixelId) => own('pixel', pixelId, 'pixels')),
    (kind === 'splash' || kind === 'overlay') && own(kind, Number(id), 'type'),
  ])
}
