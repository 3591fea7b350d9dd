import { accountRoutes } from './accounts/account.ts'
import { answerRoutes } from './pages/answer.ts'
import { bioRoutes } from './pages/bio.ts'
import { bulkRoutes } from './links/bulk/bulk.ts'
import { campaignRoutes } from './links/campaign.ts'
import { channelRoutes } from './links/channel.ts'
import { clickRoutes } from './streams/clicks.ts'
import { domainRoutes } from './domains/domain.ts'
import { eventRoutes } from './streams/events.ts'
import { exportRoutes } from './accounts/export/export.ts'
import { filteredRoutes } from './statistics/filtered.ts'
import { historyRoutes } from './history/routes.ts'
import { keyRoutes } from './accounts/key.ts'
import { linkRoutes } from './links/link.ts'
import { operatorRoutes } from './operator/operator.ts'
import { overlayRoutes } from './pages/overlay.ts'
import { pixelRoutes } from './pages/pixel.ts'
import { proofRoutes } from './proof/proof.ts'
import { qrRoutes } from './qr/qr.ts'
import { qrImageRoutes } from './qr/image.ts'
import { registerRoutes } from './accounts/register.ts'
import { restoreRoutes } from './history/restore/routes.ts'
import { secondFactorRoutes } from './accounts/secondfactor.ts'
import { sessionRoutes } from './accounts/session.ts'
import { reclassifyRoutes } from './statistics/reclassify.ts'
import { rehearseRoutes } from './statistics/rehearse.ts'
import { revisionRoutes } from './history/revisions.ts'
import { seriesRoutes } from './statistics/stats.ts'
import { splashRoutes } from './pages/splash.ts'
import { tagRoutes } from './links/tag.ts'
import { webhookRoutes } from './webhooks/webhook.ts'
import type { Route } from './api/route.ts'

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
