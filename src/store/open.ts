import { randomUUID } from 'node:crypto'
import { type New, systemMetadata } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'
import { OperatorError } from '../lib/operatorerror.ts'

/** The first event of a log. */
export type Opening = New<Event<'LogOpened'>>

/** The event store has a stream `log` that is not ours. */
export class ForeignLog extends OperatorError {
  override readonly name = 'ForeignLog'
}

/**
 * Returns the id of the log, from its first event. An empty log is opened with `opening`: a copy gets the one of its source, every other log
 * a new id. Of several processes that start on an empty log, one appends it. Throws `ForeignLog`.
 */
export const ensureLogOpened = async (
  store: Pick<EventStore, 'append' | 'last'>,
  opening = newOpening(),
): Promise<string> => {
  const readLogId = async () => {
    const event = await store.last('log')
    return event?.type === 'LogOpened' ? event.data.logId : undefined
  }
  const existing = await readLogId()
  if (existing !== undefined) return existing
  await store.append([{ stream: 'log', expected: 'no_stream', events: [opening] }])
  const logId = await readLogId()
  if (logId === undefined)
    throw new ForeignLog('the event store has a stream `log` of another program: use an event store of its own')
  return logId
}

const newOpening = (): Opening => ({
  id: randomUUID(),
  type: 'LogOpened',
  data: { logId: randomUUID() },
  metadata: systemMetadata(),
})
