import { randomUUID } from 'node:crypto'
import type { New } from '../event.ts'
import type { Event } from '../index.ts'
import type { EventStore } from '../store.ts'

/** The first event of a log. */
export type Opening = New<Event<'LogOpened'>>

/** The id in the log's first event, which is written by whoever comes first; a copy of a log begins as that did. */
export const openLog = async (store: Pick<EventStore, 'append' | 'last'>, opening = newLog()): Promise<string> => {
  const opened = await store.last('log')
  if (opened?.type === 'LogOpened') return opened.data.logId
  await store.append([{ stream: 'log', expected: 'no_stream', events: [opening] }])
  return openLog(store)
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
