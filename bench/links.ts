import { randomUUID } from 'node:crypto'
import { link } from '../src/commands/links/link.ts'
import { codec } from '../src/events/codec.ts'
import { systemMetadata } from '../src/events/event.ts'
import { createSignal } from '../src/lib/async/signal.ts'
import { openPool } from '../src/postgres/database.ts'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { memoryKeyring } from '../test/support/keyring.ts'

const perAppend = 500
/** id of the first link of a writer */
export const firstLink = 1_000_001

/**
 * Appends `LinkCreated` events to the log of a database, as fast as it takes them: of links with the aliases `a0`,
 * `a1`, …
 */
export const openLinkWriter = async (connection: EmbeddedConnection) => {
  const pool = openPool(connection, { name: 'bench', timeout: 60_000, max: 2, onError: () => {} })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  let next = 0
  const created = (account: number) => {
    const n = next++
    const id = firstLink + n
    const url = `https://example.com/some/long/path/${n}?utm_source=newsletter&utm_medium=email`
    const data = { id, account, ...link.initialState.fields, alias: `a${n}`, url, password: null, token: randomUUID() }
    const event = { type: 'LinkCreated', id: randomUUID(), data, metadata: systemMetadata(account) } as const
    return { stream: `link-${id}`, expected: 'no_stream', events: [event] } as const
  }
  return {
    /** Creates `count` links of an account. */
    write: async (account: number, count: number) => {
      for (let left = count; left > 0; left -= perAppend)
        await store.append(Array.from({ length: Math.min(left, perAppend) }, () => created(account)))
    },
    close: async () => {
      await store.close()
      await pool.end()
    },
  }
}
