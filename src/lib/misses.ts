/** Why an address has led nowhere. */
export const missKinds = ['unknown', 'ended', 'not_started', 'blocked'] as const
export type MissKind = (typeof missKinds)[number]
/** What is counted with them without an address: HEAD requests for links and pages, which are no visits. */
export const headRequests = 'head'

/** An address that was asked for, and leads nowhere. */
export interface Miss {
  /** whom it is shown to; 0: the operator */
  readonly account: number
  readonly host: string
  /** with a slash before it, or `otherPath` */
  readonly path: string
  readonly kind: MissKind | typeof headRequests
  /** whether a person has sent the request, as far as its headers show */
  readonly byPerson: boolean
}

/** What is counted together: paths that may name a person, and those beyond the limit. */
export const otherPath = 'other'
export interface Misses {
  /** Counts a miss. It never waits, and what a killed process has not written yet is lost. */
  readonly note: (miss: Miss) => void
  /** Writes what was counted. When that fails, it is kept for the next time. */
  readonly write: () => Promise<void>
}
