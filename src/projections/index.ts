import type { ResourceKind } from '../events/kinds.ts'
import { accounts } from './accounts/account.ts'
import { accountClicks } from './history/accountclicks.ts'
import { accountEvents } from './history/accountevents.ts'
import { approvals } from './approvals/approval.ts'
import { answers } from './pages/answer.ts'
import { bioPages } from './pages/bio.ts'
import { blocks } from './operator/block.ts'
import { campaigns } from './links/campaign.ts'
import { channels } from './links/channel.ts'
import { domains } from './domains/domain.ts'
import { imports } from './imports/import.ts'
import { linkAddresses } from './links/addresses.ts'
import { importedClicks } from './links/imported.ts'
import { links } from './links/link.ts'
import { lostClicks } from './statistics/lostclicks.ts'
import { overlays } from './pages/overlay.ts'
import { createPast } from './history/past.ts'
import { pixels } from './pages/pixel.ts'
import type { Projection } from './engine/projection.ts'
import { qrs } from './qr/qr.ts'
import { reports } from './operator/report.ts'
import { resourceEvents } from './history/resourceevents.ts'
import { splashes } from './pages/splash.ts'
import { stats } from './statistics/stats.ts'
import { webhooks } from './webhooks/webhook.ts'

/** The tables of each kind of resource. */
const ofKinds: Readonly<Record<ResourceKind, Projection>> = {
  account: accounts,
  campaign: campaigns,
  channel: channels,
  domain: domains,
  link: links,
  pixel: pixels,
  qr: qrs,
  overlay: overlays,
  splash: splashes,
  bio: bioPages,
  webhook: webhooks,
}

/** The read tables. */
export const projections: readonly Projection[] = [
  ...Object.values(ofKinds),
  answers,
  approvals,
  blocks,
  reports,
  stats,
  lostClicks,
  linkAddresses,
  importedClicks,
  imports,
  accountEvents,
  accountClicks,
  resourceEvents,
]

/** How the tables were before. */
export const past = createPast(projections)

/** Returns the projections of a service that keeps the past, or does not. */
export const projectionsWith = ({ withPast }: { readonly withPast: boolean }): readonly Projection[] =>
  withPast ? [...projections, past] : projections
