import { randomUUID } from 'node:crypto'
import type { New } from '../events/event.ts'
import type { Event } from '../events/index.ts'
import type { EventStore } from '../events/store.ts'

/** The first event of a log. */
export type Opening = New<Event<'LogOpened'>>

/** The id in the log's first event, which is written by whoever comes first; a copy of a log begins as that did. */
export const ensureLogOpened = async (
  store: Pick<EventStore, 'append' | 'last'>,
  opening = newLog(),
): Promise<string> => {
  const opened = async () => {
    const event = await store.last('log')
    return event?.type === 'LogOpened' ? event.data.logId : undefined
  }
  const before = await opened()
  if (before !== undefined) return before
  await store.append([{ stream: 'log', expected: 'no_stream', events: [opening] }])
  const logId = await opened()
  if (logId === undefined)
    throw new Error('the event store has a stream `log` of another program: give this one its own')
  return logId
}

const newLog = (): Opening => {
  const metadata = {
    v: 1,
    at: new Date().toISOString(),
    account: null,
    actor: { kind: 'service' },
    request: '',
    command: randomUUID(),
  } as const
  return { id: randomUUID(), type: 'LogOpened', data: { logId: randomUUID() }, metadata }
}
