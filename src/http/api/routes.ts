import { accountRoutes } from '../account.ts'
import { answerRoutes } from '../answer.ts'
import { bioRoutes } from '../bio.ts'
import { bulkRoutes } from '../bulk.ts'
import { campaignRoutes } from '../campaign.ts'
import { channelRoutes } from '../channel.ts'
import { domainRoutes } from '../domain.ts'
import { exportRoutes } from '../export.ts'
import { keyRoutes } from '../key.ts'
import { linkRoutes } from '../link.ts'
import { overlayRoutes } from '../overlay.ts'
import { pixelRoutes } from '../pixel.ts'
import { qrRoutes } from '../qr.ts'
import { registerRoutes } from '../register.ts'
import { seriesRoutes } from '../stats.ts'
import { splashRoutes } from '../splash.ts'
import { tagRoutes } from '../tag.ts'
import type { Route } from './route.ts'

const resourceRoutes: readonly Route[] = [
  ...registerRoutes,
  ...accountRoutes,
  ...keyRoutes,
  ...linkRoutes,
  ...tagRoutes,
  ...bulkRoutes,
  ...seriesRoutes,
  ...domainRoutes,
  ...pixelRoutes,
  ...qrRoutes,
  ...overlayRoutes,
  ...answerRoutes,
  ...splashRoutes,
  ...bioRoutes,
  ...campaignRoutes,
  ...channelRoutes,
]

/** Every route of the API. An export has what the others answer. */
export const routes: readonly Route[] = [...resourceRoutes, ...exportRoutes(resourceRoutes)]
