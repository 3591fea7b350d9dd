import { randomUUID } from 'node:crypto'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { codec } from '../../src/events/codec.ts'
import { StoreUnavailable } from '../../src/events/store.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { until } from '../support/client.ts'
import { type Double, startDouble } from '../support/eventstoredb.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { eventsOf } from '../support/writer.ts'
import { appendAll, appendUntilStored, expectAllSeen, timed, useEventStoreStage, write } from './eventstore.ts'

/** Starts a proxy in front of a server, whose connections can be frozen while new ones work. */
const startProxy = async (double: Double) => {
  const sockets: Socket[] = []
  const proxy = createServer((socket) => {
    const through = connectTo(double.port, '127.0.0.1')
    sockets.push(socket, through)
    for (const [from, to] of [
      [socket, through],
      [through, socket],
    ] as const)
      from
        .on('data', (data) => to.write(data))
        .on('error', () => {})
        .on('close', () => to.destroy())
  })
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  return {
    port: (proxy.address() as AddressInfo).port,
    freeze: () => sockets.forEach((socket) => socket.pause()),
    close: () => {
      sockets.forEach((socket) => socket.destroy())
      proxy.close()
    },
  }
}

describe('an event store whose EventStoreDB', function () {
  this.timeout(300_000)
  const { open, follow, later } = useEventStoreStage()

  it('is killed and started again waits with its appends, and still recognises retries from before', async () => {
    const { double, store } = await open()
    const seen = follow(store)
    const [before, meanwhile] = [write(), write()]
    const first = await store.append([before])
    await double.down()
    const waiting = appendUntilStored(store, meanwhile)
    await sleep(1000)
    await double.up()
    expect((await waiting).ok).to.equal(true)
    expect(await store.append([before])).to.deep.equal(first)
    await expectAllSeen(seen, double)
  })

  it('stops answering on existing connections opens a new one', async () => {
    const double = await startDouble()
    const proxy = await startProxy(double)
    const url = `esdb://127.0.0.1:${proxy.port}?tls=false`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()), stall: 1500 })
    later(async () => {
      await store.close()
      proxy.close()
      await double.close()
    })
    const seen = follow(store)
    await appendAll(store, 3)
    await expectAllSeen(seen, double)
    await sleep(2100) // a younger client is not replaced
    proxy.freeze()
    const { outcome, ms } = await timed(store.append([write()]))
    expect(outcome).to.include({ ok: true })
    expect(ms, 'the first attempt gets 3 s').to.be.at.least(2900)
    await expectAllSeen(seen, double)
  })

  it('is down for long reports its address, the setting and no password', async () => {
    const { double, store } = await open({ timeoutMs: 500 })
    await double.down()
    const calls: Promise<unknown>[] = [store.append([write()]), store.last('link-1'), store.head('all'), store.idAt(1n)]
    for (const { outcome } of await Promise.all(calls.map(timed))) {
      expect(outcome).to.be.instanceOf(StoreUnavailable).with.property('name', 'StoreUnavailable')
      expect((outcome as Error).message).to.equal(
        `the event store at 127.0.0.1:${double.port} (EVENTSTORE_URL) cannot be reached`,
      )
    }
    const url = double.url.replace('esdb://', 'esdb://admin:canary@')
    const { outcome } = await timed(eventStoreDb({ url, codec: codec(memoryKeyring()), timeoutMs: 300 }))
    expect(outcome).to.be.instanceOf(StoreUnavailable)
    expect(String(outcome)).to.include(`127.0.0.1:${double.port}`).and.not.include('canary')
    await double.up()
    expect((await appendUntilStored(store, write())).ok).to.equal(true)
  })

  it('is down refuses appends at once after the first one, and is used again when it answers', async () => {
    const { double, store } = await open({ timeoutMs: 2000 })
    expect(store.problem?.()).to.equal(undefined)
    await double.down()
    const first = timed(store.append([write()]))
    await until(
      async () => store.problem?.(),
      (problem) => problem?.includes('(EVENTSTORE_URL) cannot be reached') ?? false,
      1900,
    )
    expect((await first).ms).to.be.at.least(1500)
    const others = await Promise.all(Array.from({ length: 50 }, () => timed(store.append([write()]))))
    for (const { outcome, ms } of others) {
      expect(outcome).to.be.instanceOf(StoreUnavailable)
      expect(ms).to.be.below(1500)
    }
    await double.up()
    expect((await appendUntilStored(store, write())).ok).to.equal(true)
    expect(store.problem?.()).to.equal(undefined)
  })

  it('denies access, or holds the log of another program, reports at once the setting to change', async () => {
    const double = await startDouble()
    later(double.close)
    const opening = () => timed(eventStoreDb({ url: double.url, codec: codec(memoryKeyring()), timeoutMs: 60_000 }))
    for (const denied of ['read', 'append']) {
      double.fail(({ kind }) => (kind === denied ? 'access denied' : undefined))
      const { outcome, ms } = await opening()
      expect(String(outcome)).to.include('the user in EVENTSTORE_URL must be allowed to append and to read $all')
      expect(ms, 'no retries until the timeoutMs of 60 s is over').to.be.below(30_000)
    }
    double.fail(() => undefined)
    const [data, metadata] = [new TextEncoder().encode('{}'), new Uint8Array()]
    double.log.append('log', 'no_stream', [
      { id: randomUUID(), type: 'Written', contentType: 'application/json', data, metadata },
    ])
    const { outcome } = await opening()
    expect(String(outcome)).to.include('ForeignLog').and.include('a stream `log` of another program')
  })

  it('is slow with a flood of reads sends it 20 at a time, and its appends do not wait', async () => {
    const { double, store } = await open({ timeoutMs: 60_000 })
    let release: (value?: unknown) => void = () => {}
    const held = new Promise((resolve) => (release = resolve))
    double.fail(({ kind }) => (kind === 'read' ? { held } : undefined))
    const before = double.calls.read
    let settled = 0
    const reads = Array.from({ length: 10_000 }, () => store.last(`link-${randomUUID()}`).finally(() => settled++))
    const all = Promise.allSettled(reads)
    await appendAll(store, 20)
    expect(settled).to.equal(0)
    expect(double.calls.read - before).to.equal(20)
    release()
    expect(await Promise.all(reads.slice(0, 500))).to.have.length(500)
    await store.close() // rejects the others at once
    await all
  })

  it('does not answer reads rejects those that wait for their turn, too', async () => {
    const { double, store } = await open({ timeoutMs: 300 })
    double.fail(({ kind }) => (kind === 'read' ? 'silent' : undefined))
    const reads = Array.from({ length: 1000 }, () => timed(store.last(`link-${randomUUID()}`)))
    for (const { outcome } of await Promise.all(reads)) expect(outcome).to.be.instanceOf(StoreUnavailable)
    double.fail(() => undefined)
    const last = async () => (await store.last('log').catch(() => undefined))?.type
    expect(await until(last, (type) => type !== undefined)).to.equal('LogOpened')
  })

  it('holds events of another program, or some that are not JSON, ignores them', async () => {
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
