import { expect } from 'chai'
import { asStored, type Codec, codec } from '../../src/events/codec.ts'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { copyLog, NotACopy } from '../../src/store/copy.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { memoryStore } from '../support/memorystore.ts'
import type { Opening } from '../../src/store/open.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { openPool } from '../../src/postgres/database.ts'
import { migratedDatabase } from '../support/database.ts'
import { fresh } from '../support/events.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { randomFrom, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of closing.splice(0).toReversed()) await step()
})

/** A target, which can be opened several times. */
type Place = (opening?: Opening, as?: Codec) => Promise<EventStore>
const onPostgres = async (): Promise<Place> => {
  const connection = await migratedDatabase()
  const options = { name: 'copy', max: 2, timeout: 30_000, onError: () => {} }
  return async (opening, as = asStored) => {
    const pool = openPool(connection, options)
    closing.push(() => pool.end())
    return postgresStore(pool, as, createSignal(), opening ? { opening } : {})
  }
}
const onEventStoreDb = async (): Promise<Place> => {
  // always the stand-in: a copy needs an empty log, and the log of a real server is not
  const server = await startDouble()
  closing.push(server.close)
  return async (opening, as = asStored) => {
    const store = await eventStoreDb({ url: server.url, codec: as, opening })
    closing.push(store.close)
    return store
  }
}
const opening = async (log: EventStore) => (await log.last('log')) as Opening

/** Appends hundreds of events to alternating streams, one to three at a time. */
const fill = async (from: EventStore, count = 700) => {
  const random = randomFrom(seed)
  const revisions = new Map<string, bigint>()
  for (let n = 0; n < count;) {
    const stream = `link-${random(40)}`
    const events = Array.from({ length: 1 + random(3) }, () => deleted(n++))
    const expected = revisions.get(stream) ?? 'no_stream'
    expect(await from.append([{ stream, expected, events }])).to.include({ ok: true })
    revisions.set(stream, (expected === 'no_stream' ? -1n : expected) + BigInt(events.length))
  }
}
const deleted = (id: number): New<DomainEvent> => fresh({ type: 'LinkDeleted', data: { id } })
const failure = (done: Promise<unknown>) =>
  done.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as Error,
  )

for (const [name, open] of Object.entries({ PostgreSQL: onPostgres, EventStoreDB: onEventStoreDb }))
  describe(`a log copied to ${name} (SEED=${seed})`, () => {
    let source: EventStore
    let place: Place
    beforeEach(async () => {
      source = await memoryStore(asStored)
      place = await open()
    })
    const target = async () => place(await opening(source))

    it('has the same events, and can be copied again', async () => {
      await fill(source)
      const copy = await target()
      expect(copy.logId).to.equal(source.logId)
      const events = await copyLog(source, copy)
      expect(events).to.be.at.least(700)
      expect(await copyLog(source, copy), 'and once more').to.equal(events)
    })

    it('is completed after an interruption', async () => {
      await fill(source)
      const copy = await target()
      let left = 5
      const appended: number[] = []
      const breaking: EventStore = {
        ...copy,
        append: async (writes) => {
          if (left-- === 0) throw new Error('the line was cut')
          appended.push(writes.length)
          return copy.append(writes)
        },
      }
      expect((await failure(copyLog(source, breaking))).message).to.equal('the line was cut')
      expect(await copyLog(source, await target())).to.be.at.least(700)
    })

    it('is refused by a target with another log', async () => {
      await fill(source, 10)
      const other = await memoryStore(asStored)
      const copy = await place(await opening(other))
      const error = await failure(copyLog(source, copy))
      expect(error).to.be.instanceOf(NotACopy)
      expect(error.message).to.match(/^the target holds another log .*: use an empty target$/)
    })

    it('fails when the target has events of its own', async () => {
      await fill(source, 10)
      const copy = await target()
      await copyLog(source, copy)
      await copy.append([{ stream: 'link-100', expected: 'no_stream', events: [deleted(1)] }])
      expect((await failure(copyLog(source, copy))).message).to.match(/^the target holds more than this log: event \d+/)
      await source.append([{ stream: 'link-100', expected: 'no_stream', events: [deleted(1), deleted(2)] }])
      expect((await failure(copyLog(source, copy))).message).to.match(
        /^\S+ is at revision \d+ in the target, which holds events that are not in this log/,
      )
    })

    it('fails when an event in the target differs', async () => {
      await fill(source, 30)
      const copy = await target()
      const changed: EventStore = {
        ...copy,
        append: (writes) =>
          copy.append(
            writes.map((write) => ({
              ...write,
              events: write.events.map((event) =>
                event.type === 'LinkDeleted' && event.data.id === 20 ? { ...event, data: { id: 21 } } : event,
              ),
            })),
          ),
      }
      expect((await failure(copyLog(source, changed))).message).to.match(
        /^event \d+ \(LinkDeleted, link-\d+@\d+\) differs from event \d+ .* in the target/,
      )
    })

    it('stays sealed, so that copying needs no keys', async () => {
      const keys = memoryKeyring()
      const from = await onPostgres()
      const data = {
        id: 1,
        email: 'ann@example.com',
        username: 'ann s',
        password: 'p',
        emailToken: 'e',
        usernameToken: 'u',
      }
      const registered: New<DomainEvent> = { ...deleted(1), type: 'AccountRegistered', data }
      const opened = await from(undefined, codec(keys))
      await opened.append([{ stream: 'account-1', expected: 'no_stream', events: [registered] }])

      await copyLog(await from(), await place(await opening(opened)))
      const stored = await (await place()).last('account-1')
      // a sealed text has no space and no `@`, and so does not contain these by chance
      expect(JSON.stringify(stored?.data)).not.to.match(/ann[ @]/)
      const read = await (await place(undefined, codec(keys))).last('account-1')
      expect(read?.data).to.deep.equal(data)
    })
  })
