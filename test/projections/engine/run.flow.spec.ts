import { expect } from 'chai'
import { projectedPosition } from '../../../src/app/log/projector.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { openLocks } from '../../../src/postgres/listen.ts'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { projections as registered } from '../../../src/projections/index.ts'
import { links } from '../../../src/projections/links/link.ts'
import type { Projection } from '../../../src/projections/engine/projection.ts'
import type { Locks } from '../../../src/projections/engine/run.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { tableNames } from '../../../src/projections/engine/tables.ts'
import { linkStats } from '../../../src/queries/statistics/stats.ts'
import { until } from '../../support/client.ts'
import { click, clicked, fresh } from '../../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, history, liveCheckpoint } from '../../support/log.ts'
import { noLocks, projections, projectorStage } from '../../support/projector.ts'

describe(`the projector (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 120_000)
  const random = randomFrom(seed)
  const { log, start, caughtUp, build, expectCleanRun } = projectorStage()

  it('fills missing tables in one pass for each subscription, makes them live, and follows the log', async () => {
    await log().append(history(random, 300))
    let live = 0
    const projector = start({ onLive: async () => void live++ })
    await caughtUp(projector)
    expect(live, 'once for each subscription').to.equal(2)
    await log().append(history(random, 100, 1000))
    await caughtUp(projector)
    expect(projector.state().active).to.equal(true)
    await expectCleanRun()
  })

  it('reports the position it has seen, also when no projection handles the event', async () => {
    const seen: bigint[] = []
    const projector = start({ onSeen: async (filter, position) => void (filter === 'domain' && seen.push(position)) })
    await caughtUp(projector, 'domain')
    await log().append([
      { stream: 'claim-x', event: fresh({ type: 'NameClaimed', data: { token: 't', holder: 'link-1', account: 1 } }) },
    ])
    const head = await log().store.head('domain')
    expect(
      await until(
        async () => seen.at(-1),
        (last) => last === head,
      ),
    ).to.equal(head)
    expect((await liveCheckpoint(log().db, links))?.position).to.equal(String(head))
  })

  it('drops the clicks of old months when it is asked to, and keeps their totals', async () => {
    const now = new Date().toISOString()
    await log().append([
      { stream: 'clicks-local-0', event: fresh(clicked(click(), click({ visitor: 'b' }), click({ at: now }))) },
    ])
    const facts = async () => {
      const live = await liveCheckpoint(log().db, stats)
      const names = tableNames(stats, live?.generation ?? 0)
      return live ? ((await log().db(names('clicks')).orderBy('seq').select('minute')) as { minute: number }[]) : []
    }
    const projector = start({ projections: [stats] })
    await caughtUp(projector, 'clicks')
    expect(await facts()).to.have.length(3)
    await projector.stop()
    start({ projections: [stats], pruneInterval: 20, keepClicks: 2 })
    const kept = await until(facts, (rows) => rows.length < 3)
    expect(kept).to.deep.equal([{ minute: Math.floor(Date.parse(now) / 60_000) }])
    const live = await liveCheckpoint(log().db, stats)
    const reader = { db: log().db, table: tableNames(stats, live!.generation) }
    expect(await linkStats(reader, 42)).to.deep.include({ clicks: 3, uniques: 2, country: [{ label: 'CA', n: 3 }] })
  })

  it('resumes at its checkpoint after a stop, without reading anything twice', async () => {
    await log().append(history(random, 200))
    const idle: Projection = { name: 'idle', version: 1, filter: 'domain', tables: {}, on: {} }
    const first = start({ projections: [...projections, idle] })
    await caughtUp(first)
    await first.stop()
    const before = await liveCheckpoint(log().db, links)
    const head = await log().store.head('all')
    await log().append(history(random, 200, 1000))
    const read: bigint[] = []
    const watched: EventStore = {
      ...log().store,
      subscribe: async function* (options) {
        for await (const events of log().store.subscribe(options)) {
          read.push(events[0]!.position)
          yield events
        }
      },
    }
    await caughtUp(start({ projections: [...projections, idle], store: watched }))
    expect(read.filter((position) => position <= head)).to.deep.equal([])
    expect(await liveCheckpoint(log().db, links)).to.include({ generation: before?.generation })
    await expectCleanRun()
  })

  it('is only as far as the table that lags most', async () => {
    await build(registered)
    await log().append(history(random, 100))
    // after a rebuild, these tables are ahead of all others
    await build([links])
    expect(await projectedPosition(log().db)).to.equal(1n)
    const projector = start({ projections: registered })
    await caughtUp(projector)
    const unhandled = { type: 'NameClaimed', data: { token: 't', holder: 'link-1', account: 1 } } as const
    await log().append([{ stream: 'claim-x', event: fresh(unhandled) }])
    await caughtUp(projector)
    expect(await projectedPosition(log().db)).to.equal(await log().store.head('domain'))
  })

  it('is at position 0 while one of its tables is being filled for the first time', async () => {
    await log().append(history(random, 100))
    const [late, ...others] = registered.filter(({ filter }) => filter === 'domain')
    await build(others)
    expect(await projectedPosition(log().db)).to.equal(0n)
    await build([late!])
    expect(await projectedPosition(log().db)).to.equal(await log().store.head('domain'))
  })

  it('works while another is on standby, which takes over when it stops', async () => {
    const first = start()
    await until(async () => first.state().active, Boolean)
    const second = start()
    await log().append(history(random, 50))
    await caughtUp(first)
    expect(second.state()).to.deep.include({ active: false, subscriptions: [] })
    await first.stop()
    await log().append(history(random, 50, 1000))
    await caughtUp(second)
    expect(second.state().active).to.equal(true)
  })

  it('gets all locks or none when several start at once', async () => {
    const keys = Array.from({ length: 40 }, (_, n) => BigInt(n))
    for (let round = 0; round < (long ? 50 : 5); round++) {
      const locks = await Promise.all([1, 2, 3].map((n) => openLocks(log().connection, `locks-${n}`)))
      const held = await Promise.all(locks.map(({ acquire }) => acquire(keys)))
      await Promise.all(locks.map(({ close }) => close()))
      expect(held.map(({ size }) => size).toSorted((a, b) => a - b)).to.deep.equal([0, 0, keys.length])
    }
  })

  it('does not report a position when it works on some of the projections only', async () => {
    await build()
    const reported: bigint[] = []
    const some = async (): Promise<Locks> => ({
      ...(await noLocks()),
      // another process holds the other locks
      acquire: async (keys) => new Set(keys.filter((_, n) => n !== projections.indexOf(accounts))),
    })
    const projector = start({
      openLocks: some,
      onSeen: async (filter, position) => void (filter === 'domain' && reported.push(position)),
    })
    await log().append(history(random, 100))
    await caughtUp(projector)
    expect((await dump(log().db, links))['links']).not.to.deep.equal([])
    expect(reported).to.deep.equal([])
  })

  it('reopens a subscription that stalls silently', async () => {
    let stalled = 0
    const stalling: EventStore = {
      ...log().store,
      subscribe: async function* (options) {
        for await (const events of log().store.subscribe(options)) {
          yield events
          if (options.filter === 'domain' && stalled < 2) {
            stalled++
            if (!options.signal.aborted)
              await new Promise((resolve) => options.signal.addEventListener('abort', resolve))
            return
          }
        }
      },
    }
    await build()
    await log().append(history(random, 300))
    const restarted: string[] = []
    const projector = start({
      store: stalling,
      stall: 60,
      limit: 40,
      onRestart: (filter) => void restarted.push(filter),
    })
    await caughtUp(projector)
    expect(stalled).to.equal(2)
    // on a busy machine a silence of 60 ms may also interrupt the clicks, or the domain events once more
    expect(restarted.filter((filter) => filter === 'domain')).to.have.length.of.at.least(2)
    await expectCleanRun()
  })

  it('switches to rebuilt tables without reporting a lost subscription', async () => {
    await log().append(history(random, 100))
    const [live, restarted]: [number[], string[]] = [[], []]
    const projector = start({
      onLive: async () => void live.push(1),
      onRestart: (filter) => void restarted.push(filter),
    })
    await caughtUp(projector)
    live.length = 0
    await build()
    await log().append(history(random, 100, 1000))
    await caughtUp(projector)
    // one switch of each subscription
    expect(live).to.have.length(2)
    expect(restarted).to.deep.equal([])
    await expectCleanRun()
  })
})
