import type { RecordedEvent, StreamingRead } from '@eventstore/db-client'
import type { Raw } from '../../events/codec.ts'
import { events as registry } from '../../events/index.ts'
import { clickTypes, countedTypes, type Filter } from '../../events/store.ts'
import { TimedOut } from '../../lib/async/timeout.ts'
import type { Names } from './names.ts'

const known = new Set<string>(Object.keys(registry))

/** A regular expression for the types that pass each filter; those of the server itself begin with `$`. */
export const typesOf: Readonly<Record<Filter, string>> = {
  clicks: `^(?:${countedTypes.join('|')})$`,
  domain: `^(?!(?:${clickTypes.join('|')})$)[^$]`,
  all: '^[^$]',
}
const patterns: Readonly<Record<Filter, RegExp>> = {
  clicks: new RegExp(typesOf.clicks),
  domain: new RegExp(typesOf.domain),
  all: new RegExp(typesOf.all),
}

/** The stream of every event of another log. */
const foreign = ''
export const isOfLog = ({ stream }: Pick<Raw, 'stream'>): boolean => stream !== foreign

/**
 * Whether an event passes a filter. What has neither a known type nor our metadata was not written by this or a newer
 * release.
 */
export const passes = (
  filter: Filter,
  { stream, type, metadata }: Pick<Raw, 'stream' | 'type' | 'metadata'>,
): boolean => isOfLog({ stream }) && patterns[filter].test(type) && (known.has(type) || isOurs(metadata))

const isOurs = (metadata: unknown) =>
  typeof metadata === 'object' && metadata !== null && 'v' in metadata && 'at' in metadata && 'command' in metadata

/**
 * An event as the codec reads it. Commit and prepare positions are equal for events that were written without a
 * transaction.
 */
export const toRaw = (
  { id, streamId, revision, type, data, metadata, position, created }: RecordedEvent,
  names: Pick<Names, 'from'>,
): Raw => ({
  id,
  stream: names.from(streamId) ?? foreign,
  revision,
  position: position!.commit,
  // the time of the decision, as on the other engines
  at: (metadata as { readonly at?: string } | undefined)?.at ?? created.toISOString(),
  type,
  data,
  metadata,
})

/**
 * The events of a read as they arrive. Throws `TimedOut` when none arrives for `ms`: the client ignores the deadline of
 * a read. Throws when the signal aborts.
 */
export const eventsOf = async function* (
  call: StreamingRead<{ readonly event?: RecordedEvent }>,
  names: Pick<Names, 'from'>,
  ms: number,
  signal?: AbortSignal,
): AsyncGenerator<Raw> {
  // an error that arrives after the loop below has ended would end the process
  call.on('error', () => {})
  const end = () => void call.destroy(new Error('the event store was closed'))
  signal?.addEventListener('abort', end)
  const timer = setTimeout(() => call.destroy(new TimedOut(`no event within ${Math.round(ms)} ms`)), ms)
  try {
    for await (const { event } of call) {
      timer.refresh()
      if (event) yield toRaw(event, names)
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    call.destroy()
    void call.cancel().catch(() => {})
  }
}
