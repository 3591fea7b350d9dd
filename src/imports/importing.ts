import type { Problem, ProblemCode, ProblemParams } from '../lib/problems/problem.ts'
import { sentenceOf } from '../lib/problems/problem.ts'
import type { Place, SourceRecord, SourceVisit } from './records.ts'
import type { Row } from './row.ts'

/**
 * What became of a link: `kept` had been there with the same destination, `conflict` has an alias that is not free.
 * `added`: it is one more address of a link.
 */
export type Outcome = 'created' | 'added' | 'kept' | 'conflict' | 'skipped' | 'renamed' | 'failed'

/** Whether a link was created for a record. */
export const isCreated = (outcome: string): boolean => outcome === 'created' || outcome === 'renamed'

/** Whether a record has become a link, or an address of one. */
export const isBrought = (outcome: string): boolean => isCreated(outcome) || outcome === 'added'

/** A line of the report: what became of a link, and what of it was left out. */
export interface Reported {
  readonly place: Place
  readonly outcome: Outcome | 'noted'
  /** its alias in the source; undefined: it has none, or this is about the whole source */
  readonly alias?: string | undefined
  readonly url?: string
  /** why, as sentences; empty: there is nothing to say */
  readonly message: string
  /** fields that have no counterpart here, by their names there */
  readonly left?: readonly string[]
  /** the id of the link, where there is one */
  readonly link?: number | undefined
}

/** What became of a row. */
export interface Result {
  readonly error: 0 | 1
  /** of the link; none in a dry run */
  readonly id?: number | undefined
  /** the link had the address before, and not by this import */
  readonly had?: boolean
  readonly message?: string
  readonly code?: ProblemCode
  readonly field?: string | undefined
  readonly params?: ProblemParams
}

/** A link that an import has created; `own`: whether this one has. */
export interface Imported {
  readonly id: number
  readonly own: boolean
}

/** A visit of a link that has come by an import. `place` counts the visits of the source from 1 on. */
export interface PlacedVisit extends Pick<SourceVisit, 'at' | 'referrer' | 'userAgent' | 'address' | 'country'> {
  readonly place: number
  readonly link: number
  readonly destination: string
}
export type VisitRefusal = 'no_time' | 'too_old' | 'future'

export interface Importing {
  /** Opens the source, which is read several times. */
  readonly open: () => AsyncIterable<SourceRecord>
  /** Creates links, and adds addresses to them. Throws `TryAgain` when that is not known of all of them. */
  readonly create: (rows: readonly Row[]) => Promise<readonly Result[]>
  /** Returns the link at the address of a row; `own`: whether this import has created it. */
  readonly find: (row: Row) => Promise<(Imported & { readonly url: string }) | undefined>
  /** Returns links without a line of the report that imports have created for destinations, with these. */
  readonly findImported: (urls: readonly string[]) => Promise<readonly (Imported & { readonly url: string })[]>
  /**
   * Records visits of links that have come, which are in the order of their places, and passes over those that are
   * recorded already. Returns why some are refused. `upTo`: all visits of the source up to there are known then.
   * Undefined where nothing is stored.
   */
  readonly recordVisits:
    ((visits: readonly PlacedVisit[], upTo: number) => Promise<readonly VisitRefusal[]>) | undefined
  /** Returns the links of stored lines of the report, from a number on, of those that this import has brought. */
  readonly linksOf: (from: number, lines: number) => Promise<readonly (number | undefined)[]>
  /** Stores lines of the report; the first of them has the number `from`. */
  readonly report: (from: number, lines: readonly Reported[]) => Promise<void>
  /** lines of the report that are stored already: what they are about is done */
  readonly done: number
  /** Called with the minimum number of lines of the report. */
  readonly onTotal: (lines: number) => Promise<void>
  readonly wait: (seconds: number) => Promise<void>
  /** when the import began (ISO 8601): what had ended by then is left out */
  readonly began: string
  /** Returns what the service is called that the links come from. */
  readonly source: () => string
  readonly onConflict: OnConflict
  /** the domain here for each host there; '': for others, and for addresses without a host, else the service's own */
  readonly domains: ReadonlyMap<string, string>
}

export const conflictWays = ['skip', 'rename', 'fail'] as const
export type OnConflict = (typeof conflictWays)[number]

/** Some rows may be stored, and some are not: the service is busy or away. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain'
}
/** A link whose alias is not free, with which an import has to end. */
export class ConflictFound extends Error {
  override readonly name = 'ConflictFound'
  readonly problem: Problem
  constructor(problem: Problem) {
    super(sentenceOf(problem))
    this.problem = problem
  }
}
