import { z } from 'zod'
import type { Ordinals } from '../../events/ordinals.ts'
import type { EventStore } from '../../events/store.ts'
import type { IndexName } from '../../queries/streams/accountindex.ts'
import { newestEntry } from '../../queries/streams/accountindex.ts'
import type { Reader } from '../../queries/reader.ts'
import type { Download } from '../api/download.ts'
import { failField } from '../api/errors.ts'
import type { Call } from '../api/route.ts'
import { filterId } from '../api/fields.ts'
import type { Wanting } from '../api/limits/places.ts'
import type { ClickBatch } from './source/batches.ts'
import type { DomainNames } from '../links/filter.ts'
import { tagFilter } from '../links/tag.ts'
import { type Format, formats, types } from './format.ts'
import type { StreamLimits } from './limit.ts'
import { parseLineId, type StreamPlace, placeAfter, placeBefore, start, whole } from './place.ts'
import { streamOf } from './produce.ts'
import type { Numbered, Source, SourceOptions } from './source/source.ts'
import type { Tail } from './tail.ts'
import { says } from '../../lib/fields.ts'

/** What streams read from, and how many there may be. */
export interface Streams extends StreamLimits {
  /** with separate connections: streams wait only for each other, and no other request waits for them */
  readonly reader: Reader
  readonly readStream: EventStore['read']
  readonly clickBatches: (entry: Numbered) => Promise<ClickBatch>
  readonly tails: Readonly<Record<IndexName, Tail>>
  /** ms between signs of life */
  readonly beat: number
  /** ms that a client has to read a piece */
  readonly timeoutMs: number
  /** Runs the reads of all streams, a few at a time, by turns of accounts and networks. */
  readonly inTurn: <T>(by: Wanting, read: () => Promise<T>) => Promise<T>
  readonly onFailed: (error: unknown) => void
}

const text = z.string().optional()

/** A number of lines, never ignored: a client with a mistake would wait for the rest of the log. */
const lines = text
  .transform((given, context) => {
    if (given === undefined) return Infinity
    if (/^[1-9]\d{0,11}$/.test(given)) return Number(given)
    context.addIssue(says('wrong_type', { what: 'whole_from_one' }))
    return z.NEVER
  })
  .meta({ type: 'integer', minimum: 1 })

/** One or several of some names; undefined when none were sent. `problem` is that of others. */
export const namesOf = (known: readonly string[], problem: string) =>
  text.transform((given, context) => {
    if (given === undefined) return undefined
    const names = given.split(',').map((name) => name.trim())
    if (names.every((name) => known.includes(name))) return new Set(names)
    context.addIssue(problem)
    return z.NEVER
  })

/** The query of every stream. */
export const streamQuery = z.object({
  from: text,
  limit: lines,
  follow: z.enum(['true', 'false'], says('wrong_type', { what: 'boolean' })).optional(),
  link: filterId,
  campaign: filterId,
  channel: filterId,
  domain: text,
  tag: tagFilter,
})
type StreamQuery = z.output<typeof streamQuery>

interface Opening {
  readonly index: IndexName
  readonly formats: readonly Format['name'][]
  readonly sourceOf: (options: SourceOptions) => Source
}
type StreamCall = Pick<Call<unknown, StreamQuery>, 'account' | 'from' | 'query' | 'header' | 'accepts' | 'isAdmitted'>
/** What the routes of streams need. */
export interface StreamServices extends DomainNames {
  readonly streams: Streams
  readonly ordinals: Ordinals
}

const formatFor = ({ accepts }: StreamCall, offered: Opening['formats']): Format => {
  const wanted = accepts(offered.map((name) => types[name]))
  return formats[offered.find((name) => types[name] === wanted) ?? 'ndjson']
}

/** Returns where a stream begins: where the client has lost the last one, or where it asks for. */
const beginning = async (
  call: StreamCall,
  { streams, ordinals }: StreamServices,
  index: IndexName,
): Promise<StreamPlace> => {
  const { query, header } = call
  const { from } = query
  const hasIndex = index === 'clicks'
  const last = header('Last-Event-ID')
  if (last !== '') {
    const id = parseLineId(last, hasIndex)
    return id ? placeAfter(ordinals, id) : failField('Last-Event-ID', 'wrong_form', { what: 'line_id' })
  }
  if (from === undefined || from === '') return start
  if (from === 'now') {
    const position = await streams.inTurn(call, () => newestEntry(streams.reader, index))
    return position === 0n ? start : { position, index: whole }
  }
  const id = parseLineId(from, hasIndex)
  if (id) return placeBefore(ordinals, id)
  return failField('from', 'wrong_form', { what: hasIndex ? 'click' : 'line' })
}

/** Opens a stream. Everything that can be refused is refused before it begins. */
export const openStream = async (call: StreamCall, given: StreamServices, opening: Opening): Promise<Download> => {
  const { account, query, isAdmitted } = call
  const { streams, ordinals } = given
  const { index } = opening
  const format = formatFor(call, opening.formats)
  const follows = query.follow === undefined ? format.name === 'sse' : query.follow === 'true'
  if (follows && format.name === 'csv') failField('follow', 'not_supported', { what: 'csv' })
  const slot = streams.take(call, follows)
  try {
    const follower = follows ? await streams.tails[index].follow(account) : undefined
    try {
      const after = await beginning(call, given, index)
      const { reader, beat, timeoutMs, inTurn, onFailed } = streams
      const until = follows ? undefined : await inTurn(call, () => newestEntry(reader, index))
      const { next, isPending } = opening.sourceOf({ reader, ordinals, account, until })
      const source: Source = { isPending, next: (after) => inTurn(call, () => next(after)) }
      const own = { source, format, after, limit: query.limit, follower, slot }
      const content = streamOf({ ...own, ordinals, isAdmitted, beat, timeoutMs, onFailed })
      return { download: { type: format.type, headers: { 'X-Accel-Buffering': 'no' }, content } }
    } catch (error) {
      follower?.leave()
      throw error
    }
  } catch (error) {
    slot.end()
    throw error
  }
}
