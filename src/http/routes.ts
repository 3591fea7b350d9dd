import type { OwnedKind } from '../events/kinds.ts'
import { accountRoutes } from './accounts/account.ts'
import { type ExportServices, exportRoutes } from './accounts/export/export.ts'
import { identityRoutes } from './accounts/identity.ts'
import { invitationRoutes } from './accounts/invitation.ts'
import { keyRoutes } from './accounts/key.ts'
import { memberRoutes } from './accounts/member.ts'
import { passkeyRoutes } from './accounts/passkey/passkey.ts'
import { passkeySignInRoutes } from './accounts/passkey/signin.ts'
import { registerRoutes } from './accounts/register.ts'
import { secondFactorRoutes } from './accounts/secondfactor.ts'
import { teamRoutes } from './accounts/team.ts'
import { sessionRoutes } from './accounts/session.ts'
import type { Route } from './api/route.ts'
import { approvalRoutes } from './approvals/approval.ts'
import { restoreRoutes } from './history/restore/routes.ts'
import { revisionRoutes } from './history/revisions.ts'
import { historyRoutes } from './history/routes.ts'
import { ofKinds } from './kinds.ts'
import { importRoutes } from './imports/import.ts'
import { bulkRoutes } from './links/bulk/bulk.ts'
import { tagRoutes } from './links/tag.ts'
import { type OperatorServices, operatorRoutes } from './operator/operator.ts'
import { answerRoutes } from './pages/answer.ts'
import { proofRoutes } from './proof/proof.ts'
import { qrImageRoutes } from './qr/image.ts'
import { filteredRoutes } from './statistics/filtered.ts'
import { reclassifyRoutes } from './statistics/reclassify.ts'
import { missRoutes } from './statistics/misses.ts'
import { rehearseRoutes } from './statistics/rehearse.ts'
import { seriesRoutes } from './statistics/stats.ts'
import { visitRoutes } from './statistics/visits.ts'
import { clickRoutes } from './streams/clicks.ts'
import { eventRoutes } from './streams/events.ts'

type Routes<S> = (services: S) => readonly Route[]

const others = [
  accountRoutes,
  registerRoutes,
  sessionRoutes,
  identityRoutes,
  passkeySignInRoutes,
  passkeyRoutes,
  secondFactorRoutes,
  keyRoutes,
  memberRoutes,
  teamRoutes,
  invitationRoutes,
  approvalRoutes,
  revisionRoutes,
  tagRoutes,
  bulkRoutes,
  importRoutes,
  seriesRoutes,
  filteredRoutes,
  visitRoutes,
  rehearseRoutes,
  reclassifyRoutes,
  missRoutes,
  qrImageRoutes,
  answerRoutes,
  eventRoutes,
  clickRoutes,
  proofRoutes,
  historyRoutes,
  restoreRoutes,
] as const

type All = (typeof ofKinds)[OwnedKind]['routes'] | (typeof others)[number]
/** What functions need, all of it. */
type NeedsOf<F> = (F extends (services: infer S) => unknown ? (needed: S) => void : never) extends (
  needed: infer S,
) => void
  ? S
  : never

/** What the routes of all subjects need. */
export type Services = NeedsOf<All> & ExportServices & OperatorServices

/**
 * Returns every route of the API. An export has what an account may read of its own, so the routes of operators are not
 * in it.
 */
export const routesOf = (services: Services): readonly Route[] => {
  const every: readonly Routes<Services>[] = [...Object.values(ofKinds).map(({ routes }) => routes), ...others]
  const resources = every.flatMap((routesFor) => routesFor(services))
  return [...resources, ...exportRoutes(services, resources), ...operatorRoutes(services)]
}

/** The same to be described: made of no services, so that none of them may run. */
export const routes = routesOf({} as Services)
