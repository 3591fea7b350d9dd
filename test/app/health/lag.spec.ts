import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { secondsBehind, watchLag } from '../../../src/app/health/lag.ts'
import { codec, Unreadable } from '../../../src/events/codec.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { type EventStore, StoreUnavailable } from '../../../src/events/store.ts'
import { memoryStore } from '../../support/memorystore.ts'
import { until } from '../../support/client.ts'
import { memoryKeyring } from '../../support/keyring.ts'

const yesterday = new Date(Date.now() - 86_400_000).toISOString()

describe('the lag of the read tables', () => {
  let store: EventStore
  let stop = () => {}
  beforeEach(async () => (store = await memoryStore(codec(memoryKeyring()))))
  afterEach(() => stop())

  const append = async (...ids: readonly number[]) => {
    for (const id of ids) {
      const metadata = { ...systemMetadata(1), at: yesterday }
      const event = { id: randomUUID(), type: 'LinkDeleted', data: { id }, metadata } as const
      await store.append([{ stream: `link-${id}`, expected: 'no_stream', events: [event] }])
    }
  }
  const watch = (position: () => bigint | undefined, over: Partial<EventStore> = {}) => {
    const watching = watchLag({ store: { ...store, ...over }, positions: { domain: position }, interval: 5 })
    stop = watching.stop
    return () => watching.lag('domain')
  }

  it('is 0 when the tables have the newest event', async () => {
    await append(1, 2)
    const head = await store.head('domain')
    const lag = watch(() => head)
    expect(await until(async () => lag(), Boolean)).to.deep.equal({ positions: 0, seconds: 0, idleSeconds: 0 })
  })

  it('is found without a notification, and wakes the subscription that is behind, no other', async () => {
    const head = await store.head('domain')
    const woken: string[] = []
    let looks = 0
    const watching = watchLag({
      store: { ...store, head: (filter, signal) => (looks++, store.head(filter, signal)) },
      positions: { domain: () => head, clicks: () => 0n },
      onBehind: (filter) => woken.push(filter),
      interval: 5,
    })
    stop = watching.stop
    await until(
      async () => looks,
      (n) => n > 4,
    )
    expect(woken).to.deep.equal([])
    await append(1)
    await until(
      async () => woken.length,
      (n) => n > 1,
    )
    expect(new Set(woken)).to.deep.equal(new Set(['domain']))
  })

  it('counts from the oldest event that is not in the tables, and is 0 as soon as the position is reached', async () => {
    let position = await store.head('domain')
    await append(1, 2, 3)
    const lag = watch(() => position)
    const behind = await until(async () => lag(), Boolean)
    expect(behind?.positions).to.equal(3)
    expect(behind?.seconds).to.be.at.least(86_400).and.below(90_000)
    position = await store.head('domain')
    expect(lag()).to.deep.equal({ positions: 0, seconds: 0, idleSeconds: 0 })
  })

  it('reports how long the tables have not moved while there are events to read', async () => {
    let position = await store.head('domain')
    await append(1, 2, 3)
    const lag = watch(() => position)
    const idle = (await until(
      async () => lag()?.idleSeconds ?? 0,
      (seconds) => seconds > 0.02,
    ))!
    expect(idle).to.be.above(0.02)
    position += 1n
    expect(lag()?.idleSeconds).to.equal(0)
    expect(lag()?.positions).to.equal(2)
  })

  it('is answered at once while the log does not answer, and keeps growing', async () => {
    await append(1)
    let asked = 0
    const position = (await store.head('domain')) - 1n
    const silent = () => new Promise<bigint>(() => {})
    const lag = watch(() => position, { head: (filter) => (asked++ === 0 ? store.head(filter) : silent()) })
    const first = (await until(async () => lag(), Boolean))!
    await until(
      async () => asked,
      (n) => n > 1,
    )
    const later = await until(
      async () => lag()!,
      ({ seconds }) => seconds > first.seconds,
    )
    expect(later.positions).to.equal(1)
    expect(later.seconds).to.be.above(first.seconds)
  })

  it('reads one event at most for each look, however many there are to apply', async () => {
    await append(...Array.from({ length: 200 }, (_, n) => n + 1))
    const read: number[] = []
    let looks = 0
    const lag = watch(() => 1n, {
      head: (filter) => (looks++, store.head(filter)),
      subscribe: async function* (options) {
        for await (const events of store.subscribe(options)) {
          read.push(events.length)
          yield events
        }
      },
    })
    await until(
      async () => looks,
      (n) => n > 5,
    )
    expect(lag()?.positions).to.equal(200)
    expect(read).to.deep.equal([1])
  })

  it('is known to statistics when the oldest event cannot be read, and not while the log does not answer', async () => {
    await append(1)
    const position = await store.head('domain')
    expect(await secondsBehind(store, 'domain', position)).to.equal(0)
    expect(await secondsBehind(store, 'domain', position - 1n)).to.be.within(86_400, 90_000)
    const failing = (error: Error): EventStore['subscribe'] =>
      async function* () {
        yield* []
        throw error
      }
    const raw = { id: randomUUID(), position, stream: 'link-1', revision: 0n, type: 'LinkDeleted', at: yesterday }
    const unreadable = new Unreadable({ ...raw, data: {}, metadata: {} }, 'damaged')
    const behind = (over: Partial<EventStore>) => secondsBehind({ ...store, ...over }, 'domain', position - 1n, 10)
    expect(await behind({ subscribe: failing(unreadable) })).to.be.within(86_400, 90_000)
    expect(await behind({ subscribe: failing(new StoreUnavailable('no answer')) })).to.equal(null)
    expect(await behind({ head: () => new Promise<bigint>(() => {}) })).to.equal(null)
  })
})
