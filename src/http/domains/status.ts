import type { DomainCheck, DomainLook } from '../../commands/domains/check.ts'
import { hostOf } from '../../commands/domains/domain.ts'
import { timestamp } from '../../lib/fields.ts'
import type { ListedDomain } from '../../queries/domains/domain.ts'
import { maxFailures } from '../../queries/domains/check.ts'

/** A domain as far as its verification is concerned. */
type Checked = Pick<ListedDomain, 'domain' | 'verified' | 'proof' | 'free' | 'failures' | 'lookedAt'> & {
  readonly found: DomainLook | null
}
type Record = ReturnType<DomainCheck['recordFor']>

const statusOf = ({ verified, proof }: Pick<Checked, 'verified' | 'proof'>) =>
  verified ? ('active' as const) : proof === '' ? ('pending' as const) : ('unverified' as const)

const recordProblem = ({ name, value }: Record, { txt, hasRecord }: DomainLook) => {
  if (hasRecord) return undefined
  if (txt === null) return `The name servers did not answer for ${name}.`
  return txt.length === 0
    ? `There is no TXT record ${name}: create it with the value ${value}.`
    : `The TXT record ${name} does not have the value ${value}.`
}

const pointingProblem = (host: string, { targets }: Pick<DomainCheck, 'targets'>, { pointsHere }: DomainLook) => {
  if (pointsHere) return undefined
  return pointsHere === null
    ? `The name servers did not answer for ${host}.`
    : `${host} does not point to this service: set its DNS to ${targets.join(' or ')}.`
}

/** Returns what the owner of a domain has to correct, and what happens otherwise; empty when all is well. */
const problemOf = (domain: Checked, record: Record, check: DomainCheck): string => {
  const { verified, proof, free, failures, found } = domain
  const status = statusOf(domain)
  if (!found)
    return verified ? '' : `Create a TXT record ${record.name} with the value ${record.value}, then verify the domain.`
  const problems = [
    // a domain that was verified without a record need not have one
    ...(verified && proof === 'off' ? [] : [recordProblem(record, found)]),
    ...(check.proof === 'dns' ? [pointingProblem(hostOf(domain), check, found)] : []),
  ].flatMap((problem) => problem ?? [])
  if (problems.length === 0) return verified ? '' : 'DNS is right now: verify the domain.'
  const consequence = {
    active:
      failures > 0
        ? [`The domain stops after ${maxFailures} daily checks in a row that fail; so far ${failures}.`]
        : [],
    pending: [],
    unverified: [
      `Its links return 404 until this is corrected.${free ? ` The host is reserved for you until ${timestamp(free)}.` : ''}`,
    ],
  }[status]
  return [...problems, ...consequence].join(' ')
}

/** Returns whether a domain serves and, where domains are checked, what was expected of its DNS and what was found. */
export const verificationOf = (account: number, row: ListedDomain, check: DomainCheck) => {
  const status = statusOf(row)
  if (check.proof === 'off') return { status }
  const found = row.found as DomainLook | null
  const record = check.recordFor(account, hostOf(row))
  return {
    status,
    verification: {
      record: { type: 'TXT' as const, ...record, found: found?.txt ?? null, ok: found?.hasRecord ?? null },
      ...(check.proof === 'dns'
        ? { dns: { targets: check.targets, found: found?.points ?? null, ok: found?.pointsHere ?? null } }
        : {}),
      checked: row.lookedAt && timestamp(row.lookedAt),
      failures: row.failures,
      problem: problemOf({ ...row, found }, record, check),
    },
  }
}
