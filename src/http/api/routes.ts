import { accountRoutes } from '../account.ts'
import { answerRoutes } from '../answer.ts'
import { bioRoutes } from '../bio.ts'
import { bulkRoutes } from '../bulk.ts'
import { campaignRoutes } from '../campaign.ts'
import { channelRoutes } from '../channel.ts'
import { clickRoutes } from '../clicks.ts'
import { domainRoutes } from '../domain.ts'
import { eventRoutes } from '../events.ts'
import { exportRoutes } from '../export.ts'
import { filteredRoutes } from '../filtered.ts'
import { historyRoutes } from '../historyroutes.ts'
import { keyRoutes } from '../key.ts'
import { linkRoutes } from '../link.ts'
import { operatorRoutes } from '../operatorview.ts'
import { overlayRoutes } from '../overlay.ts'
import { pixelRoutes } from '../pixel.ts'
import { proofRoutes } from '../proof.ts'
import { qrRoutes } from '../qr.ts'
import { qrImageRoutes } from '../qrimage.ts'
import { registerRoutes } from '../register.ts'
import { restoreRoutes } from '../restoreroutes.ts'
import { secondFactorRoutes } from '../secondfactor.ts'
import { sessionRoutes } from '../session.ts'
import { reclassifyRoutes } from '../reclassify.ts'
import { rehearseRoutes } from '../rehearse.ts'
import { revisionRoutes } from '../revisions.ts'
import { seriesRoutes } from '../stats.ts'
import { splashRoutes } from '../splash.ts'
import { tagRoutes } from '../tag.ts'
import { webhookRoutes } from '../webhook.ts'
import type { Route } from './route.ts'

const resourceRoutes: readonly Route[] = [
  ...registerRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...secondFactorRoutes,
  ...keyRoutes,
  ...linkRoutes,
  ...revisionRoutes,
  ...tagRoutes,
  ...bulkRoutes,
  ...seriesRoutes,
  ...filteredRoutes,
  ...rehearseRoutes,
  ...reclassifyRoutes,
  ...domainRoutes,
  ...pixelRoutes,
  ...qrRoutes,
  ...qrImageRoutes,
  ...overlayRoutes,
  ...answerRoutes,
  ...splashRoutes,
  ...bioRoutes,
  ...campaignRoutes,
  ...channelRoutes,
  ...eventRoutes,
  ...clickRoutes,
  ...webhookRoutes,
  ...proofRoutes,
  ...historyRoutes,
  ...restoreRoutes,
]

/** Every route of the API. An export has what an account may read of its own, so the routes of operators are not in it. */
export const routes: readonly Route[] = [...resourceRoutes, ...exportRoutes(resourceRoutes), ...operatorRoutes]
