import type { OwnedKind } from '../events/kinds.ts'
import type { Contract } from './api/contract.ts'
import type { Route } from './api/route.ts'
import { linkStatsContract } from './statistics/contract/series.ts'
import { domainContract } from './domains/contract.ts'
import { domainRoutes } from './domains/domain.ts'
import { revisionsContract } from './history/contract/revisions.ts'
import { campaignRoutes } from './links/campaign.ts'
import { channelRoutes } from './links/channel.ts'
import { bulkContract } from './links/contract/bulk.ts'
import { campaignContract } from './links/contract/campaign.ts'
import { channelContract } from './links/contract/channel.ts'
import { linkContract } from './links/contract/link.ts'
import { tagContract } from './links/contract/tag.ts'
import { linkRoutes } from './links/link.ts'
import { bioRoutes } from './pages/bio.ts'
import { bioContract } from './pages/contract/bio.ts'
import { overlayContract } from './pages/contract/overlay.ts'
import { pixelContract } from './pages/contract/pixel.ts'
import { splashContract } from './pages/contract/splash.ts'
import { overlayRoutes } from './pages/overlay.ts'
import { pixelRoutes } from './pages/pixel.ts'
import { splashRoutes } from './pages/splash.ts'
import { qrContract } from './qr/contract.ts'
import { qrRoutes } from './qr/qr.ts'
import { rehearseContract } from './statistics/contract/rehearse.ts'
import { webhookContract } from './webhooks/contract.ts'
import { webhookRoutes } from './webhooks/webhook.ts'

/** What a group of operations is about, and the contract of each of its routes. */
export interface Topic {
  readonly about: string
  readonly contract: Contract
}
/** The topic of a kind, and what is true of its histories and restores alone. */
export interface KindTopic extends Topic {
  readonly history?: string
  readonly restore?: string
}
interface OfKind extends KindTopic {
  readonly routes: (services: never) => readonly Route[]
}

/** What the API has for each kind of resource that an account owns: its routes, and what the reference says of them. */
export const ofKinds = {
  link: {
    routes: linkRoutes,
    about: 'Short links: where they lead, for whom, and what became of them',
    history: 'Also when it came into a channel or left one, and when the operator blocked it.',
    restore: 'It is in its channels again.',
    contract: {
      ...linkContract,
      ...linkStatsContract,
      ...rehearseContract,
      ...revisionsContract,
      ...tagContract,
      ...bulkContract,
    },
  },
  qr: {
    routes: qrRoutes,
    about: 'Codes of seven types, as PNG or SVG; those of type `link` count their scans',
    restore: 'Its design and its logo come back, too.',
    contract: qrContract,
  },
  domain: {
    routes: domainRoutes,
    about: 'Your own hosts for short links, proven by a DNS record',
    restore:
      'It is verified as before until its reservation ends, 30 days after the deletion; then it has to be verified again.',
    contract: domainContract,
  },
  pixel: {
    routes: pixelRoutes,
    about: 'Tracking pixels that fire when a visitor is redirected',
    restore: 'It fires for its links again.',
    contract: pixelContract,
  },
  campaign: {
    routes: campaignRoutes,
    about: 'Groups of links with a public list and an address that leads to one of them at random',
    history: 'Also which links came and left.',
    restore: 'Links that were in it when it was deleted are in it again.',
    contract: campaignContract,
  },
  channel: {
    routes: channelRoutes,
    about: 'Folders for links, QR codes and bio pages',
    history: 'Also which items came and left.',
    restore: 'Its items are in it again.',
    contract: channelContract,
  },
  overlay: {
    routes: overlayRoutes,
    about: 'Calls to action that are shown on top of a destination',
    history: 'Also when visitors answered it.',
    contract: overlayContract,
  },
  splash: {
    routes: splashRoutes,
    about: 'Pages that are shown before a destination',
    contract: splashContract,
  },
  bio: {
    routes: bioRoutes,
    about: 'One public page with many links',
    restore: 'Its entries keep their clicks.',
    contract: bioContract,
  },
  webhook: {
    routes: webhookRoutes,
    about: 'Events and clicks, sent to an address of yours as they happen, signed, in order and without gaps',
    history: 'Also why it was disabled, and where it was told to continue.',
    contract: webhookContract,
  },
} as const satisfies Readonly<Record<OwnedKind, OfKind>>
