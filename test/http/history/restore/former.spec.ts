import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { handler } from '../../../../src/commands/handle.ts'
import { link } from '../../../../src/commands/links/link.ts'
import { snapshotInterval } from '../../../../src/commands/load.ts'
import type { Ordinals } from '../../../../src/events/ordinals.ts'
import type { EventStore } from '../../../../src/events/store.ts'
import { formerState, type RestoreBody } from '../../../../src/http/history/restore/restore.ts'
import type { Snapshot, SnapshotStore } from '../../../../src/security/snapshots.ts'
import { until } from '../../../support/client.ts'
import { fresh, linkCreated } from '../../../support/events.ts'
import { newMemoryStore } from '../../../support/writer.ts'

/** Snapshots of one stream, in memory. */
const memorySnapshots = () => {
  const stored = new Map<bigint, Snapshot>()
  const snapshots: SnapshotStore = {
    find: async (_, upTo = 1_000_000n) =>
      [...stored.values()]
        .filter(({ revision }) => revision <= upTo)
        .toSorted((a, b) => Number(b.revision - a.revision))[0],
    save: async (_, __, make) => {
      const snapshot = make()
      stored.set(snapshot.revision, snapshot)
    },
    drop: async () => stored.clear(),
  }
  return { stored, snapshots }
}

const changes = 3000
const titled = (n: number) => fresh({ type: 'LinkUpdated', data: { id: 1, changes: { title: `t${n}` } } })

describe('the former state of a restore', () => {
  let log: EventStore
  before(async () => {
    log = await newMemoryStore()
    const events = [fresh(linkCreated({ id: 1 })), ...Array.from({ length: changes }, (_, n) => titled(n + 1))]
    for (let from = 0; from < events.length; from += 500) {
      const expected = from === 0 ? 'no_stream' : BigInt(from - 1)
      await log.append([{ stream: 'link-1', expected, events: events.slice(from, from + 500) }])
    }
  })
  const ordinals = { positionOf: async (n: number) => BigInt(n) } as unknown as Ordinals
  const waiting = new AbortController()
  const by = (body: RestoreBody, account = 1, client = waiting) => ({
    account,
    body,
    from: `192.0.2.${account}`,
    gone: () => client.signal,
  })
  /** Reads a former state of the link from a log. */
  const read = (store: EventStore, asking: ReturnType<typeof by>, snapshots?: SnapshotStore) =>
    formerState(link, 1, asking, { handler: handler(store, snapshots), ordinals }, () => true)

  it('is read from the newest snapshot before it, not from the first change on', async () => {
    const { snapshots, stored } = memorySnapshots()
    await handler(log, snapshots).load(link, 1)
    await until(
      async () => stored.size,
      (size) => size >= changes / snapshotInterval,
    )
    let count = 0
    const counted: EventStore['read'] = async function* (...range) {
      for await (const event of log.read(...range)) {
        count++
        yield event
      }
    }
    const positions: bigint[] = []
    for await (const { position } of log.read('link-1')) positions.push(position)
    for (const revision of [changes, changes - 2, 1550, 101, 99, 3])
      for (const body of [{ revision }, { at: `event:${positions[revision]}` }]) {
        count = 0
        const found = await read({ ...log, read: counted }, by(body), snapshots)
        expect([found?.revision, found?.state.fields.title]).to.deep.equal([revision, `t${revision}`])
        // a moment is looked for among the changes
        expect(count, JSON.stringify(body)).to.be.at.most(snapshotInterval + 15)
      }
  })

  it('says how far the revisions go', async () => {
    const error = await read(log, by({ revision: changes + 7 })).catch((failure: Error) => failure)
    expect(error).to.deep.include({ status: 400 })
    expect((error as { problem?: object }).problem).to.deep.include({ params: { what: 'revision', max: changes } })
  })

  /** A log whose readers wait until they are let go. */
  const held = () => {
    let readers = 0
    let letGo = () => {}
    const free = new Promise<void>((resolve) => (letGo = resolve))
    const reading: EventStore['read'] = async function* (...range) {
      readers++
      await free
      yield* log.read(...range)
    }
    return { store: { ...log, read: reading }, readers: () => readers, letGo }
  }
  const settle = async () => {
    for (let n = 0; n < 20; n++) await nextTurn()
  }

  it('is read once at a time for an account and a network, and for others meanwhile', async () => {
    const { store, readers, letGo } = held()
    const many = Array.from({ length: 5 }, () => read(store, by({ revision: 5 }, 1)))
    await settle()
    expect(readers()).to.equal(1)
    const neighbour = read(store, { ...by({ revision: 5 }, 2), from: '192.0.2.1' })
    await settle()
    expect(readers()).to.equal(1)
    const other = read(store, by({ revision: 5 }, 3))
    await settle()
    expect(readers()).to.equal(2)
    letGo()
    const found = await Promise.all([...many, neighbour, other])
    expect(found.map((one) => one?.revision)).to.deep.equal(Array.from({ length: 7 }, () => 5))
  })

  it('is not read for a client that is gone before its turn, and no further for one that goes', async () => {
    const { store, readers, letGo } = held()
    const [first, second] = [new AbortController(), new AbortController()]
    const outcomes = [
      read(store, by({ revision: 2000 }, 1, first)),
      read(store, by({ revision: 2000 }, 1, second)),
    ].map((one) =>
      one.then(
        () => 'read',
        (error: Error) => error.name,
      ),
    )
    await settle()
    first.abort()
    second.abort()
    letGo()
    expect(await Promise.all(outcomes)).to.deep.equal(['Unavailable', 'Unavailable'])
    expect(readers()).to.equal(1)
  })
})
