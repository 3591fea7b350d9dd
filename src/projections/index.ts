import { accounts } from './account.ts'
import { accountClicks } from './accountclicks.ts'
import { accountEvents } from './accountevents.ts'
import { answers } from './answer.ts'
import { bioPages } from './bio.ts'
import { blocks } from './block.ts'
import { campaigns } from './campaign.ts'
import { channels } from './channel.ts'
import { domains } from './domain.ts'
import { links } from './link.ts'
import { overlays } from './overlay.ts'
import { createPast } from './past.ts'
import { pixels } from './pixel.ts'
import type { Projection } from './projection.ts'
import { qrs } from './qr.ts'
import { reports } from './report.ts'
import { resourceEvents } from './resourceevents.ts'
import { splashes } from './splash.ts'
import { stats } from './stats.ts'
import { webhooks } from './webhook.ts'

/** The read tables. */
export const projections: readonly Projection[] = [
  accounts,
  campaigns,
  channels,
  domains,
  links,
  pixels,
  qrs,
  overlays,
  splashes,
  bioPages,
  answers,
  blocks,
  reports,
  webhooks,
  stats,
  accountEvents,
  accountClicks,
  resourceEvents,
]

/** How the tables were before. */
export const past = createPast(projections)

/** Returns the projections of a service that keeps the past, or does not. */
export const projectionsWith = ({ withPast }: { readonly withPast: boolean }): readonly Projection[] =>
  withPast ? [...projections, past] : projections
