import type { Cache } from '../../cache/cache.ts'
import { account } from '../../commands/accounts/account.ts'
import { type ApiOptions, createApi } from '../../http/api/api.ts'
import type { Route } from '../../http/api/route.ts'
import type { Services } from '../../http/routes.ts'
import { createSemaphore, shared } from '../../lib/async/semaphore.ts'
import { idSequences } from '../../postgres/ids.ts'
import { openIdempotencyStore } from '../../security/idempotency.ts'
import type { Effects } from '../effects.ts'
import { dashboardHosts } from './hosts.ts'
import type { Ledger } from '../log/ledger.ts'
import { announcePending } from '../log/announce.ts'

/**
 * reads of accounts for requests with sessions: they come before any limit, so that all waiting requests of an account
 * share one
 */
const accountReads = { total: 8, perKey: 1, kept: 0, waiting: 1 }

/** Opens the API. Where registration is closed, it has no route for it. */
export const openApi = (
  { ledger, cache, effects }: { readonly ledger: Ledger; readonly cache: Cache; readonly effects: Effects },
  services: Services & Pick<ApiOptions, 'authProxy'>,
  routes: readonly Route[],
) => {
  const { config, db, handler, instance, keys, log, reader, transactions } = ledger
  const { auth, domains, members, pending, progress, rules } = cache
  const { limiter, recordUse, past } = effects
  const acquire = createSemaphore<number>(accountReads)
  const api = createApi({
    accountOf: shared(acquire, async (id) => (await handler.load(account, id)).state),
    routes: config.REGISTRATION === 'open' ? routes : routes.filter(({ path }) => path !== '/register'),
    auth,
    authProxy: services.authProxy,
    baseUrl: services.baseUrl,
    domains,
    handler,
    isDashboardHost: dashboardHosts(config),
    idempotency: openIdempotencyStore(db, keys, instance),
    limiter,
    log,
    members,
    nextId: idSequences(db),
    recordUse,
    onPending: announcePending(ledger, pending),
    past,
    pending,
    pepper: services.pepper,
    progress,
    quotas: services.quotas,
    rateLimit: config.RATE_LIMIT_PER_MINUTE,
    reader,
    rules,
    sessionRateLimit: config.SESSION_RATE_LIMIT_PER_MINUTE,
    sessions: services.sessions,
    transactions,
    trustProxy: config.TRUST_PROXY,
  })
  return api.callback()
}
