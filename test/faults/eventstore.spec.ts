import { randomUUID } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { New } from '../../src/events/event.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import { type EventStore, StoreUnavailable, type Write } from '../../src/events/store.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { codec } from '../../src/events/codec.ts'
import { until } from '../support/client.ts'
import { openDouble } from '../support/engine.ts'
import { metadata } from '../support/events.ts'
import { type Double, type Fault, startDouble } from '../support/eventstoredb.ts'
import { long, openStage, randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { eventsOf } from '../support/writer.ts'

const deleted = (id = 7): New<DomainEvent> => ({
  id: randomUUID(),
  type: 'LinkDeleted',
  data: { id },
  metadata: metadata(),
})
const write = (stream = `link-${randomUUID()}`, count = 1): Write => ({
  stream,
  expected: 'no_stream',
  events: Array.from({ length: count }, (_, n) => deleted(n)),
})
const timed = async <T>(work: Promise<T>) => {
  const began = Date.now()
  const outcome = await work.catch((error: unknown) => error)
  return { outcome, ms: Date.now() - began }
}
/** The first subscriptions fail, each in its way; then no more. */
const failSubscriptions = (double: Double, ...faults: readonly Fault[]) => {
  const left = [...faults]
  double.fail(({ kind }) => (kind === 'subscribe' ? left.shift() : undefined))
}

describe(`an EventStoreDB that misbehaves (${repeatable})`, function () {
  this.timeout(60_000)
  const random = randomFrom(seed)
  const stage = openStage()
  afterEach(stage.clear)
  /** Each of them would end a process. */
  const unhandled: unknown[] = []
  const collect = (error: unknown) => void unhandled.push(error)
  before(() => process.on('unhandledRejection', collect))
  after(() => process.off('unhandledRejection', collect))
  afterEach(() => expect(unhandled.splice(0)).to.deep.equal([]))
  const open = async (options: Parameters<typeof openDouble>[0] = {}) => {
    const opened = await openDouble(options)
    stage.later(opened.close)
    return opened
  }
  /** What a subscription gives, as it comes. */
  const follow = (store: EventStore, limit = 50) => {
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
  }
  /** The ids of the whole log, in its order. */
  const logged = (double: Double) => double.log.all.filter(({ type }) => !type.startsWith('$')).map(({ id }) => id)
  const appendAll = async (store: EventStore, count: number) => {
    for (let n = 0; n < count; n++) expect((await store.append([write()])).ok).to.equal(true)
  }
  const expectAllSeen = async (seen: readonly string[], double: Double, ms = 20_000) => {
    await until(
      async () => seen.length,
      (length) => length >= logged(double).length,
      ms,
    )
    expect(seen).to.deep.equal(logged(double))
  }

  describe('19: that never answers an append', () => {
    it('is given up after 5 s, with the same question asked again on the way; other appends succeed meanwhile', async () => {
      const { double, store } = await open()
      const hopeless = write()
      const asked: number[] = []
      const began = Date.now()
      double.fail(({ stream }) => {
        if (stream !== hopeless.stream) return undefined
        asked.push(Date.now() - began)
        return 'silent'
      })
      const seen = follow(store)
      const pending = timed(store.append([hopeless]))
      await appendAll(store, 200)
      const { outcome, ms } = await pending
      expect(outcome).to.be.instanceOf(StoreUnavailable)
      expect(ms).to.be.within(4000, 7000)
      expect(asked.length).to.be.within(2, 6)
      expect(asked[1]).to.be.within(2900, 4500)
      double.fail(() => undefined)
      expect((await store.append([hopeless])).ok).to.equal(true)
      // on another connection by now; what the old one was at goes on
      await expectAllSeen(seen, double)
      expect(double.calls.subscribe).to.equal(1)
    })

    it('leaves nothing of a thousand of them in memory', async () => {
      const { double, store } = await open({ patience: 300 })
      double.fail(({ kind }) => (kind === 'append' ? 'silent' : undefined))
      const events: WeakRef<object>[] = []
      const hopeless = async () => {
        const one = write()
        events.push(new WeakRef(one.events[0]!))
        return (await timed(store.append([one]))).outcome
      }
      for (let round = 0; round < 10; round++) {
        const outcomes = await Promise.all(Array.from({ length: 100 }, hopeless))
        for (const outcome of outcomes) expect(outcome).to.be.instanceOf(StoreUnavailable)
      }
      double.fail(() => undefined)
      await appendAll(store, 1)
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as () => void
      const left = async () => {
        collect()
        await sleep(50)
        return events.filter((event) => event.deref()).length
      }
      expect(await until(left, (n) => n < 20)).to.be.below(20)
    })
  })

  describe('20: that answers an append late', () => {
    it('is asked again, and gives the first outcome; the late answer is nobody’s, and no batch call ever leaves', async () => {
      const { double, store } = await open({ patience: 1000 })
      const late = Array.from({ length: 20 }, () => write(undefined, 3))
      const slow = new Map(late.map(({ stream }) => [stream, 1 + random(1500)]))
      double.fail(({ stream }) => {
        const ms = slow.get(stream)
        slow.delete(stream)
        return ms === undefined ? undefined : { stored: ms }
      })
      const appended = await Promise.all(late.map((one) => store.append([one])))
      expect(appended.map(({ ok }) => ok)).to.deep.equal(late.map(() => true))
      await sleep(1500)
      await appendAll(store, 5)
      expect(logged(double)).to.have.length(1 + 60 + 5)
      expect(double.calls.batchAppend).to.equal(0)
    })

    /** Two servers: one answers late, and the connection to the other is cut meanwhile. */
    const process_ = async (body: string) => {
      const at = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
      const code = `
        import { setTimeout as sleep } from 'node:timers/promises'
        import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
        import { startDouble } from ${at('../support/eventstoredb.ts')}
        const [a, b] = [await startDouble(), await startDouble()]
        a.fail(({ kind }) => (kind === 'append' ? { stored: 600 } : undefined))
        ${body}
        await sleep(200)
        await b.down()
        await sleep(1000)
        console.log('alive')
        process.exit(0)`
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
        cwd: new URL('../..', import.meta.url),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      stage.later(() => child.kill('SIGKILL'))
      let output = ''
      child.stdout.on('data', (text: Buffer) => (output += text.toString()))
      child.stderr.on('data', (text: Buffer) => (output += text.toString()))
      await once(child, 'close')
      return output
    }

    it('ends a process that appends as the client does by itself, which is why this adapter does not', async () => {
      const output = await process_(`
        for (const { url } of [a, b]) {
          const client = EventStoreDBClient.connectionString(url)
          if (url === b.url) b.fail(({ kind }) => (kind === 'append' ? 'silent' : undefined))
          client.appendToStream('s', jsonEvent({ type: 't', data: {} }), { expectedRevision: 'no_stream' }).catch(() => {})
        }`)
      expect(output).to.include('TypeError').and.not.include('alive')
    })

    it('does not end a process of ours', async () => {
      const output = await process_(`
        const { eventStoreDb } = await import(${JSON.stringify(new URL('../../src/store/eventstoredb.ts', import.meta.url).href)})
        const codec = { encode: async ({ data, metadata }) => ({ data: JSON.stringify(data), metadata: JSON.stringify(metadata) }), decode: async (raws) => raws }
        for (const double of [a, b]) {
          const opening = eventStoreDb({ url: double.url, codec, patience: 500 })
          opening.catch(() => {})
          if (double === b) b.fail(({ kind }) => (kind === 'append' ? 'silent' : undefined))
        }`)
      expect(output).to.include('alive')
    })
  })

  describe('with subscriptions', () => {
    it('21: that fall silent: they are opened again, and nothing is skipped or comes twice', async () => {
      // in practice a silence of 20 s is looked into, every 5 s
      const { double, store } = await open(long ? {} : { stall: 400 })
      let opened = 0
      double.fail(({ kind }) => {
        if (kind !== 'subscribe') return undefined
        return opened++ < 2 ? { after: random(5), is: 'silent' } : undefined
      })
      const seen = follow(store)
      await appendAll(store, 20)
      await expectAllSeen(seen, double, 35_000 * 2)
      expect(opened).to.equal(3)
    }).timeout(100_000)

    it('21: that were refused without a word, too', async () => {
      const { double, store } = await open({ stall: 400 })
      failSubscriptions(double, 'silent')
      const seen = follow(store)
      await appendAll(store, 5)
      await expectAllSeen(seen, double)
    })

    it('that are idle for good are left alone', async () => {
      const { double, store } = await open({ stall: 100 })
      const seen = follow(store)
      await appendAll(store, 2)
      await expectAllSeen(seen, double)
      double.log.system('$statsCollected')
      await sleep(1000)
      expect(double.calls.subscribe).to.equal(1)
    })

    it('22: that are told a checkpoint beyond the next event and then cut: they go on from what they were given', async () => {
      const { double, store } = await open()
      await appendAll(store, 3)
      failSubscriptions(double, 'checkpoint ahead', 'checkpoint ahead')
      const seen = follow(store)
      await expectAllSeen(seen, double)
      expect(double.calls.subscribe).to.equal(3)
    })

    it('that are cut or ended again and again, anywhere: everything comes once, in order', async () => {
      const { double, store } = await open()
      double.fail(({ kind }) => {
        if (kind !== 'subscribe') return undefined
        return { after: random(60), is: random(2) ? 'cut' : 'ended' }
      })
      const seen = follow(store, 7)
      await appendAll(store, 300)
      await expectAllSeen(seen, double)
      expect(double.calls.subscribe).to.be.above(5)
    })

    it('whose reader is slow: no more than a little is held for it', async () => {
      const { store } = await open()
      const large = () => ({ ...deleted(), type: 'ClaimFenced', data: { token: 'x'.repeat(200_000) } }) as const
      for (let n = 0; n < 100; n++)
        await store.append([{ stream: `link-${randomUUID()}`, expected: 'no_stream', events: [large()] }])
      const stop = new AbortController()
      let [count, most] = [0, 0]
      for await (const batch of store.subscribe({ after: 0n, filter: 'domain', limit: 10, signal: stop.signal })) {
        most = Math.max(most, batch.length)
        count += batch.length
        if (count < 30) await sleep(30)
        if (count === 101) break
      }
      expect([count, most]).to.deep.equal([101, 10])
    })
  })

  it('that is killed and started again: appends wait for it, and retries from before still find their outcome', async () => {
    const { double, store } = await open()
    const seen = follow(store)
    const [before, meanwhile] = [write(), write()]
    const first = await store.append([before])
    await double.down()
    const waiting = store.append([meanwhile])
    await sleep(1000)
    await double.up()
    expect((await waiting).ok).to.equal(true)
    expect(await store.append([before])).to.deep.equal(first)
    await expectAllSeen(seen, double)
  })

  it('whose connections freeze while new ones work is connected to anew', async () => {
    const double = await startDouble()
    const sockets: Socket[] = []
    const proxy = createServer((socket) => {
      const through = connectTo(double.port, '127.0.0.1')
      sockets.push(socket, through)
      for (const [one, other] of [
        [socket, through],
        [through, socket],
      ] as const)
        one
          .on('data', (data) => other.write(data))
          .on('error', () => {})
          .on('close', () => other.destroy())
    })
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
    const { port } = proxy.address() as AddressInfo
    const url = `esdb://127.0.0.1:${port}?tls=false`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()), stall: 1500 })
    stage.later(async () => {
      await store.close()
      sockets.forEach((socket) => socket.destroy())
      proxy.close()
      await double.close()
    })
    const seen = follow(store)
    await appendAll(store, 3)
    await expectAllSeen(seen, double)
    await sleep(2100)
    sockets.forEach((socket) => socket.pause())
    const { outcome, ms } = await timed(store.append([write()]))
    expect(outcome).to.include({ ok: true })
    expect(ms).to.be.within(2900, 5000)
    await expectAllSeen(seen, double)
  })

  it('that answers without a position is asked for it', async () => {
    const { double, store } = await open()
    double.fail(({ kind }) => (kind === 'append' ? 'no position' : undefined))
    const one = write(undefined, 3)
    const appended = await store.append([one])
    expect(appended).to.deep.equal({ ok: true, position: (await store.last(one.stream))?.position })
    expect(await store.append([one])).to.deep.equal(appended)
  })

  it('that is away for longer is reported, in its own words, and never with a password', async () => {
    const { double, store } = await open({ patience: 500 })
    await double.down()
    const asked: Promise<unknown>[] = [store.append([write()]), store.last('link-1'), store.head('all'), store.idAt(1n)]
    for (const { outcome } of await Promise.all(asked.map(timed))) {
      expect(outcome).to.be.instanceOf(StoreUnavailable)
      expect((outcome as Error).message).to.equal(
        `the event store at 127.0.0.1:${double.port} (EVENTSTORE_URL) cannot be reached`,
      )
    }
    const url = double.url.replace('esdb://', 'esdb://admin:canary@')
    const { outcome } = await timed(eventStoreDb({ url, codec: codec(memoryKeyring()), patience: 300 }))
    expect(outcome).to.be.instanceOf(StoreUnavailable)
    expect(String(outcome)).to.include(`127.0.0.1:${double.port}`).and.not.include('canary')
    await double.up()
    expect((await store.append([write()])).ok).to.equal(true)
  })

  it('that lets nobody in, or holds the log of another program, says at once what has to be set right', async () => {
    const double = await startDouble()
    stage.later(double.close)
    const opening = () => timed(eventStoreDb({ url: double.url, codec: codec(memoryKeyring()) }))
    for (const denied of ['read', 'append']) {
      double.fail(({ kind }) => (kind === denied ? 'access denied' : undefined))
      const { outcome, ms } = await opening()
      expect(String(outcome)).to.include('the user in EVENTSTORE_URL must be allowed to append and to read $all')
      expect(ms).to.be.below(2500)
    }
    double.fail(() => undefined)
    const [data, metadata] = [new TextEncoder().encode('{}'), new Uint8Array()]
    double.log.append('log', 'no_stream', [
      { id: randomUUID(), type: 'Written', contentType: 'application/json', data, metadata },
    ])
    const { outcome } = await opening()
    expect(String(outcome)).to.include('a stream `log` of another program')
  })

  it('69: that is slow with a flood of reads is asked 20 at once, and appends do not wait for them', async () => {
    const { double, store } = await open({ patience: 1500 })
    double.fail(({ kind }) => (kind === 'read' ? 'silent' : undefined))
    const before = double.calls.read
    let settled = 0
    const reads = Array.from({ length: 10_000 }, () => store.last(`link-${randomUUID()}`).finally(() => settled++))
    const all = Promise.allSettled(reads)
    await appendAll(store, 20)
    expect(settled).to.equal(0)
    expect(double.calls.read - before).to.equal(20)
    double.fail(() => undefined)
    await all
    expect((await store.last('log'))?.type).to.equal('LogOpened')
  })

  it('70: whose leader changes, with none for some seconds: nothing acknowledged is lost, nothing is there twice', async () => {
    const away = long ? 6000 : 3000
    const old = await startDouble({ leader: () => next.port })
    const next = await startDouble({ log: old.log })
    const store = await eventStoreDb({ url: old.url, codec: codec(memoryKeyring()) })
    stage.later(async () => {
      await store.close()
      await old.close()
      await next.close()
    })
    const seen = follow(store)
    let running = true
    const acknowledged: string[] = []
    let [gaveUp, refused] = [0, 0]
    const writer = async () => {
      const stream = `link-${randomUUID()}`
      for (let revision = -1n; running; revision++) {
        const one = { stream, expected: revision < 0n ? 'no_stream' : revision, events: [deleted()] } as const
        for (let done = false; !done;)
          try {
            expect(await store.append([one])).to.include({ ok: true })
            acknowledged.push(one.events[0].id)
            done = true
          } catch (error) {
            // as a client does that is told 503
            if (!(error instanceof StoreUnavailable)) throw error
            gaveUp++
          }
        await sleep(10)
      }
    }
    const writers = Promise.all(Array.from({ length: 8 }, writer))
    await sleep(500)
    await next.down()
    // of what is under way when the leader changes, some is stored and some is not
    old.fail(({ kind }) => {
      refused++
      return kind === 'append' && random(3) === 0 && refused < 50 ? { stored: 'cut' } : 'not leader'
    })
    await old.down()
    await old.up()
    await sleep(away)
    await next.up()
    await sleep(1500)
    running = false
    await writers
    expect(refused).to.be.above(5)
    if (!long) expect(gaveUp, 'appends that were given up').to.equal(0)
    const ids = logged(old)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids.slice(1)).to.have.members(acknowledged)
    await expectAllSeen(seen, old)
  })

  it('70: that is a cluster whose nodes are away one by one, and then all of them, is found again', async () => {
    let leader = 0
    const a = await startDouble({ leader: () => leader })
    const b = await startDouble({ log: a.log, leader: () => leader })
    leader = a.port
    const url = `esdb://127.0.0.1:${a.port},127.0.0.1:${b.port}?tls=false&maxDiscoverAttempts=1&discoveryInterval=20`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()), patience: 2000 })
    stage.later(async () => {
      await store.close()
      await a.close()
      await b.close()
    })
    const seen = follow(store)
    await appendAll(store, 3)
    leader = b.port
    await a.down()
    await appendAll(store, 3)
    await b.down()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => timed(store.append([write()]))))
    for (const { outcome } of outcomes) expect(outcome).to.be.instanceOf(StoreUnavailable)
    leader = a.port
    await a.up()
    await appendAll(store, 3)
    await expectAllSeen(seen, a)
  })

  it('70: that is a cluster which is cut off bit by bit while nobody says who leads: the process lives on', async () => {
    let leader = 0
    const node = await startDouble({ leader: () => leader })
    leader = node.port
    const url = `esdb+discover://127.0.0.1:${node.port}?tls=false&maxDiscoverAttempts=1&gossipTimeout=1&discoveryInterval=20`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()) })
    stage.later(async () => {
      await store.close()
      await node.close()
    })
    // each of them is cut at another event, while the client that has lost the first looks for a leader in vain
    let opened = 0
    node.fail(({ kind }) => (kind === 'subscribe' && opened < 10 ? { after: 1 + ++opened, is: 'cut' } : undefined))
    const seen = Array.from({ length: 10 }, () => follow(store))
    for (const one of seen)
      await until(
        async () => one.length,
        (n) => n === 1,
      )
    leader = 0
    for (let n = 0; n < 12; n++) {
      const { id, type, data, metadata: known } = deleted(n)
      const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value))
      const event = { id, type, contentType: 'application/json', data: bytes(data), metadata: bytes(known) }
      node.log.append(`link-${n}`, 'no_stream', [event])
      void store.last('log').catch(() => {})
      await sleep(60)
    }
    await sleep(2000)
    leader = node.port
    for (const one of seen) await expectAllSeen(one, node)
  })

  it('is none: an event that is not one of ours, or is not JSON, changes nothing', async () => {
    const { double, store } = await open()
    const text = new TextEncoder().encode('{')
    double.log.append('other-app', 'no_stream', [
      {
        id: randomUUID(),
        type: 'OrderPlaced',
        contentType: 'application/json',
        data: text,
        metadata: new Uint8Array(),
      },
    ])
    const appended = await store.append([write()])
    expect(appended.ok && (await store.head('all'))).to.equal(appended.ok && appended.position)
    double.log.append('other-app', 0, [
      { id: randomUUID(), type: 'OrderPlaced', contentType: 'application/octet-stream', data: text, metadata: text },
    ])
    expect(await store.head('domain')).to.equal(appended.ok && appended.position)
    expect(await eventsOf(store)).to.have.length(2)
  })
})
