import { randomUUID } from 'node:crypto'
import { codec } from '../src/events/codec.ts'
import type { New } from '../src/events/event.ts'
import type { DomainEvent } from '../src/events/index.ts'
import { createSignal } from '../src/lib/signal.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { migrate, openDatabase, openPool } from '../src/postgres/database.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { type Bench, count, type Line, median, perSecond } from './kit.ts'

const linkDeleted = (id: number): New<DomainEvent> => ({
  type: 'LinkDeleted',
  data: { id },
  id: randomUUID(),
  metadata: {
    v: 1,
    at: new Date().toISOString(),
    account: 7,
    actor: { kind: 'key', key: 'AbCdEfGhIjKl' },
    request: randomUUID(),
    command: randomUUID(),
  },
})

/** Measures appending an event to a new stream, compared with a plain insert of the same row without any check. */
export const append = async (bench: Bench): Promise<Line[]> => {
  const [runs, seconds] = [bench.size(5, 1), bench.size(2, 0.3)]
  const connection = await bench.database()
  const settings = { name: 'bench', timeout: 10_000, onError: () => {} }
  const db = openDatabase(connection, { ...settings, max: 2 })
  await migrate(db)
  await db.raw(`create table public.plain (
    position bigserial primary key, stream text not null, revision bigint not null, id uuid not null, type text not null,
    data json not null, metadata json not null, at timestamptz not null)`)
  const pool = openPool(connection, { ...settings, max: 8 })
  const plain = openPool(connection, { ...settings, max: 32 })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())

  let id = 0
  const byStore = async () => {
    const event = linkDeleted(++id)
    const appended = await store.append([{ stream: `link-${id}`, expected: 'no_stream', events: [event] }])
    if (!appended.ok) throw new Error('unexpected conflict: each stream is new')
  }
  const text = 'insert into plain (stream, revision, id, type, data, metadata, at) values ($1, $2, $3, $4, $5, $6, $7)'
  const byHand = async () => {
    const { type, data, metadata, ...event } = linkDeleted(++id)
    const values = [`link-${id}`, 0, event.id, type, JSON.stringify(data), JSON.stringify(metadata), metadata.at]
    await plain.query({ name: 'plain', text, values })
  }

  const lines: Line[] = []
  for (const writers of [1, 32]) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let run = 0; run <= runs; run++) {
      const rates = [await perSecond(writers, seconds, byHand), await perSecond(writers, seconds, byStore)] as const
      if (run === 0) continue // warm-up
      theirs.push(rates[0])
      ours.push(rates[1])
    }
    const ratio = median(ours.map((rate, i) => rate / (theirs[i] ?? 0)))
    const result = `${ratio.toFixed(2)} (${count(median(ours))}/s; inserts ${count(median(theirs))}/s)`
    lines.push({
      what: `b  appends / plain inserts, ${writers} writer${writers > 1 ? 's' : ''}`,
      result,
      target: '>= 0.50',
      met: ratio >= 0.5,
    })
  }
  await store.close()
  await pool.end()
  await plain.end()
  await db.destroy()
  return lines
}
