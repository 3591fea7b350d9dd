import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type pg from 'pg'
import { asStored, codec } from '../../src/events/codec.ts'
import { type EventStore, readToHead } from '../../src/events/store.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { memoryStore } from '../support/memorystore.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { recentClicks } from '../../src/store/postgres/recent.ts'
import { openPool } from '../../src/postgres/database.ts'
import { until } from '../support/client.ts'
import { migratedDatabase } from '../support/database.ts'
import { type Engine, eventStoreEngine, openDouble, openEventStore } from '../support/engine.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { click, clicked, fresh, linkCreated, metadata } from '../support/events.ts'
import { collect, storeContract } from './store.contract.ts'

const options = { name: 'spec', max: 4, timeout: 5000, onError: () => {} }

describe('event stores', () => {
  let memory: EventStore
  let postgres: EventStore
  let eventstore: EventStore
  let engine: Engine
  let alone: Awaited<ReturnType<typeof openDouble>>
  let pool: pg.Pool
  const keyring = memoryKeyring()

  before(async () => {
    pool = openPool(await migratedDatabase(), options)
    memory = await memoryStore(codec(memoryKeyring()))
    postgres = await postgresStore(pool, codec(keyring), createSignal())
    engine = await openEventStore()
    const { url, prefix } = engine
    eventstore = await eventStoreDb({ url, prefix, codec: codec(memoryKeyring()) })
    alone = await openDouble()
  })
  after(async () => {
    await eventstore.close()
    await alone.close()
    await engine.close()
    await pool.end()
  })

  storeContract('memory', () => memory, { gapless: true, atomic: true })
  storeContract('PostgreSQL', () => postgres, { gapless: true, atomic: true })
  storeContract(eventStoreEngine, () => eventstore, { gapless: false, atomic: false })
  storeContract('EventStoreDB that no other uses, a stand-in', () => alone.store, { gapless: false, atomic: false })

  describe('the store on PostgreSQL', () => {
    const deleted = (id: number) =>
      ({ id: randomUUID(), type: 'LinkDeleted', data: { id }, metadata: metadata() }) as const

    it('never stores a time before that of the previous event', async () => {
      const s = `link-${randomUUID()}`
      const past = { ...metadata(), at: '2001-01-01T00:00:00.000Z' }
      await postgres.append([
        { stream: s, expected: 'no_stream', events: [deleted(1), { ...deleted(2), metadata: past }] },
      ])
      await postgres.append([{ stream: s, expected: 1n, events: [{ ...deleted(3), metadata: past }] }])
      const times = (await collect(postgres.read(s))).map((e) => e.at)
      expect(times).to.deep.equal(times.toSorted())
    })

    it('returns events of types that only a newer release knows as they are stored, if it reads as stored', async () => {
      const raw = await postgresStore(pool, asStored, createSignal())
      const before = await postgres.head('domain')
      const newer = { ...deleted(1), type: 'LinkRaptured' } as unknown as ReturnType<typeof deleted>
      const appended = await raw.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [newer] }])
      expect(appended).to.include({ ok: true })
      expect((await raw.head('all')) > before).to.equal(true)
      await postgres.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [deleted(2)] }])
      const stop = new AbortController()
      const follow = { after: before, limit: 10, signal: stop.signal }
      for await (const events of postgres.subscribe({ ...follow, filter: 'domain' })) {
        expect(events.map(({ type }) => type)).to.deep.equal(['Unknown', 'LinkDeleted'])
        break
      }
      for await (const events of raw.subscribe({ ...follow, filter: 'all' })) {
        expect(events.map(({ type }) => String(type))).to.deep.equal(['LinkRaptured', 'LinkDeleted'])
        break
      }
      stop.abort()
    })

    it('fetches full click events a few at a time, for every limit', async () => {
      const large = new Set<number>()
      const counted = Object.create(pool) as pg.Pool
      counted.query = (async (statement: pg.QueryConfig) => {
        const found = await pool.query<{ readonly data?: string | null }>(statement)
        large.add(found.rows.reduce((sum, { data }) => sum + (data?.length ?? 0), 0))
        return found
      }) as typeof counted.query
      const store = await postgresStore(counted, codec(keyring), createSignal())
      const before = await store.head('clicks')
      const s = `clicks-large-${randomUUID()}`
      const full = clicked(
        ...Array.from({ length: 500 }, (_, i) => click({ link: i, visitor: randomUUID().slice(0, 8) })),
      )
      const count = 120
      for (let n = 0; n < count; n++)
        await store.append([{ stream: s, expected: n === 0 ? 'no_stream' : BigInt(n - 1), events: [fresh(full)] }])
      let read = 0
      for await (const batch of readToHead(store, { after: before, filter: 'clicks', limit: 2000 }))
        read += batch.length
      expect(read).to.equal(count)
      expect(await collect(store.read(s))).to.have.length(count)
      expect(Math.max(...large)).to.be.below(8 * 1024 * 1024)
    })

    it('does not fetch batches of clicks that this process has just appended, except to verify the log', async () => {
      const fetched = new Map<string, (string | null)[]>()
      const counted = Object.create(pool) as pg.Pool
      counted.query = (async (statement: pg.QueryConfig) => {
        const found = await pool.query<{ readonly data: string | null }>(statement)
        fetched.set(
          statement.name ?? '',
          found.rows.map(({ data }) => data),
        )
        return found
      }) as typeof counted.query
      const recent = recentClicks()
      const store = await postgresStore(counted, codec(keyring), createSignal(), { recent })
      const stored = await postgresStore(counted, asStored, createSignal(), { recent })
      const postgresOther = await postgresStore(pool, codec(keyring), createSignal())
      const storedOther = await postgresStore(pool, asStored, createSignal())
      const after = await store.head('all')
      const append = (to: EventStore, event: Parameters<typeof fresh>[0]) =>
        to.append([{ stream: `clicks-${randomUUID()}`, expected: 'no_stream', events: [fresh(event)] }])
      await append(store, clicked(click({ link: 1 }), click({ referrer: 'é "\u0000\ud800.example' })))
      await append(store, linkCreated())
      await append(postgres, clicked(click({ link: 2 })))
      const readAll = async (of: Pick<EventStore, 'head' | 'subscribe'>, filter: 'all' | 'clicks') =>
        (await collect(readToHead(of, { after, filter, limit: 10 }))).flat()

      const own = await readAll(store, 'clicks')
      expect(fetched.get('subscribe-clicks')?.map((data) => data === null)).to.deep.equal([true, false])
      expect(own).to.deep.equal(await readAll(postgresOther, 'clicks'))
      const asTheyAre = await readAll(stored, 'all')
      expect(fetched.get('subscribe-all')?.map((data) => data === null)).to.deep.equal([true, false, false])
      expect(asTheyAre).to.deep.equal(await readAll(storedOther, 'all'))
      await collect(readToHead({ head: store.head, subscribe: stored.texts! }, { after, filter: 'all', limit: 10 }))
      expect(fetched.get('subscribe-all')).not.to.include(null)
    })

    it('reads the log once for an append, only in the subscription that it concerns', async () => {
      const reads: string[] = []
      const counted = Object.create(pool) as pg.Pool
      counted.query = ((statement: pg.QueryConfig) => {
        if (statement.name?.startsWith('subscribe-')) reads.push(statement.name)
        return pool.query(statement)
      }) as typeof counted.query
      const [appended, stop] = [createSignal(), new AbortController()]
      const store = await postgresStore(counted, codec(keyring), appended)
      const after = await store.head('all')
      const seen = { domain: 0, clicks: 0 }
      const reading = (['domain', 'clicks'] as const).map(async (filter) => {
        for await (const batch of store.subscribe({ after, filter, limit: 100, signal: stop.signal }))
          seen[filter] += batch.length
      })
      await until(
        async () => reads.length,
        (n) => n === 2,
      )
      const add = async (kind: keyof typeof seen) => {
        const event = kind === 'clicks' ? clicked(click()) : linkCreated()
        const expected = seen[kind] + 1
        await store.append([{ stream: `${kind}-${randomUUID()}`, expected: 'no_stream', events: [fresh(event)] }])
        await until(
          async () => seen[kind],
          (n) => n === expected,
        )
      }
      await add('domain')
      await add('clicks')
      await add('domain')
      expect(reads.filter((name) => name === 'subscribe-domain')).to.have.length(3)
      expect(reads.filter((name) => name === 'subscribe-clicks')).to.have.length(2)
      // the periodic look does not say what it is about
      appended.notify()
      await until(
        async () => reads.length,
        (n) => n === 7,
      )
      expect(reads).to.have.length(7)
      stop.abort()
      await Promise.all(reading)
    })

    it('stores personal data sealed, and returns null once its key is destroyed', async () => {
      const s = `account-${randomUUID()}`
      const data = {
        id: 9,
        email: 'canary@example.com',
        username: 'canary',
        password: 'scrypt$hash',
        emailToken: 't',
        usernameToken: 'u',
      }
      await postgres.append([
        {
          stream: s,
          expected: 'no_stream',
          events: [{ id: randomUUID(), type: 'AccountRegistered', data, metadata: metadata(9) }],
        },
      ])
      const { rows } = await pool.query<{ data: object }>('select data::text from log.events where stream = $1', [s])
      expect(JSON.stringify(rows)).not.to.match(/canary|scrypt/)
      keyring.destroy(9)
      expect((await postgres.last(s))?.data).to.deep.equal({ ...data, email: null, username: null, password: null })
    })
  })
})
