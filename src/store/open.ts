import { randomUUID } from 'node:crypto'
import { type New, systemMetadata } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { ChangedByNewer, isUnknown } from '../events/unknown.ts'
import { OperatorError } from '../lib/operatorerror.ts'

/** The first event of a log. */
export type Opening = New<Event<'LogOpened'>>
/** The same, or how it is made if the log turns out to be empty. */
export type MakeOpening = Opening | (() => Promise<Opening>)

/** The event store has a stream `log` that is not ours. */
export class ForeignLog extends OperatorError {
  override readonly name = 'ForeignLog'
}

/**
 * Returns the id of the log, from its first event. An empty log is opened with `opening`: a copy gets the one of its
 * source, every other log a new id. Of several processes that start on an empty log, one appends it. Throws
 * `ForeignLog`, `ChangedByNewer`.
 */
export const ensureLogOpened = async (
  store: Pick<EventStore, 'append' | 'read'>,
  opening: MakeOpening = newOpening(),
): Promise<string> => {
  const readLogId = async () => {
    for await (const event of store.read('log', 0n, 1)) {
      if (isUnknown(event) && event.data.type === 'LogOpened') throw new ChangedByNewer('The event log')
      return event.type === 'LogOpened' ? event.data.logId : undefined
    }
    return undefined
  }
  const existing = await readLogId()
  if (existing !== undefined) return existing
  const first = typeof opening === 'function' ? await opening() : opening
  await store.append([{ stream: 'log', expected: 'no_stream', events: [first] }])
  const logId = await readLogId()
  if (logId === undefined)
    throw new ForeignLog('the event store has a stream `log` of another program: use an event store of its own')
  return logId
}

/** Returns the first event of a new log. `serviceKey` is the mark of the service key that belongs to it. */
export const newOpening = (serviceKey?: string): Opening => ({
  id: randomUUID(),
  type: 'LogOpened',
  data: { logId: randomUUID(), ...(serviceKey === undefined ? {} : { serviceKey }) },
  metadata: systemMetadata(),
})
