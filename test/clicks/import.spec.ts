import { expect } from 'chai'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importClicks } from '../../src/clicks/import.ts'
import { findRoutes, localRoute, spoolDir } from '../../src/clicks/spool/folders.ts'
import type { Route } from '../../src/clicks/spool/segment.ts'
import { openSpool } from '../../src/clicks/spool/spool.ts'
import type { EventStore } from '../../src/events/store.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { linksOf, numbers, visit } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'

const topic: Route = { log: 'clicks.of-a-topic', partitions: 2 }

describe('importing a folder of spools', () => {
  let spools: string
  let store: EventStore
  beforeEach(async () => {
    spools = await mkdtemp(join(tmpdir(), 'linkledger-import-'))
    store = await newMemoryStore()
  })
  afterEach(() => rm(spools, { recursive: true, force: true }))

  /** Leaves a spool behind that holds visits to these links; returns its id. */
  const leave = async (route: Route, links: readonly number[]) => {
    const spool = await openSpool({ dir: spoolDir(spools, route), route, log: () => {} })
    for (const link of links) await spool.add(visit(link))
    await spool.close()
    return spool.id
  }
  const run = () =>
    importClicks(
      { store, keyring: memoryKeyring(), log: () => {}, countryOf: () => '', isOurHost: () => false },
      spools,
    )

  it('finds the spool without Kafka and those of all topics', async () => {
    expect(await findRoutes(spools)).to.deep.equal([])
    await leave(topic, [1])
    await leave(localRoute, [1])
    expect(await findRoutes(spools)).to.deep.equal([localRoute, topic])
  })

  it('records every click once, and returns how many were new', async () => {
    await leave(localRoute, numbers(1, 20))
    await leave(topic, numbers(1, 10))
    expect(await run()).to.equal(30)
    expect(linksOf(await eventsOf(store, 'clicks-local-0'))).to.deep.equal(numbers(1, 20))
    expect(linksOf(await eventsOf(store, `clicks-${topic.log}-1`))).to.deep.equal([1, 3, 5, 7, 9])
    const files = await readdir(spools)
    expect(await run()).to.equal(0)
    await leave(localRoute, [21])
    expect(await run()).to.equal(1)
    expect(await readdir(spools), 'the folder keeps its files').to.include.members(files)
  })

  it('rejects while earlier clicks are still in Kafka', async () => {
    const ahead = await openSpool({ dir: spoolDir(spools, topic), route: topic, log: () => {}, segmentBytes: 1 })
    for (const link of [2, 4, 6, 8]) await ahead.add(visit(link))
    // what is not synced is not released
    for await (const [last] of ahead.read({ 0: 3 }, 1, new AbortController().signal)) if (last) break
    await ahead.release({ 0: 3, 1: 0 })
    await ahead.close()
    expect(await run().catch(String)).to.include('clicks that are still in Kafka have to be recorded first')
  })
})
