import { createHmac } from 'node:crypto'
import { printable, textLimits } from '../../lib/strangers.ts'
import { type Pointing, pointingOf, type Resolver, textsAt } from '../../lib/dns.ts'
import type { Proof } from './domain.ts'

/** What DNS says about a domain. */
export interface DomainLook {
  /** values of the TXT records; null: the name servers did not answer */
  readonly txt: readonly string[] | null
  /** names and addresses that the host points to; null: not looked for */
  readonly points: readonly string[] | null
  /** whether one of the TXT records is the expected one; null: unknown */
  readonly hasRecord: boolean | null
  /** whether the host points to this service; null: unknown, or not looked for */
  readonly pointsHere: boolean | null
}

/** How branded domains are verified, as DOMAIN_CHECK says. */
export interface DomainCheck {
  readonly proof: Proof
  /** names and addresses that domains must point to, for the proof `dns` */
  readonly targets: readonly string[]
  /** Returns the TXT record that the owner of a host creates for an account. */
  readonly recordFor: (account: number, host: string) => { readonly name: string; readonly value: string }
  readonly look: (account: number, host: string) => Promise<DomainLook>
  /** Whether a look proves that the account has the domain; needed unless the proof is `off`. */
  readonly proves: (look: DomainLook) => boolean
  /** Whether a domain that was verified in some way has lost what it was verified by; undefined: unknown. */
  readonly lost: (look: DomainLook, verifiedBy: string) => boolean | undefined
}

/** Returns the account's token for TXT records: always the same, and unknown to other accounts. */
export const domainToken = (pepper: Buffer, account: number): string =>
  `linkledger-${createHmac('sha256', pepper).update(`domains of account ${account}`).digest('hex').slice(0, 32)}`

/** Values that are kept and shown: a name may have any number of records, with any bytes. */
const few = (values: readonly string[]) => values.slice(0, 10).map((value) => printable('record', value))

/** Some forms of DNS providers keep spaces and the quotation marks that were typed. */
const isRecord = (text: string, value: string) =>
  text.length <= textLimits.record && text.replaceAll(/[\s"]/g, '') === value

export interface DomainCheckOptions {
  readonly proof: Proof
  readonly targets: readonly string[]
  readonly resolver: Resolver
  /** 32 bytes for keyed hashes */
  readonly pepper: Buffer
}

/** Domains are looked up in DNS only: an HTTP request could be led anywhere. */
export const createDomainCheck = ({ proof, targets, resolver, pepper }: DomainCheckOptions): DomainCheck => {
  const recordFor = (account: number, host: string) => ({
    name: `_linkledger.${host}`,
    value: domainToken(pepper, account),
  })
  const proves = ({ hasRecord, pointsHere }: DomainLook) =>
    hasRecord === true && (proof === 'txt' || pointsHere === true)

  return {
    proof,
    targets,
    recordFor,
    proves,
    look: async (account, host) => {
      const { name, value } = recordFor(account, host)
      const [txt, pointing] = await Promise.all([
        textsAt(name, resolver),
        proof === 'dns' ? pointingOf(host, targets, resolver) : ({ found: null, matches: undefined } as const),
      ])
      return {
        txt: txt ? few(txt) : null,
        points: pointing.found && few(pointing.found),
        hasRecord: txt?.some((text) => isRecord(text, value)) ?? null,
        pointsHere: (pointing satisfies { readonly matches: Pointing['matches'] }).matches ?? null,
      }
    },
    lost: ({ hasRecord, pointsHere }, verifiedBy) => {
      // a domain that was verified without a record, by an older release or without a check, need not have one
      const needed = [...(verifiedBy === 'off' ? [] : [hasRecord]), ...(proof === 'dns' ? [pointsHere] : [])]
      if (needed.includes(false)) return true
      return needed.includes(null) ? undefined : false
    },
  }
}
