import { type AccountServices, accountRoutes } from './accounts/account.ts'
import { type ExportServices, exportRoutes } from './accounts/export/export.ts'
import { type KeyServices, keyRoutes } from './accounts/key.ts'
import { type RegisterServices, registerRoutes } from './accounts/register.ts'
import { type SecondFactorServices, secondFactorRoutes } from './accounts/secondfactor.ts'
import { type SessionServices, sessionRoutes } from './accounts/session.ts'
import type { Route } from './api/route.ts'
import { type DomainServices, domainRoutes } from './domains/domain.ts'
import { type RestoreRouteServices, restoreRoutes } from './history/restore/routes.ts'
import { type RevisionServices, revisionRoutes } from './history/revisions.ts'
import { type HistoryServices, historyRoutes } from './history/routes.ts'
import { type BulkServices, bulkRoutes } from './links/bulk/bulk.ts'
import { type CampaignServices, campaignRoutes } from './links/campaign.ts'
import { channelRoutes } from './links/channel.ts'
import { type LinkServices, linkRoutes } from './links/link.ts'
import { tagRoutes } from './links/tag.ts'
import { type OperatorServices, operatorRoutes } from './operator/operator.ts'
import { answerRoutes } from './pages/answer.ts'
import { type BioServices, bioRoutes } from './pages/bio.ts'
import { overlayRoutes } from './pages/overlay.ts'
import { pixelRoutes } from './pages/pixel.ts'
import { splashRoutes } from './pages/splash.ts'
import { type ProofServices, proofRoutes } from './proof/proof.ts'
import { type QrImageServices, qrImageRoutes } from './qr/image.ts'
import { type QrServices, qrRoutes } from './qr/qr.ts'
import { type FilteredServices, filteredRoutes } from './statistics/filtered.ts'
import { reclassifyRoutes } from './statistics/reclassify.ts'
import { type RehearseServices, rehearseRoutes } from './statistics/rehearse.ts'
import { seriesRoutes } from './statistics/stats.ts'
import { clickRoutes } from './streams/clicks.ts'
import { eventRoutes } from './streams/events.ts'
import type { StreamServices } from './streams/stream.ts'
import type { WebhookServices } from './webhooks/fields.ts'
import { webhookRoutes } from './webhooks/webhook.ts'

/** What the routes of all subjects need. */
export type Services = AccountServices &
  BioServices &
  BulkServices &
  CampaignServices &
  DomainServices &
  ExportServices &
  FilteredServices &
  HistoryServices &
  KeyServices &
  LinkServices &
  OperatorServices &
  ProofServices &
  QrImageServices &
  QrServices &
  RegisterServices &
  RehearseServices &
  RestoreRouteServices &
  RevisionServices &
  SecondFactorServices &
  SessionServices &
  StreamServices &
  WebhookServices

const resourceRoutes = (services: Services): readonly Route[] => [
  ...registerRoutes(services),
  ...accountRoutes(services),
  ...sessionRoutes(services),
  ...secondFactorRoutes(services),
  ...keyRoutes(services),
  ...linkRoutes(services),
  ...revisionRoutes(services),
  ...tagRoutes(),
  ...bulkRoutes(services),
  ...seriesRoutes(),
  ...filteredRoutes(services),
  ...rehearseRoutes(services),
  ...reclassifyRoutes(),
  ...domainRoutes(services),
  ...pixelRoutes(),
  ...qrRoutes(services),
  ...qrImageRoutes(services),
  ...overlayRoutes(services),
  ...answerRoutes(),
  ...splashRoutes(services),
  ...bioRoutes(services),
  ...campaignRoutes(services),
  ...channelRoutes(services),
  ...eventRoutes(services),
  ...clickRoutes(services),
  ...webhookRoutes(services),
  ...proofRoutes(services),
  ...historyRoutes(services),
  ...restoreRoutes(services),
]

/**
 * Returns every route of the API. An export has what an account may read of its own, so the routes of operators are not
 * in it.
 */
export const routesOf = (services: Services): readonly Route[] => {
  const resources = resourceRoutes(services)
  return [...resources, ...exportRoutes(services, resources), ...operatorRoutes(services)]
}

/** The same to be described: made of no services, so that none of them may run. */
export const routes = routesOf({} as Services)
