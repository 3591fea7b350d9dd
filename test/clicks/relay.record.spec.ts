import { expect } from 'chai'
import type { Classify } from '../../src/clicks/classify.ts'
import { type ClickRecordOptions, openClickRecord } from '../../src/clicks/record.ts'
import { type Relay, type RelayOptions, startRelay } from '../../src/clicks/relay.ts'
import { logSink } from '../../src/clicks/sink.ts'
import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import type { RelayedSpool } from '../../src/clicks/spool/earlier.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { until } from '../support/client.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { classify, entries, entry, linksOf, numbers, scriptedSpool, visit } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'

const stream = 'clicks-local-0'

describe(`a relay that records into the event log (${repeatable})`, () => {
  let store: EventStore
  let keyring: ReturnType<typeof memoryKeyring>
  const running: Relay[] = []
  beforeEach(async () => {
    keyring = memoryKeyring()
    store = await newMemoryStore()
  })
  afterEach(() => Promise.all(running.splice(0).map((relay) => relay.stop())))

  const start = (spool: RelayedSpool, over: Partial<RelayOptions & ClickRecordOptions> = {}) => {
    const options = { store, spool, keyring, log: 'local', partitions: 1, classify, onProblem: () => {}, ...over }
    const relay = startRelay({ ...options, sink: logSink(openClickRecord(options)) })
    running.push(relay)
    return relay
  }
  const recordedUpTo = async (relay: Relay, seq: number, partition = 0) =>
    expect(
      await until(
        async () => relay.state().deliveredUpTo[partition],
        (deliveredUpTo) => deliveredUpTo === seq,
        30_000,
      ),
    ).to.equal(seq)
  const recordedLinks = async (of = stream) => linksOf(await eventsOf(store, of))

  it('opens the click log, which fixes its number of partitions', async () => {
    await recordedUpTo(start(scriptedSpool('s', entries(1, 2)).spool, { partitions: 3 }), 2)
    const events = await eventsOf(store, stream)
    expect(events.map(({ type }) => type)).to.deep.equal(['ClickLogOpened', 'LinkClicked'])
    expect(events[0]?.data).to.deep.equal({ log: 'local', partitions: 3 })
  })

  it('records each partition in a stream of its own, with its own sequence numbers', async () => {
    const { spool } = scriptedSpool('s', [entry(1, { link: 10 }), entry(1, { link: 20 }, 1), entry(2, { link: 11 })])
    const relay = start(spool, { partitions: 2 })
    await recordedUpTo(relay, 1, 1)
    await recordedUpTo(relay, 2, 0)
    expect(await recordedLinks()).to.deep.equal([10, 11])
    expect(await recordedLinks('clicks-local-1')).to.deep.equal([20])
  })

  it('records nothing twice when the spool delivers a batch again, whole or in part', async () => {
    const { spool } = scriptedSpool('s', entries(1, 10), entries(1, 10), entries(5, 15), entries(1, 3), entries(14, 20))
    await recordedUpTo(start(spool), 20)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 20))
  })

  it('continues after a restart where the stream ends', async () => {
    const first = start(scriptedSpool('s', entries(1, 10)).spool)
    await recordedUpTo(first, 10)
    await first.stop()
    const { spool, readAfter } = scriptedSpool('s', entries(8, 12))
    await recordedUpTo(start(spool), 12)
    expect(readAfter[0]).to.deep.equal({ 0: 10 })
    expect(await recordedLinks()).to.deep.equal(numbers(1, 12))
  })

  it('keeps apart two spools that are recorded into one stream', async () => {
    await recordedUpTo(start(scriptedSpool('a', entries(1, 5)).spool), 5)
    await recordedUpTo(start(scriptedSpool('b', entries(1, 7)).spool), 7)
    expect(await recordedLinks()).to.deep.equal([...numbers(1, 5), ...numbers(1, 7)])
    expect((await store.last(stream))?.data).to.deep.include({ upTo: { a: 5, b: 7 } })
  })

  it('releases only recorded entries from the spool', async () => {
    const { spool, released } = scriptedSpool('s', entries(1, 10), entries(11, 15))
    const recorded: number[] = []
    const release: RelayedSpool['release'] = async (upTo) => {
      recorded.push((await recordedLinks()).length)
      await spool.release(upTo)
    }
    await recordedUpTo(start({ ...spool, release }, { confirmMs: 5 }), 15)
    await until(
      async () => released.at(-1),
      (upTo) => upTo?.[0] === 15,
    )
    for (const [i, upTo] of released.entries()) expect(upTo[0] ?? 0).to.be.at.most(recorded[i]!)
  })

  it('asks the log again before it releases an entry', async () => {
    const { spool, released } = scriptedSpool('s', entries(1, 10))
    const releasedBefore: number[] = []
    const confirm = async () => {
      releasedBefore.push(released.length)
      if (releasedBefore.length < 3) throw new StoreUnavailable('down')
    }
    const sink = { ...logSink(openClickRecord({ store, log: 'local', partitions: 1 })), confirm }
    running.push(startRelay({ spool, sink, keyring, classify, onProblem: () => {}, confirmMs: 5 }))
    await until(
      async () => released.at(-1),
      (upTo) => upTo?.[0] === 10,
    )
    expect(releasedBefore.slice(0, 3)).to.deep.equal([0, 0, 0])
  })

  it('records each click once when several relays deliver the same spool', async () => {
    const random = randomFrom(seed)
    const batches = () => {
      const cuts: SpoolEntry[][] = []
      for (let from = 1; from <= 300;) {
        const to = Math.min(300, from + random(40))
        cuts.push(entries(Math.max(1, from - random(30)), to))
        from = to + 1
      }
      return cuts
    }
    const slow: EventStore = {
      ...store,
      last: async (of) => {
        const last = await store.last(of)
        await new Promise((done) => setTimeout(done, random(4)))
        return last
      },
    }
    const racing = [1, 2, 3].map(() => start(scriptedSpool('s', ...batches()).spool, { store: slow }))
    for (const relay of racing) await recordedUpTo(relay, 300)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 300))
  })

  it('records each click once when it does not learn the outcome of an append', async () => {
    const random = randomFrom(seed)
    const problems: string[] = []
    let faults = long ? 8 : 4
    const unsure: EventStore = {
      ...store,
      append: async (writes) => {
        const [fails, isStored] = [writes[0]?.stream === stream && faults > 0 && random(3) > 0, random(2) === 0]
        if (!fails) return store.append(writes)
        faults--
        if (isStored) await store.append(writes)
        throw new StoreUnavailable('no answer')
      },
    }
    // every second entry is missing, so that a batch becomes many events, and a fault leaves it recorded in part
    const odd = entries(1, 40).filter(({ seq }) => seq % 2 === 1)
    const { spool } = scriptedSpool('s', odd.slice(0, 8), odd.slice(8, 16), odd.slice(16))
    const onProblem = (_: unknown, what: string) => void problems.push(what)
    await recordedUpTo(start(spool, { store: unsure, onProblem }), 39)
    expect(faults).to.equal(0)
    expect(await recordedLinks()).to.deep.equal(odd.map(({ seq }) => seq))
    const missing = (await eventsOf(store, stream)).flatMap(({ type, data }) =>
      type === 'ClicksMissing' ? [data.from] : [],
    )
    expect(missing).to.deep.equal(numbers(1, 39).filter((n) => n % 2 === 0))
    expect(problems).to.include('clicks wait in the spool')
  })

  it('reports a problem while it cannot record, and clears it afterwards', async () => {
    let isDown = true
    const failing: EventStore = {
      ...store,
      append: (writes) => (isDown ? Promise.reject(new StoreUnavailable('down')) : store.append(writes)),
    }
    const relay = start(scriptedSpool('s', entries(1, 3)).spool, { store: failing })
    expect(await until(async () => relay.state().problem, Boolean)).to.include('down')
    isDown = false
    await recordedUpTo(relay, 3)
    const problem = await until(
      async () => relay.state().problem,
      (text) => !text,
    )
    expect(problem).to.equal(undefined)
  })

  it('hashes visitors under the keys of their accounts, and unrecognizably once a key is destroyed', async () => {
    const visitors: string[] = []
    const hashing: Classify = (visit, hash) => {
      visitors.push(hash(visit.account, visit.address))
      return classify(visit, hash)
    }
    await keyring.forSealing(1)
    await keyring.forSealing(2)
    const given = [entry(1), entry(2), entry(3, { account: 2 }), entry(4, { address: '192.0.2.2' })]
    await recordedUpTo(start(scriptedSpool('s', given).spool, { classify: hashing }), 4)
    const [first, again, elsewhere, another] = visitors
    expect(first).to.match(/^[0-9a-f]{16}$/)
    expect(again).to.equal(first)
    expect(new Set([first, elsewhere, another])).to.have.property('size', 3)

    keyring.destroy(1)
    await recordedUpTo(start(scriptedSpool('s', [entry(5, visit(1))]).spool, { classify: hashing }), 5)
    expect(visitors[4])
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(first)
  })
})
