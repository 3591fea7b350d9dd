import { randomUUID } from 'node:crypto'
import type { EventStore } from '../store.ts'

/** The id in the log's first event, which is written by whoever comes first. */
export const openLog = async (store: Pick<EventStore, 'append' | 'last'>): Promise<string> => {
  const opened = await store.last('log')
  if (opened?.type === 'LogOpened') return opened.data.logId
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
  return openLog(store)
}
