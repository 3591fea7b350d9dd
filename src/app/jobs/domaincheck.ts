import { setTimeout as sleep } from 'node:timers/promises'
import { verification } from '../../commands/domains/add.ts'
import type { DomainCheck } from '../../commands/domains/check.ts'
import { Refused } from '../../commands/decider.ts'
import { domain, hostReservation } from '../../commands/domains/domain.ts'
import type { Handler } from '../../commands/handle.ts'
import { systemMetadata } from '../../events/event.ts'
import { claimDueDomains, type DueDomain, maxFailures, saveCheck } from '../../queries/domains/check.ts'
import type { Reader } from '../../queries/reader.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

/** A branded domain whose verification record no longer exists. */
export interface FailedCheck {
  readonly domain: string
  readonly account: number
  /** in a row */
  readonly failures: number
}

export interface DomainChecks {
  readonly reader: Reader
  readonly handler: Handler
  readonly check: DomainCheck
  readonly onFailed: (failed: FailedCheck) => void
  readonly onProblem: (error: unknown, what: string) => void
  readonly watching?: Watching
  /** ms between runs */
  readonly every?: number
}

/** domains in one run, of which so many are checked at a time: some name servers take long to answer */
const [perRun, atOnce] = [100, 10]
/** ms between runs while some are due */
const pause = 1000

type Tools = Omit<DomainChecks, 'every'>

const checkDomain = async (
  { reader, handler, check, onFailed }: Omit<Tools, 'onProblem'>,
  { id, account, domain: origin, verified, proof, failures }: DueDomain,
) => {
  const { hostname: host } = new URL(origin)
  const look = await check.look(account, host)
  const lost = verified ? check.lost(look, proof) : !check.proves(look)
  // name servers that do not answer say nothing about the domain
  if (lost === undefined) return saveCheck(reader, id, failures, look)
  const failed = lost ? failures + 1 : 0
  await saveCheck(reader, id, failed, look)
  if (lost && verified) onFailed({ domain: origin, account, failures: failed })
  if (lost && failed < maxFailures) return
  const context = systemMetadata(account)
  if (lost) await handler.handle(domain, { type: 'UnverifyDomain', id, free: hostReservation(context.at) }, context)
  else if (check.proves(look)) {
    const command = await verification(handler, id, check.proof)
    await handler.handle(domain, command, context).catch((error: unknown) => {
      // another account has the host by now
      if (!(error instanceof Refused)) throw error
    })
  }
}

/**
 * Checks branded domains that are due, up to a hundred, each once a day. Its owner sees the result; a domain that fails
 * three times in a row stops, and works again after a check that succeeds. Returns whether more may be due.
 */
export const checkDomains = async (tools: Tools, signal?: AbortSignal): Promise<boolean> => {
  // a domain that is claimed counts as checked for a day, so those that a stop leaves over are not claimed
  for (let n = 0; n < perRun && !signal?.aborted; n += atOnce) {
    const due = await claimDueDomains(tools.reader, atOnce)
    if (due.length === 0) return false
    const done = await Promise.allSettled(due.map((one) => checkDomain(tools, one)))
    // the others of a run must not wait a day for one that could not be checked
    for (const one of done)
      if (one.status === 'rejected') tools.onProblem(one.reason, 'a branded domain could not be checked')
  }
  return !signal?.aborted
}

/** Starts the checks and returns a function that stops them, after the lookups in progress. */
export const startDomainChecks = (options: DomainChecks) => {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = (options.watching ?? unwatched)(() => checkDomains(options, signal))
  const stop = repeat(
    async () => {
      while (await run()) await sleep(pause, undefined, { signal }).catch(() => {})
    },
    options.every ?? 600_000,
    (error) => options.onProblem(error, 'the domain checks failed'),
  )
  return () => {
    stopping.abort()
    return stop()
  }
}
