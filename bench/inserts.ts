import { randomUUID } from 'node:crypto'
import { codec } from '../src/events/codec.ts'
import type { New } from '../src/events/event.ts'
import type { DomainEvent } from '../src/events/index.ts'
import { createSignal } from '../src/lib/async/signal.ts'
import { openPool } from '../src/postgres/database.ts'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { memoryKeyring } from '../test/support/keyring.ts'

/** Returns an event of a link, as a command makes it. */
export const linkDeleted = (id: number): New<DomainEvent> => ({
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

const table = `create table public.plain (
  position bigserial primary key, stream text not null, revision bigint not null, id uuid not null, type text not null,
  data json not null, metadata json not null, at timestamptz not null)`
const text = 'insert into plain (stream, revision, id, type, data, metadata, at) values ($1, $2, $3, $4, $5, $6, $7)'

/**
 * The least that a durable write can do, to compare with: the row of an event is inserted, in a transaction of its own,
 * without any check.
 */
export const openInserts = async (connection: EmbeddedConnection, writers: number) => {
  const pool = openPool(connection, { name: 'bench', max: writers, timeout: 10_000, onError: () => {} })
  await pool.query(table)
  let id = 0
  return {
    insert: async () => {
      const { type, data, metadata, ...event } = linkDeleted(++id)
      const values = [`link-${id}`, 0, event.id, type, JSON.stringify(data), JSON.stringify(metadata), metadata.at]
      await pool.query({ name: 'plain', text, values })
    },
    close: () => pool.end(),
  }
}

/** Appends events to the log through the store, each to a stream of its own. */
export const openAppends = async (connection: EmbeddedConnection) => {
  const pool = openPool(connection, { name: 'bench', max: 8, timeout: 10_000, onError: () => {} })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  let id = 0
  return {
    append: async () => {
      const event = linkDeleted(++id)
      const appended = await store.append([{ stream: `link-${event.id}`, expected: 'no_stream', events: [event] }])
      if (!appended.ok) throw new Error('unexpected conflict: each stream is new')
    },
    close: async () => {
      await store.close()
      await pool.end()
    },
  }
}
