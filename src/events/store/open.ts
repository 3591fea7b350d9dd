import { randomUUID } from 'node:crypto'
import type { EventStore } from '../store.ts'

/** The id in the log's first event, which is written by whoever comes first. */
export const openLog = async (store: Pick<EventStore, 'append' | 'last'>): Promise<string> => {
  const opened = async () => {
    const event = await store.last('log')
    return event?.type === 'LogOpened' ? event.data.logId : undefined
  }
  const before = await opened()
  if (before !== undefined) return before
  const metadata = {
    v: 1,
    at: new Date().toISOString(),
    account: null,
    actor: { kind: 'service' },
    request: '',
    command: randomUUID(),
  } as const
  const event = { id: randomUUID(), type: 'LogOpened', data: { logId: randomUUID() }, metadata } as const
  await store.append([{ stream: 'log', expected: 'no_stream', events: [event] }])
  const logId = await opened()
  if (logId === undefined)
    throw new Error('the event store has a stream `log` of another program: give this one its own')
  return logId
}
