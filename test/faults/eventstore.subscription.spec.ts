import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { isTooSlow } from '../../src/store/eventstoredb/subscribe.ts'
import { until } from '../support/client.ts'
import { type Double, type Fault } from '../support/eventstoredb.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { appendAll, deleted, expectAllSeen, useEventStoreStage } from './eventstore.ts'

/** Makes the first subscriptions fail, each with one of the faults. */
const failSubscriptions = (double: Double, ...faults: readonly Fault[]) => {
  const left = [...faults]
  double.fail(({ kind }) => (kind === 'subscribe' ? left.shift() : undefined))
}

describe(`a subscription to an EventStoreDB (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const { later, open, follow } = useEventStoreStage()

  it('receives each event once when the server falls silent: it is opened again', async () => {
    // the long run uses the default, which checks every 5 s for a silence of 20 s
    const { double, store } = await open(long ? {} : { stall: 400 })
    let opened = 0
    double.fail(({ kind }) => {
      if (kind !== 'subscribe') return undefined
      return opened++ < 2 ? { after: random(5), is: 'silent' } : undefined
    })
    const seen = follow(store)
    await appendAll(store, 20)
    await expectAllSeen(seen, double, 35_000 * 2)
    expect(opened).to.be.at.least(3)
  })

  it('is opened again when the server never confirms it', async () => {
    const { double, store } = await open({ stall: 400 })
    failSubscriptions(double, 'silent')
    const seen = follow(store)
    await appendAll(store, 5)
    await expectAllSeen(seen, double)
    expect(double.calls.subscribe).to.be.at.least(2)
  })

  it('stays open while there is nothing to receive', async () => {
    const { double, store } = await open({ stall: 100, timeoutMs: 30_000 })
    const seen = follow(store)
    await appendAll(store, 2)
    await expectAllSeen(seen, double)
    const [subscribed, read] = [double.calls.subscribe, double.calls.read]
    double.log.system('$statsCollected')
    while (double.calls.read < read + 3) await sleep(50) // the head of the log is compared three times
    expect(double.calls.subscribe).to.equal(subscribed)
  })

  it('continues from the last event it received, not from a checkpoint beyond it', async () => {
    const { double, store } = await open()
    await appendAll(store, 3)
    failSubscriptions(double, 'checkpoint ahead', 'checkpoint ahead')
    const seen = follow(store)
    await expectAllSeen(seen, double)
    expect(double.calls.subscribe).to.equal(3)
  })

  it('receives each event once and in order when it is cut or ended again and again', async () => {
    const { double, store } = await open()
    double.fail(({ kind }) => {
      if (kind !== 'subscribe') return undefined
      return { after: random(60), is: random(2) ? 'cut' : 'ended' }
    })
    const seen = follow(store, 7)
    await appendAll(store, 300)
    await expectAllSeen(seen, double)
    expect(double.calls.subscribe, 'with at most 59 of 301 events each').to.be.above(5)
  })

  /**
   * Subscribes with a reader that stands still from its first batch on, while `count` events of some bytes are appended.
   * Returns the ids of what it has seen then, and the errors of subscriptions that were dropped.
   */
  const readSlowly = async (count: number, bytes: number) => {
    const dropped: unknown[] = []
    const { double, store } = await open({ onDropped: (error) => dropped.push(error) })
    const stop = new AbortController()
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const seen: string[] = []
    const reading = (async () => {
      for await (const batch of store.subscribe({ after: 0n, filter: 'domain', limit: 50, signal: stop.signal })) {
        seen.push(...batch.map(({ id }) => id))
        await held
      }
    })()
    later(async () => {
      stop.abort()
      release()
      await reading
    })
    await until(
      async () => seen.length,
      (length) => length > 0,
    )
    const token = 'x'.repeat(bytes)
    for (let n = 0; n < count; n++) {
      const event = { ...deleted(), type: 'ClaimFenced', data: { token } } as const
      await store.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [event] }])
    }
    release()
    await expectAllSeen(seen, double)
    return { double, dropped }
  }

  it('that is live is not dropped by the server when its reader is slow for a moment: it is read ahead', async () => {
    const { double, dropped } = await readSlowly(300, 3000)
    expect(dropped).to.deep.equal([])
    expect(double.calls.subscribe).to.equal(1)
  })

  it('that is live and dropped because its reader is far behind resumes at its position, and is no outage', async () => {
    const { dropped } = await readSlowly(150, 100_000)
    expect(dropped).to.have.length.above(0)
    expect(dropped.every(isTooSlow), String(dropped)).to.equal(true)
  })

  it('gives a slow reader batches of at most the limit, and holds back the server meanwhile', async () => {
    const { double, store } = await open()
    const large = () => ({ ...deleted(), type: 'ClaimFenced', data: { token: 'x'.repeat(200_000) } }) as const
    for (let n = 0; n < 200; n++)
      await store.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [large()] }])
    const stop = new AbortController()
    let [count, largest, ahead] = [0, 0, 0]
    for await (const batch of store.subscribe({ after: 0n, filter: 'domain', limit: 10, signal: stop.signal })) {
      if (count === 0) {
        // the server stops sending when the reader does not read on
        for (let before = -1; before !== double.sent(); await sleep(300)) before = double.sent()
        ahead = double.sent() - batch.length
      }
      largest = Math.max(largest, batch.length)
      count += batch.length
      if (count === 201) break
    }
    expect(count).to.equal(201)
    expect(largest).to.be.at.most(10)
    expect(ahead, 'events sent ahead of the reader').to.be.below(120)
  })
})
