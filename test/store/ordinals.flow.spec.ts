import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type pg from 'pg'
import { asStored, codec } from '../../src/events/codec.ts'
import { clickId, parseClickId } from '../../src/events/ordinals.ts'
import { type EventStore, readToHead } from '../../src/events/store.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { type Database, openDatabase, openPool } from '../../src/postgres/database.ts'
import { startExclusive } from '../../src/postgres/exclusive.ts'
import { openLocks } from '../../src/postgres/listen.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { ensureNumbering, numberEvents } from '../../src/store/numbering.ts'
import { type Ordinals, postgresOrdinals, tableOrdinals } from '../../src/store/ordinals.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { until } from '../support/client.ts'
import { migratedDatabase } from '../support/database.ts'
import { type Engine, eventStoreEngine, openEventStore } from '../support/engine.ts'
import { at, click, clicked, fresh, linkCreated } from '../support/events.ts'
import { memoryKeyring } from '../support/keyring.ts'

const options = { name: 'spec', max: 4, timeout: 5000, onError: () => {} }

const all = async (store: EventStore) => {
  const events: { readonly position: bigint; readonly at: string }[] = []
  for await (const batch of readToHead(store, { after: 0n, filter: 'all', limit: 100 })) events.push(...batch)
  return events
}

/** The contract of ordinals on every engine. The specs share a log, which other programs may have used before. */
const ordinalsContract = (name: string, open: () => { readonly store: EventStore; readonly ordinals: Ordinals }) =>
  describe(`ordinals: ${name}`, () => {
    const append = async (...seconds: readonly number[]) => {
      const { store, ordinals } = open()
      const stream = `link-${randomUUID()}`
      await store.append([
        { stream, expected: 'no_stream', events: seconds.map((n) => fresh(linkCreated(), 1, at(n))) },
        {
          stream: `clicks-${randomUUID()}`,
          expected: 'no_stream',
          events: [fresh(clicked(click()), null, at(seconds.at(-1)!))],
        },
      ])
      const count = (await all(store)).length
      await until(
        () => ordinals.head(),
        (head) => head >= count,
      )
      return count
    }

    it('numbers the events of all kinds from 0 in the order of the log', async () => {
      const { store, ordinals } = open()
      await append(1, 2, 3)
      const count = await append(4)
      const positions = (await all(store)).map(({ position }) => position)
      const found = await ordinals.of(positions)
      expect(positions.map((position) => found.get(position))).to.deep.equal([...Array(count).keys()])
      expect(await ordinals.head()).to.equal(count)
      for (const [ordinal, position] of [...positions.entries()].slice(-3))
        expect(await ordinals.positionOf(ordinal)).to.equal(position)
    })

    it('leaves out positions and ordinals that no event has', async () => {
      const { store, ordinals } = open()
      const count = await append(5)
      const last = (await all(store)).at(-1)!.position
      expect(await ordinals.of([])).to.deep.equal(new Map())
      expect([...(await ordinals.of([0n, last, last + 1000n])).keys()]).to.deep.equal([last])
      for (const ordinal of [-1, 0.5, Number.NaN, count, 2 ** 53])
        expect(await ordinals.positionOf(ordinal), String(ordinal)).to.equal(undefined)
      expect(await ordinals.timeOf(count)).to.equal(undefined)
    })

    it('finds the newest event up to a moment, by a clock that never goes back', async () => {
      const { ordinals } = open()
      const year = new Date().getUTCFullYear() + 1
      const later = (n: number) => Date.UTC(year, 0, 1, 0, 0, n) / 1000 - Date.parse(at(0)) / 1000
      // the last event but one was decided before the one that precedes it in the log
      const count = await append(later(10), later(20), later(15), later(30))
      const ordinalAt = async (n: number) => (await ordinals.lastAt(new Date(at(later(n)))))?.ordinal
      const first = count - 5
      expect(await ordinals.lastAt(new Date(0))).to.equal(undefined)
      expect(await ordinalAt(10)).to.equal(first)
      expect(await ordinalAt(19)).to.equal(first)
      expect(await ordinalAt(20)).to.equal(first + 2)
      expect(await ordinalAt(29)).to.equal(first + 2)
      expect(await ordinalAt(300)).to.equal(count - 1)
      expect(await ordinals.timeOf(first + 2)).to.equal(at(later(20)))
      const last = await ordinals.lastAt(new Date(at(later(300))))
      expect(last?.position).to.equal(await ordinals.positionOf(count - 1))
    })
  })

describe('ordinals', () => {
  let postgres: EventStore
  let eventstore: EventStore
  let engine: Engine
  let pool: pg.Pool
  let db: Database
  let stopNumbering: () => Promise<void>
  let connection: Awaited<ReturnType<typeof migratedDatabase>>
  const failures: unknown[] = []
  const start = () =>
    startExclusive({
      open: () => openLocks(connection, 'spec'),
      key: 1n,
      work: (signal) => numberEvents(db, eventstore, signal),
      onFailed: (error) => failures.push(error),
      interval: 20,
    })

  before(async () => {
    connection = await migratedDatabase()
    db = openDatabase(connection, options)
    await ensureNumbering(db)
    pool = openPool(connection, options)
    postgres = await postgresStore(pool, codec(memoryKeyring()), createSignal())
    engine = await openEventStore()
    eventstore = await eventStoreDb({ url: engine.url, prefix: engine.prefix, codec: asStored })
    stopNumbering = start()
  })
  after(async () => {
    await stopNumbering()
    await eventstore.close()
    await engine.close()
    await pool.end()
    await db.destroy()
    expect(failures).to.deep.equal([])
  })

  ordinalsContract('PostgreSQL', () => ({ store: postgres, ordinals: postgresOrdinals(db) }))
  ordinalsContract(eventStoreEngine, () => ({ store: eventstore, ordinals: tableOrdinals(db) }))

  it('continues after a restart, and begins again when the numbers are those of another log', async () => {
    const ordinals = tableOrdinals(db)
    const count = (await all(eventstore)).length
    await until(ordinals.head, (head) => head === count)
    await stopNumbering()
    const rows = () => db('read.ordinals').orderBy('ordinal')
    const before = await rows()
    await eventstore.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [fresh(linkCreated())] }])
    stopNumbering = start()
    const numbered = () =>
      until(
        () => ordinals.head(),
        (head) => head === count + 1,
      )
    expect(await numbered()).to.equal(count + 1)
    expect((await rows()).slice(0, -1)).to.deep.equal(before)
    await stopNumbering()
    await db('read.numbering').update({ event_id: randomUUID(), next: 3 })
    await db('read.ordinals').where('ordinal', '>', 2).delete()
    stopNumbering = start()
    expect(await numbered()).to.equal(count + 1)
    expect((await rows()).slice(0, -1)).to.deep.equal(before)
  })

  it('names a click by the ordinal of its event and its place in the batch', () => {
    expect(parseClickId(clickId(123456, 17))).to.deep.equal({ ordinal: 123456, index: 17 })
    for (const wrong of ['', '1', '1-', '-1', '01-2', '1-02', '1-2-3', '1-1000', '1.5-2', `${'9'.repeat(16)}-1`])
      expect(parseClickId(wrong), wrong).to.equal(undefined)
  })
})
