import type { Problem } from '../lib/problems/problem.ts'

/** The formats of files, and what an API is called. `records` are lines of JSON that a command has read from an API. */
export const formats = [
  'bitly',
  'dub',
  'shlink',
  'kutt',
  'yourls',
  'rebrandly',
  'shortio',
  'gempixel',
  'linkledger',
  'bookmarks',
  'sink',
  'tinyurl',
  'tinycc',
  'csv',
  'records',
] as const
export type Format = (typeof formats)[number]

/** Fields of links of a service with this API that have the same meaning here. */
export const ownFields = [
  ...['metatitle', 'metadescription', 'metaimage', 'notes', 'parameters', 'expired_url', 'forward'],
  ...['type', 'variants', 'browsertarget'],
] as const
export type OwnFields = { readonly [F in (typeof ownFields)[number]]?: unknown }

/** The place of a record in its source: a line of a file, or an id there. */
export type Place = { readonly line: number } | { readonly id: string }

/** An address of a link in its source. */
export interface SourceAddress {
  /** in lower case, without scheme; undefined where the source does not say */
  readonly host: string | undefined
  /** without the first slash; empty for the root of the host */
  readonly alias: string
}

export interface SourceTarget {
  readonly kind: 'device' | 'location' | 'language'
  readonly name: string
  readonly url: string
}

/** A link as another service has it. Texts are as they stand there; times are ISO 8601 in UTC. */
export interface SourceLink {
  readonly kind: 'link'
  readonly place: Place
  /** the main one first; none where the source has only destinations, such as bookmarks */
  readonly addresses: readonly SourceAddress[]
  readonly url: string
  readonly title?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly created?: string
  readonly expiry?: string
  readonly starts?: string
  readonly maxClicks?: number
  readonly archived?: boolean
  /** its service has banned it, and does not redirect its visitors */
  readonly banned?: boolean
  /** in clear, or `unknown`: it has one that the source does not tell */
  readonly password?: { readonly clear: string } | 'unknown'
  readonly targets?: readonly SourceTarget[]
  /** clicks that the source has counted, with those visits that are records of their own (a dump of YOURLS) */
  readonly clicks?: number
  readonly uniques?: number
  /** those of them that count for `maxClicks`, where not all do */
  readonly measured?: number
  /** fields that a service with this API has as they are here */
  readonly fields?: OwnFields
  /** what could not be read and is left out, as sentences */
  readonly notes?: readonly string[]
  /** fields that have no counterpart here and are not empty, by their names there */
  readonly left?: readonly string[]
}

/** A visit as another service has it. */
export interface SourceVisit {
  readonly kind: 'visit'
  readonly place: Place
  readonly host: string | undefined
  readonly alias: string
  readonly at: string
  readonly referrer?: string
  readonly userAgent?: string
  readonly address?: string
  readonly country?: string
}

/** Something that could not be read; the others go on. */
export interface SourceProblem {
  readonly kind: 'problem'
  readonly place: Place
  readonly problem: Problem
}

/** Said once about the whole source. */
export interface SourceNotice {
  readonly kind: 'notice'
  /**
   * `unknown_column`: no field has its name (`column`); `cut`: the service ends its exports here, and there may be more
   * (`records`); `no_zone`: times have no zone, and count in `zone`; `left_out`: a part of the source is not read
   * (`folder`); `unread`: a record of an API could not be read (`message`); `unlisted`: an API says that it has more
   * links (`links`) than it lists (`listed`); `more`: others were not kept (`notices`)
   */
  readonly notice: 'unknown_column' | 'cut' | 'no_zone' | 'left_out' | 'unread' | 'unlisted' | 'more'
  readonly params: Readonly<Record<string, string | number>>
}

export type SourceRecord = SourceLink | SourceVisit | SourceProblem | SourceNotice

/** A source of which nothing more can be read; `problem` says why. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource'
  readonly problem: Problem
  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.code, options)
    this.problem = problem
  }
}
