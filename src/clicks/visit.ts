import type { Medium } from './visitor/medium.ts'

/**
 * A visit as it was answered, before classification. It exists in the local spool only: address and user agent go no
 * further.
 */
export interface Visit {
  /** ISO 8601, UTC */
  readonly at: string
  readonly account: number
  /** 0 when a QR code or an entry of a bio page leads to its destination without a link of the account */
  readonly link: number
  /** revision of the stream that decided, the link's, the QR code's or the bio page's */
  readonly revision: number
  /** empty when a bio page decided: its content is personal data, and its revision has it under the account's key */
  readonly destination: string
  /** which rule chose the destination */
  readonly rule: string
  readonly source: {
    readonly kind: 'link' | 'qr' | 'rotator' | 'bio'
    readonly id: number
    /** of the entry of a bio page that was followed */
    readonly entry?: number
  }
  /** the number of the link's address that was visited, unless it is 1 */
  readonly place?: number
  /** the visitor's IP address */
  readonly address: string
  readonly agent: string
  readonly referrer: string
  /** how it came, as its query says; the query itself is not kept. Older releases do not write it. */
  readonly asked?: Medium
  readonly languages: string
  /** the request announced itself as a prefetch (`Sec-Purpose: prefetch`) */
  readonly prefetch: boolean
}

/**
 * Visits that were answered but could not be kept: how many, when the first and the last of them were answered (ISO
 * 8601, UTC), and whose they were. Of more than 1,000 accounts, those of the further ones are under 0. Older releases
 * do not write `accounts`.
 */
export interface DroppedVisits {
  readonly count: number
  readonly from: string
  readonly to: string
  readonly accounts?: readonly { readonly account: number; readonly count: number }[] | undefined
}

const maxAccounts = 1000

/** Adds visits of an account to the numbers by account. Returns under which account: one of the first 999, or 0. */
export const countAccount = (accounts: Map<number, number>, account: number, visits = 1): number => {
  const named = accounts.has(account) || accounts.size < maxAccounts - 1 ? account : 0
  accounts.set(named, (accounts.get(named) ?? 0) + visits)
  return named
}

export const droppedVisits = (byAccount: ReadonlyMap<number, number>, from: string, to: string): DroppedVisits => {
  const accounts = [...byAccount].map(([account, count]) => ({ account, count }))
  return { count: accounts.reduce((sum, { count }) => sum + count, 0), from, to, accounts }
}
