import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { type Appended, type EventStore, StoreUnavailable, type Write } from '../../src/events/store.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { openDouble } from '../support/engine.ts'
import { metadata } from '../support/events.ts'
import type { Double } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'

export const deleted = (id = 7): New<DomainEvent> => ({
  id: randomUUID(),
  type: 'LinkDeleted',
  data: { id },
  metadata: metadata(),
})

/** Returns a first write of `count` events to a new stream. */
export const write = (stream = `link-${randomUUID()}`, count = 1): Write => ({
  stream,
  expected: 'no_stream',
  events: Array.from({ length: count }, (_, n) => deleted(n)),
})

/** Settles with the outcome or the error of the work, and how long it took in ms. */
export const timed = async <T>(work: Promise<T>) => {
  const began = Date.now()
  const outcome = await work.catch((error: unknown) => error)
  return { outcome, ms: Date.now() - began }
}

/** Returns the ids of our events in the log, in its order. */
export const logged = (double: Double) => double.log.all.filter(({ type }) => !type.startsWith('$')).map(({ id }) => id)

export const appendAll = async (store: EventStore, count: number) => {
  for (let n = 0; n < count; n++) expect((await store.append([write()])).ok).to.equal(true)
}

/** Retries an append like a client that gets 503, for a server that has just come back. */
export const appendUntilStored = async (store: EventStore, one: Write, onGivenUp = () => {}): Promise<Appended> => {
  for (;;)
    try {
      return await store.append([one])
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      onGivenUp()
    }
}

/** Waits until a subscription has received the whole log, and expects each event once and in order. */
export const expectAllSeen = async (seen: readonly string[], double: Double, ms = 40_000) => {
  await until(
    async () => seen.length,
    (length) => length >= logged(double).length,
    ms,
  )
  expect(seen).to.deep.equal(logged(double))
}

/**
 * Sets up what the specs of a misbehaving EventStoreDB need. After each test it expects no unhandled rejection: one
 * would end a process.
 */
export const useEventStoreStage = () => {
  const stage = openStage()
  afterEach(stage.clear)
  const unhandled: unknown[] = []
  const collect = (error: unknown) => void unhandled.push(error)
  before(() => process.on('unhandledRejection', collect))
  after(() => process.off('unhandledRejection', collect))
  afterEach(() => expect(unhandled.splice(0)).to.deep.equal([]))

  return {
    later: stage.later,
    open: async (options: Parameters<typeof openDouble>[0] = {}) => {
      const opened = await openDouble(options)
      stage.later(opened.close)
      return opened
    },
    /** Subscribes to the domain events. Returns their ids, as they arrive. */
    follow: (store: EventStore, limit = 50): readonly string[] => {
      const stop = new AbortController()
      const seen: string[] = []
      const reading = (async () => {
        for await (const batch of store.subscribe({ after: 0n, filter: 'domain', limit, signal: stop.signal }))
          seen.push(...batch.map(({ id }) => id))
      })()
      stage.later(async () => {
        stop.abort()
        await reading
      })
      return seen
    },
  }
}

/** Returns the receipt of the newest event of a stream, once it is in a signed checkpoint. */
export const receiptOf = async (app: TestApp, key: string, stream: string) => {
  const { ordinals, store } = app.app.ledger
  const { position } = (await store.last(stream))!
  const ordinal = await until(
    async () => (await ordinals.of([position])).get(position),
    (found) => found !== undefined,
  )
  const receipt = await until(
    () => app.get(`/api/events/${ordinal}/proof`, { key }),
    ({ status }) => status === 200,
    30_000,
  )
  expect(receipt.status, receipt.text).to.equal(200)
  return { ordinal: ordinal!, ...receipt }
}
