import { domain } from '../commands/domain.ts'
import type { Handler } from '../commands/handle.ts'
import { systemMetadata } from '../events/event.ts'
import { claimDueDomains, setFailures } from '../queries/domaincheck.ts'
import type { Reader } from '../queries/reader.ts'
import { repeat } from './repeat.ts'

export interface DomainChecks {
  readonly reader: Reader
  readonly handler: Handler
  /** Whether the DNS of a host leads to this service. Rejects when it cannot be resolved. */
  readonly pointsToUs: (host: string) => Promise<boolean>
  readonly onProblem: (error: unknown, what: string) => void
  /** ms between runs */
  readonly every?: number
}

/** Failed checks in a row, a day apart, after which a domain's links stop working. */
const maxFailures = 3

/** Checks the DNS of every branded domain once a day. A domain that fails three times in a row stops, and works again after a check that succeeds. */
export const checkDomains = async ({ reader, handler, pointsToUs }: DomainChecks) => {
  for (const { id, account, domain: origin, failures } of await claimDueDomains(reader)) {
    // a name server that does not answer says nothing about the domain
    const verified = await pointsToUs(new URL(origin).hostname).catch(() => undefined)
    if (verified === undefined) continue
    const failed = verified ? 0 : failures + 1
    await setFailures(reader, id, failed)
    if (!verified && failed < maxFailures) continue
    await handler.handle(domain, { type: 'CheckDomain', id, verified }, systemMetadata(account))
  }
}

/** Starts the checks and returns a function that stops them, after the run in progress. */
export const startDomainChecks = (options: DomainChecks) =>
  repeat(
    () => checkDomains(options),
    options.every ?? 600_000,
    (error) => options.onProblem(error, 'the domain checks failed'),
  )
