import { expect } from 'chai'
import { asStored } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { fillOnce } from '../../src/projections/engine/fill.ts'
import { projections } from '../../src/projections/index.ts'
import { createSchema } from '../../src/projections/engine/tables.ts'
import { memoryStore } from '../support/memorystore.ts'
import { freshDatabase } from '../support/database.ts'
import { silent } from '../support/projector.ts'
import { rowsOf, withClient } from './database.ts'
import { goldenCodec, goldenFiles, readGolden } from './golden.ts'

/** Adds a field that no release knows to the clicks of an event. */
const withMore = (data: unknown) =>
  typeof data === 'object' && data !== null && 'clicks' in data && Array.isArray(data.clicks)
    ? { ...data, clicks: data.clicks.map((click: object) => ({ ...click, more: { than: 'known' } })) }
    : data

/** Returns a log with all golden events. */
const goldenLog = async (): Promise<EventStore> => {
  const store = await memoryStore({ encode: asStored.encode, decode: goldenCodec.decode })
  for (const name of goldenFiles())
    for (const { stream, id, type, data, metadata } of (await readGolden(name)).events) {
      const revision = (await store.last(stream))?.revision
      const event = { id, type, data: withMore(data), metadata } as unknown as New<DomainEvent>
      // this log is open already
      if (stream !== 'log')
        expect(await store.append([{ stream, expected: revision ?? 'no_stream', events: [event] }])).to.include({
          ok: true,
        })
    }
  return store
}

describe('the tables of the golden events', () => {
  it('have every event that a projection handles, and the same bytes in batches and when the log is trusted', async () => {
    const store = await goldenLog()
    const connection = await freshDatabase()
    const db = openDatabase(connection, { name: 'spec', max: 4, timeout: 30_000, onError: () => {} })
    try {
      const halted: string[] = []
      const dump = async (schema: string, limit: number, trusted: boolean) => {
        await createSchema(db, schema)
        const own = projections.map((projection) => ({ ...projection, schema }))
        const options = { db, store, log: silent, instance: 'spec', limit, trusted }
        const table = await fillOnce(options, own, new AbortController().signal, {
          onHalted: (_, { message }) => void halted.push(message),
        })
        return withClient(connection, async (client) => {
          const rows: Record<string, unknown> = {}
          for (const name of projections.flatMap(({ tables }) => Object.keys(tables)))
            rows[name] = await rowsOf(client, table(name))
          return rows
        })
      }
      const first = await dump('replay_1', 2000, false)
      const [second, third] = [await dump('replay_2', 7, false), await dump('replay_3', 2000, true)]
      expect(halted).to.deep.equal([])
      expect(JSON.stringify(second)).to.equal(JSON.stringify(first))
      expect(JSON.stringify(third)).to.equal(JSON.stringify(first))
      expect(first).to.include.keys('links', 'clicks', 'reports')
      expect([first['links'], first['clicks']]).to.satisfy((all: unknown[][]) => all.every(({ length }) => length > 0))
    } finally {
      await db.destroy()
    }
  })
})
