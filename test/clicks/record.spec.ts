import { expect } from 'chai'
import { toEvents } from '../../src/clicks/batch.ts'
import type { ClickEntry } from '../../src/clicks/entry.ts'
import { type PartitionState, TopicReplaced } from '../../src/clicks/partition.ts'
import { type ClickRecordOptions, openClickRecord } from '../../src/clicks/record.ts'
import { logSink, logSinkWithoutGaps } from '../../src/clicks/sink.ts'
import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import type { Spool } from '../../src/clicks/spool/spool.ts'
import type { Visit } from '../../src/clicks/visit.ts'
import { type Relay, type RelayOptions, startRelay } from '../../src/clicks/relay.ts'
import type { Classified, ClickEvent } from '../../src/events/click.ts'
import { codec } from '../../src/events/codec.ts'
import { events as schemas } from '../../src/events/index.ts'
import { type EventStore, StoreUnavailable } from '../../src/events/store.ts'
import { memoryStore } from '../../src/store/memory.ts'
import { until } from '../support/client.ts'
import { at, click } from '../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { entries, entry, scriptedSpool, visit } from '../support/spool.ts'
import { eventsOf as stored } from '../support/writer.ts'

/** A visit as a click, without a look at who it was. */
const classify = ({ link, account, destination, agent, at }: Visit): Classified => ({
  ...click({ link, account, at }),
  destination,
  agent,
})
/** Entries of the spool `s`, or of the one named, on their way to the log. */
const onTheWay = (given: readonly SpoolEntry[], spool = 's', rules = 1): ClickEntry[] =>
  given.map((one) => ({
    spool,
    seq: one.seq,
    ...('visit' in one ? { click: classify(one.visit), rules } : { dropped: one.dropped }),
  }))
const cut = (given: readonly SpoolEntry[], upTo: PartitionState['upTo'] = {}) => toEvents({ upTo }, onTheWay(given))
const linksOf = (events: readonly { type: string; data: unknown }[]) =>
  events.flatMap((event) =>
    event.type === 'LinkClicked'
      ? (event as Extract<ClickEvent, { type: 'LinkClicked' }>).data.clicks.map(({ link }) => link)
      : [],
  )
const numbers = (from: number, to: number) => entries(from, to).map(({ seq }) => seq)

describe('spool entries as events', () => {
  it('are one event of clicks, in their order, with the last number taken', () => {
    const events = cut(entries(1, 3))
    expect(events).to.have.length(1)
    expect(linksOf(events)).to.deep.equal([1, 2, 3])
    expect(events[0]?.data).to.deep.include({ upTo: { s: 3 } })
  })

  it('are events that the log takes', () => {
    const dropped = { partition: 0, seq: 5, dropped: { count: 2, from: at(1), to: at(2) } }
    for (const { type, data } of cut([entry(1), entry(3), dropped]))
      expect(schemas[type].parse(data)).to.deep.equal(data)
  })

  it('name each destination and each user agent once in a batch', () => {
    const [event] = cut([
      entry(1, { destination: 'https://a.example/', agent: 'Firefox' }),
      entry(2, { destination: 'https://b.example/', agent: 'Firefox' }),
      entry(3, { destination: 'https://a.example/', agent: 'Safari' }),
    ])
    expect(event?.type === 'LinkClicked' && event.data).to.deep.include({
      destinations: ['https://a.example/', 'https://b.example/'],
      agents: ['Firefox', 'Safari'],
    })
    expect(event?.type === 'LinkClicked' && event.data.clicks.map((c) => [c.destination, c.agent])).to.deep.equal([
      [0, 0],
      [1, 0],
      [0, 1],
    ])
  })

  it('start with new dictionaries in each batch', () => {
    const events = cut([...entries(1, 500), entry(501, { agent: 'Safari' })])
    expect(events.map((event) => event.type === 'LinkClicked' && event.data.agents)).to.deep.equal([
      ['Firefox'],
      ['Safari'],
    ])
  })

  it('are cut after 500 clicks', () => {
    const events = cut(entries(1, 1200))
    expect(events.map((event) => linksOf([event]).length)).to.deep.equal([500, 500, 200])
    expect(events.map(({ data }) => 'upTo' in data && data.upTo)).to.deep.equal([{ s: 500 }, { s: 1000 }, { s: 1200 }])
    expect(linksOf(events)).to.deep.equal(numbers(1, 1200))
  })

  it('are cut before 256 KiB', () => {
    const path = 'x'.repeat(2000)
    const events = cut(
      entries(1, 400).map(({ seq }) => entry(seq, { destination: `https://example.com/${seq}/${path}` })),
    )
    const sizes = events.map(({ data }) => Buffer.byteLength(JSON.stringify(data)))
    expect(Math.max(...sizes)).to.be.at.most(256 * 1024)
    expect(
      events
        .map((event) => linksOf([event]).length)
        .slice(0, -1)
        .every((n) => n > 100),
    ).to.equal(true)
    expect(linksOf(events)).to.deep.equal(numbers(1, 400))
  })

  it('tell a hole: what never arrived, at the start, in the middle, after what was taken before', () => {
    const missing = (from: number, to: number, upTo = to) => ({
      type: 'ClicksMissing',
      data: { spool: 's', from, to, upTo: { s: upTo } },
    })
    expect(cut([entry(4)])[0]).to.deep.equal(missing(1, 3))
    const middle = cut([entry(1), entry(2), entry(5), entry(6)])
    expect(middle.map(({ type }) => type)).to.deep.equal(['LinkClicked', 'ClicksMissing', 'LinkClicked'])
    expect(middle[0]?.data).to.deep.include({ upTo: { s: 2 } })
    expect(middle[1]).to.deep.equal(missing(3, 4))
    expect(middle[2]?.data).to.deep.include({ upTo: { s: 6 } })
    expect(cut([entry(12)], { s: 9 })[0]).to.deep.equal(missing(10, 11))
    expect(cut([entry(10)], { s: 9 }).map(({ type }) => type)).to.deep.equal(['LinkClicked'])
  })

  it('tell clicks that were dropped, between the clicks before and after', () => {
    const dropped = { count: 7, from: at(1), to: at(2) }
    const events = cut([entry(1), { partition: 0, seq: 2, dropped }, entry(3)])
    expect(events.map(({ type }) => type)).to.deep.equal(['LinkClicked', 'ClicksDropped', 'LinkClicked'])
    expect(events[1]?.data).to.deep.equal({ spool: 's', ...dropped, upTo: { s: 2 } })
  })

  it('keep what was taken from other spools', () => {
    expect(cut([entry(1)], { other: 8 })[0]?.data).to.deep.include({ upTo: { other: 8, s: 1 } })
  })

  it('come to nothing when there are none', () => {
    expect(cut([])).to.deep.equal([])
  })

  it('are cut where the rules of classification change', () => {
    const events = toEvents({ upTo: {} }, [...onTheWay(entries(1, 2)), ...onTheWay(entries(3, 3), 's', 2)])
    expect(events.map((event) => event.type === 'LinkClicked' && event.data.rules)).to.deep.equal([1, 2])
  })

  it('of several spools count for themselves, and those that come again are passed over', () => {
    const events = toEvents({ upTo: { a: 1 } }, [
      ...onTheWay(entries(1, 2), 'a'),
      ...onTheWay(entries(1, 1), 'b'),
      ...onTheWay(entries(1, 3), 'a'),
    ])
    expect(linksOf(events)).to.deep.equal([2, 1, 3])
    expect(events.at(-1)?.data).to.deep.include({ upTo: { a: 3, b: 1 } })
  })

  it('keep where the last message of Kafka stood, also when what follows comes another way', () => {
    const [one, two] = onTheWay(entries(1, 2))
    const [event] = toEvents({ upTo: {} }, [
      { ...one!, offset: 7 },
      { ...two!, offset: 9 },
    ])
    expect(event?.data).to.deep.include({ taken: { offset: 9, spool: 's', seq: 2 } })
    const progress = event?.type === 'LinkClicked' ? event.data : expect.fail('no clicks')
    expect(toEvents(progress, onTheWay(entries(3, 3)))[0]?.data).to.deep.include({ taken: progress.taken })
  })
})

describe(`the recorder (${repeatable})`, () => {
  let store: EventStore
  let keyring: ReturnType<typeof memoryKeyring>
  const running: Relay[] = []
  beforeEach(async () => {
    keyring = memoryKeyring()
    store = await memoryStore(codec(keyring))
  })
  afterEach(() => Promise.all(running.splice(0).map((recorder) => recorder.stop())))

  const start = (spool: Spool, over: Partial<RelayOptions & ClickRecordOptions> = {}) => {
    const options = { store, spool, keyring, log: 'local', partitions: 1, classify, onProblem: () => {}, ...over }
    const recorder = startRelay({ ...options, sink: logSink(openClickRecord(options)) })
    running.push(recorder)
    return recorder
  }
  const recordedUpTo = async (recorder: Relay, seq: number, partition = 0) =>
    expect(
      await until(
        async () => recorder.state().deliveredUpTo[partition],
        (reached) => reached === seq,
      ),
    ).to.equal(seq)
  const stream = 'clicks-local-0'
  const recordedLinks = async (of = stream) => linksOf(await stored(store, of))

  it('opens the click log, which fixes the number of its partitions', async () => {
    const recorder = start(scriptedSpool('s', entries(1, 2)).spool, { partitions: 3 })
    await recordedUpTo(recorder, 2)
    expect((await stored(store, stream)).map(({ type }) => type)).to.deep.equal(['ClickLogOpened', 'LinkClicked'])
    expect((await stored(store, stream))[0]?.data).to.deep.equal({ log: 'local', partitions: 3 })
  })

  it('records each partition in a stream of its own, with numbers of its own', async () => {
    const { spool } = scriptedSpool('s', [entry(1, { link: 10 }), entry(1, { link: 20 }, 1), entry(2, { link: 11 })])
    const recorder = start(spool, { partitions: 2 })
    await recordedUpTo(recorder, 1, 1)
    await recordedUpTo(recorder, 2, 0)
    expect(await recordedLinks()).to.deep.equal([10, 11])
    expect(await recordedLinks('clicks-local-1')).to.deep.equal([20])
  })

  it('takes nothing twice that comes again, whole or in part', async () => {
    const { spool } = scriptedSpool('s', entries(1, 10), entries(1, 10), entries(5, 15), entries(1, 3), entries(14, 20))
    await recordedUpTo(start(spool), 20)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 20))
  })

  it('goes on where the stream says, after a restart', async () => {
    const first = start(scriptedSpool('s', entries(1, 10)).spool)
    await recordedUpTo(first, 10)
    await first.stop()
    const { spool, asked } = scriptedSpool('s', entries(8, 12))
    await recordedUpTo(start(spool), 12)
    expect(asked[0]).to.deep.equal({ 0: 10 })
    expect(await recordedLinks()).to.deep.equal(numbers(1, 12))
  })

  it('keeps two spools apart that are recorded into one stream', async () => {
    await recordedUpTo(start(scriptedSpool('a', entries(1, 5)).spool), 5)
    await recordedUpTo(start(scriptedSpool('b', entries(1, 7)).spool), 7)
    expect(await recordedLinks()).to.deep.equal([...numbers(1, 5), ...numbers(1, 7)])
    expect((await store.last(stream))?.data).to.deep.include({ upTo: { a: 5, b: 7 } })
  })

  it('lets the spool go of what is recorded, and of nothing else', async () => {
    const { spool, released } = scriptedSpool('s', entries(1, 10), entries(11, 15))
    await recordedUpTo(start(spool), 15)
    await until(
      async () => released.length,
      (n) => n === 2,
    )
    expect(released).to.deep.equal([{ 0: 10 }, { 0: 15 }])
  })

  it('records each click once when several recorders are at the same spool', async () => {
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
    for (const recorder of racing) await recordedUpTo(recorder, 300)
    expect(await recordedLinks()).to.deep.equal(numbers(1, 300))
  })

  it('records each click once when it does not learn what became of an append', async () => {
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
    // every second entry is missing, so that a batch is many events, and a fault leaves it recorded in part
    const odd = entries(1, 40).filter(({ seq }) => seq % 2 === 1)
    const fast = { store: unsure, onProblem: (_: unknown, what: string) => void problems.push(what) }
    const { spool } = scriptedSpool('s', odd.slice(0, 8), odd.slice(8, 16), odd.slice(16))
    const recorder = start(spool, fast)
    await recordedUpTo(recorder, 39)
    expect(faults).to.equal(0)
    expect(await recordedLinks()).to.deep.equal(odd.map(({ seq }) => seq))
    const holes = (await stored(store, stream)).flatMap(({ type, data }) =>
      type === 'ClicksMissing' ? [data.from] : [],
    )
    expect(holes).to.deep.equal(numbers(1, 39).filter((n) => n % 2 === 0))
    expect(problems).to.include('clicks wait in the spool')
  }).timeout(60_000)

  it('says so while it cannot record, and no longer once it can', async () => {
    let away = true
    const store_: EventStore = {
      ...store,
      append: (writes) => (away ? Promise.reject(new StoreUnavailable('away')) : store.append(writes)),
    }
    const recorder = start(scriptedSpool('s', entries(1, 3)).spool, { store: store_ })
    expect(await until(async () => recorder.state().problem, Boolean)).to.include('away')
    away = false
    await recordedUpTo(recorder, 3)
    expect(
      await until(
        async () => recorder.state().problem,
        (problem) => !problem,
      ),
    ).to.equal(undefined)
  })

  describe('of messages of Kafka', () => {
    const open = (log = 'topic') => openClickRecord({ store, log, partitions: 2 })
    const at = (from: number, offset: number, count = 10) =>
      onTheWay(entries(from, from + count - 1)).map((one, i) => ({ ...one, offset: offset + i }))
    const inTopic = () => recordedLinks('clicks-topic-0')
    const failure = (of: Promise<unknown>) =>
      of.then(
        () => expect.fail('it was taken'),
        (error: unknown) => error,
      )

    it('keeps where the last one stood, for the next recorder', async () => {
      await open().record(0, at(1, 0))
      expect(await open().lastMessage(0)).to.deep.equal({ offset: 9, spool: 's', seq: 10 })
      expect(await open().lastMessage(1)).to.equal(undefined)
    })

    it('takes nothing twice when it is given everything from the first offset on (12)', async () => {
      await open().record(0, at(1, 0))
      await open().record(0, [...at(1, 0), ...at(11, 10)])
      expect(await inTopic()).to.deep.equal(numbers(1, 20))
    })

    it('refuses what is new at an offset that was recorded, and another message at the last one (45)', async () => {
      await open().record(0, at(1, 0))
      expect(await failure(open().record(0, at(11, 3)))).to.be.instanceOf(TopicReplaced)
      expect(await failure(open().record(0, at(9, 9, 1)))).to.be.instanceOf(TopicReplaced)
      expect(await inTopic()).to.deep.equal(numbers(1, 10))
    })

    it('loses to another recorder, looks again, and goes on (11)', async () => {
      const [one, zombie] = [open(), open()]
      await one.record(0, at(1, 0))
      await zombie.record(0, at(1, 0))
      await one.record(0, at(11, 10))
      await zombie.record(0, [...at(6, 5), ...at(16, 15)])
      await one.record(0, at(21, 20))
      expect(await inTopic()).to.deep.equal(numbers(1, 30))
    })

    it('refuses another number of partitions than the log was opened with', async () => {
      await open().record(0, at(1, 0))
      const other = openClickRecord({ store, log: 'topic', partitions: 3 })
      expect(String(await failure(other.record(0, at(11, 10))))).to.include('set KAFKA_PARTITIONS to 2')
    })

    it('takes from a spool what was meant for Kafka only where it follows what is recorded', async () => {
      await open().record(0, at(1, 0))
      const recording = open()
      const sink = logSinkWithoutGaps(recording)
      expect(await sink.resumeAfter('s')).to.deep.equal({ 0: 10, 1: 0 })
      expect(String(await failure(sink.deliver({ 0: onTheWay(entries(12, 14)) })))).to.include(
        'have to be recorded first',
      )
      await open().record(0, at(11, 10, 1))
      await sink.deliver({ 0: onTheWay(entries(12, 14)) })
      expect(await inTopic()).to.deep.equal(numbers(1, 14))
      expect(await open().lastMessage(0)).to.deep.equal({ offset: 10, spool: 's', seq: 11 })
    })
  })

  it('makes visitors the same within an account only, and nobody once its key is gone', async () => {
    const visitors: string[] = []
    const hashing = (v: Visit, hash: (account: number, text: string) => string) => {
      visitors.push(hash(v.account, v.address))
      return classify(v)
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
