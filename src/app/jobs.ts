import type { Cache } from '../cache/cache.ts'
import type { DomainCheck } from '../commands/domains/check.ts'
import { importFolder } from '../http/imports/file.ts'
import { type FailedCheck, startDomainChecks } from './jobs/domaincheck.ts'
import { createFrameProbe } from './jobs/frameprobe.ts'
import { type FrameChecks, noFrameChecks, startFrameChecks } from './jobs/framing.ts'
import { startErasures } from './jobs/erasure.ts'
import { removeLeftFiles } from './jobs/importfiles.ts'
import { startTextErasure } from './jobs/texterasure.ts'
import { startImageCleanup } from './jobs/imagecleanup.ts'
import { deleteExpiredRequests } from '../postgres/idempotency.ts'
import { knownImports } from '../postgres/jobs/imports.ts'
import { deleteOldMisses } from '../postgres/misses.ts'
import { deleteOldAttempts } from '../postgres/webhooks.ts'
import { type GuardedProbe, openProbe } from '../lib/fetch.ts'
import { registerErasures } from './log/erasures.ts'
import type { Ledger } from './log/ledger.ts'
import { startReclassifying } from './reclassifier.ts'
import { openSending, type WebhookOverrides } from './webhooks.ts'

export interface JobsOptions {
  readonly ledger: Ledger
  readonly cache: Pick<Cache, 'blocks' | 'domains'>
  readonly baseUrl: string
  readonly domainCheck: DomainCheck
  readonly overrides: { readonly guardedProbe?: GuardedProbe; readonly webhooks?: WebhookOverrides }
}

/** days that attempts to deliver to webhooks are kept */
const attemptDays = 30

/** Returns what opens a job whose failures are logged, and known to the readiness of the process. */
const jobsOf =
  ({ jobs, log }: Pick<Ledger, 'jobs' | 'log'>) =>
  (name: string, what: string) => {
    const { telling, watching } = jobs.open(name, what)
    return { onProblem: telling((error, text: string) => log.error({ err: error }, text)), watching }
  }

/** Starts the background work of a process with the role http. */
export const startJobs = ({ ledger, cache, baseUrl, domainCheck, overrides }: JobsOptions) => {
  const { config, handler, keys, log, reader, store, sureNow } = ledger
  const job = jobsOf(ledger)
  const onFailed = (failed: FailedCheck) => log.warn(failed, 'a branded domain failed its daily check')
  const stopChecks =
    domainCheck.proof === 'off'
      ? undefined
      : startDomainChecks({
          ...{ reader, handler, check: domainCheck, onFailed },
          ...job('domain_checks', 'branded domains are not checked'),
        })
  const stopCleanup = startImageCleanup({
    reader,
    store,
    deleteExpiredAnswers: async () => {
      await deleteExpiredRequests(ledger.db)
      await deleteOldAttempts(ledger.db, attemptDays)
      await deleteOldMisses(ledger.db)
      await removeLeftFiles(importFolder(config.DATA_DIR), (names) => knownImports(ledger.db, names))
    },
    ...job('cleanup', 'unused images, expired answers and old attempts to deliver are not deleted'),
  })
  const finish = async (account: number) => {
    await keys.destroy([account])
    await registerErasures(ledger, [account])
  }
  const stopErasures = startErasures({
    ...{ reader, handler, finish, sureNow },
    ...job('erasures', 'accounts whose erasure is due are not erased'),
  })
  const keptMonths = config.ANSWER_RETENTION_MONTHS
  const stopTexts = startTextErasure({
    ...{ reader, handler, keys: keys.ofStreams, keptMonths, sureNow },
    ...job('text_erasure', 'old and erased answers and reports are not cleared'),
  })
  const probe = createFrameProbe({ probe: overrides.guardedProbe ?? openProbe() })
  const originOf = (domain: number | null) =>
    (domain === null ? undefined : cache.domains.byId(domain)?.domain) ?? baseUrl
  const frameChecks: FrameChecks =
    config.FRAME_CHECK === 'off'
      ? noFrameChecks
      : startFrameChecks({
          ...{ reader, handler, probe, originOf },
          ...job('frame_checks', 'framed links are not checked'),
        })
  const reclassifier = startReclassifying(ledger, job('reclassifications', 'visits are not classified again'))
  const webhooks = openSending(ledger, (url) => Boolean(cache.blocks.destination(url)), overrides.webhooks)
  return {
    services: { frameChecks, reclassifyJobs: reclassifier.service, webhooks },
    /** Stops all of it: the requests to sites in progress at once, other work after its current step. */
    close: async () =>
      void (await Promise.all([
        stopChecks?.(),
        stopCleanup(),
        stopErasures(),
        stopTexts(),
        reclassifier.close(),
        frameChecks.close(),
      ])),
  }
}
