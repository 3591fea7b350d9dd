import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { jsonEvent } from '@eventstore/db-client'
import { codec } from '../../src/events/codec.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { openClients } from '../../src/store/eventstoredb/clients.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { appendUntilStored, logged, timed, useEventStoreStage, write } from './eventstore.ts'

/** Starts a leader and a follower that share a log. The leader's address is given first. */
const startCluster = async (later: (close: () => Promise<void>) => void) => {
  let gossip: Promise<unknown> = Promise.resolve()
  let leader = 0
  const options = { gossip: () => gossip, leader: () => leader }
  const a = await startDouble(options)
  const b = await startDouble({ ...options, log: a.log })
  leader = a.port
  later(async () => {
    await a.close()
    await b.close()
  })
  return {
    a,
    b,
    url: `esdb://127.0.0.1:${a.port},127.0.0.1:${b.port}?tls=false&discoveryInterval=20`,
    delayGossip: (until: Promise<unknown>) => void (gossip = until),
    elect: (port: number) => void (leader = port),
  }
}

describe('an EventStoreDB with several addresses', function () {
  this.timeout(300_000)
  const { later } = useEventStoreStage()

  /** Begins appends that wait for the leader, and returns how they end, and how to let them go on. */
  const appendWaiting = async () => {
    const cluster = await startCluster(later)
    let found: (value?: unknown) => void = () => {}
    cluster.delayGossip(new Promise((resolve) => (found = resolve)))
    const clients = openClients(cluster.url)
    later(clients.close)
    const client = clients.current()
    const { credentials } = clients
    const event = () => jsonEvent({ type: 'LinkDeleted', data: {} })
    const appends = Array.from({ length: 20 }, (_, n) =>
      timed(client.appendToStream(`link-${n}`, event(), { credentials, expectedRevision: 'no_stream' })),
    )
    return { ...cluster, clients, client, appends, found }
  }

  it('does not end the process when a client is replaced while appends wait for the leader', async () => {
    const { clients, client, appends, found } = await appendWaiting()
    await sleep(2100) // a younger client is not replaced
    clients.replace(client)
    found()
    for (const { outcome } of await Promise.all(appends)) expect(outcome).to.have.property('name', 'ConnectionClosed')
  })

  it('does not end the process when it is closed while appends wait for the leader', async () => {
    const { clients, appends, found } = await appendWaiting()
    const closed = clients.close()
    found()
    await closed
    for (const { outcome } of await Promise.all(appends)) expect(outcome).to.have.property('name', 'ConnectionClosed')
  })

  it('stores every append once when its leader freezes and gossip is slow', async () => {
    const { a, b, url, delayGossip, elect } = await startCluster(later)
    const store = await eventStoreDb({ url, codec: codec(memoryKeyring()), timeoutMs: 3000 })
    later(store.close)
    expect((await store.append([write()])).ok).to.equal(true)
    await sleep(1000)
    // the leader's kernel still accepts connections; the other node needs a while to take over
    a.fail(() => 'silent')
    const taken = sleep(2500)
    delayGossip(taken)
    void taken.then(() => elect(b.port))
    const writes = Array.from({ length: 40 }, () => write())
    const appended = writes.map(async (one, n) => {
      await sleep(n * 50)
      return appendUntilStored(store, one)
    })
    for (const outcome of await Promise.all(appended)) expect(outcome).to.include({ ok: true })
    const ids = logged(a)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids).to.include.members(writes.flatMap(({ events }) => events.map(({ id }) => id)))
  })
})
