import { accounts } from './account.ts'
import { answers } from './answer.ts'
import { bioPages } from './bio.ts'
import { blocks } from './block.ts'
import { campaigns } from './campaign.ts'
import { channels } from './channel.ts'
import { domains } from './domain.ts'
import { links } from './link.ts'
import { overlays } from './overlay.ts'
import { pixels } from './pixel.ts'
import type { Projection } from './projection.ts'
import { qrs } from './qr.ts'
import { reports } from './report.ts'
import { splashes } from './splash.ts'
import { stats } from './stats.ts'

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
  stats,
]
