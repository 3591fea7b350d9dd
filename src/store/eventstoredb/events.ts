import type { RecordedEvent, StreamingRead } from '@eventstore/db-client'
import type { Raw } from '../../events/codec.ts'
import { events as registry } from '../../events/index.ts'
import type { Filter } from '../../events/store.ts'
import { TimedOut } from '../../lib/timeout.ts'

const types = Object.keys(registry)
/** The event types that pass each filter. A server has events of its own and may serve other applications, so ours are listed. */
export const typesOf: Readonly<Record<Filter, ReadonlySet<string>>> = {
  clicks: new Set(['LinkClicked']),
  domain: new Set(types.filter((type) => type !== 'LinkClicked')),
  all: new Set(types),
}

/** An event as the codec reads it. Commit and prepare positions are equal for events that were written without a transaction. */
export const toRaw = ({ id, streamId, revision, type, data, metadata, position, created }: RecordedEvent): Raw => ({
  id,
  stream: streamId,
  revision,
  position: position!.commit,
  // the time of the decision, as on the other engines
  at: (metadata as { readonly at?: string } | undefined)?.at ?? created.toISOString(),
  type,
  data,
  metadata,
})

/** The events of a read as they arrive. Throws `TimedOut` when none arrives for `ms`: the client ignores the deadline of a read. */
export const eventsOf = async function* (
  call: StreamingRead<{ readonly event?: RecordedEvent }>,
  ms: number,
): AsyncGenerator<Raw> {
  // an error that arrives after the loop below has ended would end the process
  call.on('error', () => {})
  const timer = setTimeout(() => call.destroy(new TimedOut(`no event within ${Math.round(ms)} ms`)), ms)
  try {
    for await (const { event } of call) {
      timer.refresh()
      if (event) yield toRaw(event)
    }
  } finally {
    clearTimeout(timer)
    call.destroy()
    void call.cancel().catch(() => {})
  }
}
