import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { codec } from '../../src/events/codec.ts'
import { StoreUnavailable } from '../../src/events/store.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { until } from '../support/client.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import {
  appendAll,
  appendUntilStored,
  deleted,
  expectAllSeen,
  logged,
  timed,
  useEventStoreStage,
  write,
} from './eventstore.ts'

describe(`an EventStoreDB cluster (${repeatable})`, function () {
  this.timeout(300_000)
  const random = randomFrom(seed)
  const { follow, later } = useEventStoreStage()

  it('loses no acknowledged append, and stores none twice, when its leader changes after some seconds without one', async () => {
    const away = long ? 6000 : 3000
    const old = await startDouble({ leader: () => next.port })
    const next = await startDouble({ log: old.log })
    // in the long run some appends are given up; otherwise all of them wait for the new leader
    const timeoutMs = long ? 5000 : 30_000
    const store = await eventStoreDb({ url: old.url, codec: codec(memoryKeyring()), timeoutMs })
    later(async () => {
      await store.close()
      await old.close()
      await next.close()
    })
    const seen = follow(store)
    let running = true
    const acknowledged: string[] = []
    let [givenUp, refused] = [0, 0]
    const writer = async () => {
      const stream = `link-${randomUUID()}`
      for (let revision = -1n; running; revision++) {
        const one = { stream, expected: revision < 0n ? 'no_stream' : revision, events: [deleted()] } as const
        expect(await appendUntilStored(store, one, () => givenUp++)).to.include({ ok: true })
        acknowledged.push(one.events[0].id)
        await sleep(10)
      }
    }
    const writers = Promise.all(Array.from({ length: 8 }, writer))
    await sleep(500)
    await next.down()
    // of the appends that are under way when the leader changes, some are stored and some are not
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
    if (!long) expect(givenUp, 'appends that were given up').to.equal(0)
    const ids = logged(old)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids.slice(1)).to.have.members(acknowledged)
    await expectAllSeen(seen, old)
  })

  it('is found again after its nodes were away one by one, and then all of them', async () => {
    let leader = 0
    const a = await startDouble({ leader: () => leader })
    const b = await startDouble({ log: a.log, leader: () => leader })
    leader = a.port
    const url = `esdb://127.0.0.1:${a.port},127.0.0.1:${b.port}?tls=false&maxDiscoverAttempts=1&discoveryInterval=20`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()), timeoutMs: 2000 })
    later(async () => {
      await store.close()
      await a.close()
      await b.close()
    })
    const seen = follow(store)
    const appendSome = async () => {
      for (let n = 0; n < 3; n++) expect((await appendUntilStored(store, write())).ok).to.equal(true)
    }
    await appendAll(store, 3)
    leader = b.port
    await a.down()
    await appendSome()
    await b.down()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => timed(store.append([write()]))))
    for (const { outcome } of outcomes) expect(outcome).to.be.instanceOf(StoreUnavailable)
    leader = a.port
    await a.up()
    await appendSome()
    await expectAllSeen(seen, a)
  })

  it('does not end the process when its connections are cut while no node knows the leader', async () => {
    let leader = 0
    const node = await startDouble({ leader: () => leader })
    leader = node.port
    const url = `esdb+discover://127.0.0.1:${node.port}?tls=false&maxDiscoverAttempts=1&gossipTimeout=1&discoveryInterval=20`
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()) })
    later(async () => {
      await store.close()
      await node.close()
    })
    // each subscription is cut at another event, while the client that lost the first one looks for a leader in vain
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
      const { id, type, data, metadata } = deleted(n)
      const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value))
      const event = { id, type, contentType: 'application/json', data: bytes(data), metadata: bytes(metadata) }
      node.log.append(`link-${n}`, 'no_stream', [event])
      void store.last('log').catch(() => {})
      await sleep(60)
    }
    await sleep(2000)
    leader = node.port
    for (const one of seen) await expectAllSeen(one, node)
  })
})
