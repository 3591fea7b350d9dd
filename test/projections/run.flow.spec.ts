import { expect } from 'chai'
import { pino } from 'pino'
import type { EventStore } from '../../src/events/store.ts'
import { projectedPosition } from '../../src/app/projector.ts'
import { openLocks } from '../../src/postgres/listen.ts'
import { accounts } from '../../src/projections/account.ts'
import { fill } from '../../src/projections/fill.ts'
import { projections as registered } from '../../src/projections/index.ts'
import { links } from '../../src/projections/link.ts'
import type { HandledProjection, Projection } from '../../src/projections/projection.ts'
import { loadMembers, WrongLog } from '../../src/projections/members.ts'
import { type Locks, type Projector, type ProjectorOptions, startProjector } from '../../src/projections/run.ts'
import { stats } from '../../src/projections/stats.ts'
import { liveTables, newGeneration, prune, tableNames } from '../../src/projections/tables.ts'
import { until } from '../support/client.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { checkpointsOf, dump, history, liveCheckpoint, openTestLog, type TestLog } from '../support/log.ts'

const projections: readonly Projection[] = [accounts, links, stats]
const silent = pino({ level: 'silent' })
const never = new AbortController().signal
const listening = () => {
  const lines: string[] = []
  return {
    log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }),
    lines: () => lines.join(),
  }
}

/** All locks are anybody's: what keeps two projectors apart in earnest is bypassed. */
const noLocks = async (): Promise<Locks> => ({
  acquire: async (keys) => new Set(keys),
  lost: new AbortController().signal,
  close: async () => {},
})
/** A projection that cannot take some events, for as long as it is so. */
const choking = (projection: Projection, chokes: (position: bigint) => boolean): Projection => {
  const { on, ...rest } = projection as HandledProjection
  const handlers = Object.entries(on).map(([type, handle]) => [
    type,
    (event: Parameters<NonNullable<typeof handle>>[0]) => {
      if (chokes(event.position)) throw new Error('it chokes')
      return (handle as (event: unknown) => unknown)(event)
    },
  ])
  return { ...rest, on: Object.fromEntries(handlers) as HandledProjection['on'] }
}

/** Strikes once: the time after it was asked so many times. */
const countdown = (times: number) => {
  let left = times
  let end = () => {}
  const struck = new Promise<void>((resolve) => (end = resolve))
  return {
    struck,
    strikes: () => {
      if (left-- !== 0) return false
      end()
      return true
    },
  }
}

describe(`the projector (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 60_000)
  const random = randomFrom(seed)
  let log: TestLog
  const running: Projector[] = []
  beforeEach(async () => (log = await openTestLog()))
  afterEach(async () => {
    await Promise.all(running.splice(0).map((projector) => projector.stop()))
    await log.close()
  })

  const start = (over: Partial<ProjectorOptions> = {}) => {
    const projector = startProjector({
      db: log.db,
      store: log.store,
      projections,
      openLocks: () => openLocks(log.connection, 'locks'),
      instance: 'spec',
      log: silent,
      onSeen: async () => {},
      onLive: async () => {},
      ...over,
    })
    running.push(projector)
    return projector
  }
  const of = (projector: Projector, filter: 'domain' | 'clicks') =>
    projector.state().subscriptions.find((subscription) => subscription.filter === filter)
  const caughtUp = async (projector: Projector, ...filters: ('domain' | 'clicks')[]) => {
    for (const filter of filters.length > 0 ? filters : (['domain', 'clicks'] as const)) {
      const head = await log.store.head(filter)
      const reached = await until(
        async () => of(projector, filter)?.position ?? 0n,
        (position) => position >= head,
      )
      expect(reached, `the subscription to ${filter}`).to.equal(head)
    }
  }
  const read = async (all = projections) => {
    const tables = await Promise.all(all.map((projection) => dump(log.db, projection)))
    return Object.assign({}, ...tables) as Record<string, string[]>
  }
  const build = async (all = projections) => {
    for (const projection of all)
      await fill({ db: log.db, store: log.store, log: silent, instance: 'spec' }, projection, never)
  }
  /** The tables are what a replay of the whole log, undisturbed, comes to. */
  const expectCleanRun = async () => {
    const tables = await read()
    expect(Object.values(tables).flat().length).to.be.above(100)
    await build()
    expect(await read()).to.deep.equal(tables)
  }

  it('fills the tables that are missing, makes them those that are read, and follows the log', async () => {
    await log.append(history(random, 300))
    let live = 0
    const projector = start({ onLive: async () => void live++ })
    await caughtUp(projector)
    expect(live).to.equal(projections.length)
    await log.append(history(random, 100, 1000))
    await caughtUp(projector)
    expect(projector.state().active).to.equal(true)
    await expectCleanRun()
  })

  it('tells what it has seen, also when nothing handles it', async () => {
    const seen: bigint[] = []
    const projector = start({ onSeen: async (filter, position) => void (filter === 'domain' && seen.push(position)) })
    await caughtUp(projector, 'domain')
    await log.append([
      { stream: 'claim-x', event: fresh({ type: 'NameClaimed', data: { token: 't', holder: 'link-1', account: 1 } }) },
    ])
    const head = await log.store.head('domain')
    expect(
      await until(
        async () => seen.at(-1),
        (last) => last === head,
      ),
    ).to.equal(head)
    expect((await liveCheckpoint(log.db, links))?.position).to.equal(String(head))
  })

  it('goes on where its checkpoint is, after a stop, and reads nothing again', async () => {
    await log.append(history(random, 200))
    const idle: Projection = { name: 'idle', version: 1, filter: 'domain', tables: {}, on: {} }
    const first = start({ projections: [...projections, idle] })
    await caughtUp(first)
    await first.stop()
    const before = await liveCheckpoint(log.db, links)
    const head = await log.store.head('all')
    await log.append(history(random, 200, 1000))
    const read: bigint[] = []
    const watched: EventStore = {
      ...log.store,
      subscribe: async function* (options) {
        for await (const events of log.store.subscribe(options)) {
          read.push(events[0]!.position)
          yield events
        }
      },
    }
    await caughtUp(start({ projections: [...projections, idle], store: watched }))
    expect(read.filter((position) => position <= head)).to.deep.equal([])
    expect(await liveCheckpoint(log.db, links)).to.include({ generation: before?.generation })
    await expectCleanRun()
  })

  it('has come as far as that of its tables that is furthest behind', async () => {
    await build(registered)
    await log.append(history(random, 100))
    // built anew, these are ahead of all others
    await build([links])
    expect(await projectedPosition(log.db)).to.equal(1n)
    const projector = start({ projections: registered })
    await caughtUp(projector)
    const nobodys = { type: 'NameClaimed', data: { token: 't', holder: 'link-1', account: 1 } } as const
    await log.append([{ stream: 'claim-x', event: fresh(nobodys) }])
    await caughtUp(projector)
    expect(await projectedPosition(log.db)).to.equal(await log.store.head('domain'))
  })

  it('has not come anywhere while one of its tables is being filled for the first time', async () => {
    await log.append(history(random, 100))
    const [late, ...others] = registered.filter(({ filter }) => filter === 'domain')
    await build(others)
    expect(await projectedPosition(log.db)).to.equal(0n)
    await build([late!])
    expect(await projectedPosition(log.db)).to.equal(await log.store.head('domain'))
  })

  it('works while another stands by, who takes over when it ends', async () => {
    const first = start()
    await until(async () => first.state().active, Boolean)
    const second = start()
    await log.append(history(random, 50))
    await caughtUp(first)
    expect(second.state()).to.deep.equal({ active: false, subscriptions: [] })
    await first.stop()
    await log.append(history(random, 50, 1000))
    await caughtUp(second)
    expect(second.state().active).to.equal(true)
  })

  it('is one of several that start at once, and that one works on everything', async () => {
    const keys = Array.from({ length: 40 }, (_, n) => BigInt(n))
    for (let round = 0; round < (long ? 50 : 5); round++) {
      const locks = await Promise.all([1, 2, 3].map((n) => openLocks(log.connection, `locks-${n}`)))
      const held = await Promise.all(locks.map(({ acquire }) => acquire(keys)))
      await Promise.all(locks.map(({ close }) => close()))
      expect(held.map(({ size }) => size).toSorted((a, b) => a - b)).to.deep.equal([0, 0, keys.length])
    }
  })

  it('that works on some of the projections only does not tell how far all of them have come', async () => {
    await build()
    const told: bigint[] = []
    const some = async (): Promise<Locks> => ({
      ...(await noLocks()),
      // an older program has the others
      acquire: async (keys) => new Set(keys.filter((_, n) => n !== projections.indexOf(accounts))),
    })
    const projector = start({
      openLocks: some,
      onSeen: async (filter, position) => void (filter === 'domain' && told.push(position)),
    })
    await log.append(history(random, 100))
    await caughtUp(projector)
    expect((await dump(log.db, links))['links']).not.to.deep.equal([])
    expect(told).to.deep.equal([])
  })

  it('opens a subscription again that has stalled in silence', async () => {
    let stalled = 0
    const stalling: EventStore = {
      ...log.store,
      subscribe: async function* (options) {
        for await (const events of log.store.subscribe(options)) {
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
    await log.append(history(random, 300))
    const projector = start({ store: stalling, stall: 60, limit: 40 })
    await caughtUp(projector)
    expect(stalled).to.equal(2)
    await expectCleanRun()
  })

  describe('24: with an event that a projection cannot take', () => {
    it('halts there, says so and why, while reads and the other subscription go on; mended, it goes on by itself', async () => {
      await build()
      await log.append(history(random, 1000))
      const handled = (await log.events()).filter(
        ({ stream, type }) => stream.startsWith('link-') && type !== 'ClaimFenced',
      )
      const bad = handled[1 + random(handled.length - 1)]!
      const before = (await log.events()).findLast(
        ({ type, position }) => type !== 'LinkClicked' && position < bad.position,
      )!
      let broken = true
      const alerts = listening()
      const chokes = choking(links, (position) => broken && position === bad.position)
      const projector = start({ projections: [accounts, chokes, stats], log: alerts.log, limit: 90 })

      const halted = await until(async () => of(projector, 'domain')?.halted, Boolean)
      const reason = `links cannot apply event ${bad.position} (${bad.type}, ${bad.stream}@${bad.revision}): Error: it chokes`
      expect(halted).to.deep.equal({ position: bad.position, reason })
      expect(alerts.lines()).to.include('subscription halted').and.include(reason)
      expect(await liveCheckpoint(log.db, links)).to.include({ position: String(before.position), event_id: before.id })
      await caughtUp(projector, 'clicks')
      expect(of(projector, 'domain')).to.deep.include({ halted })

      broken = false
      await caughtUp(projector)
      expect(of(projector, 'domain')?.halted).to.equal(undefined)
      await expectCleanRun()
    })

    it('halts in the first filling of tables, and leaves no heap of half filled ones behind', async () => {
      await log.append(history(random, 500))
      const bad = (await log.events()).filter(({ type }) => type === 'LinkUpdated')[50]!
      let broken = true
      const chokes = choking(links, (position) => broken && position === bad.position)
      const projector = start({ projections: [accounts, chokes, stats] })
      expect((await until(async () => of(projector, 'domain')?.halted, Boolean))?.position).to.equal(bad.position)
      const tables = async () =>
        (await log.db.raw<{ rows: object[] }>(`select 1 from pg_tables where tablename like 'links%'`)).rows.length
      expect(await until(tables, (n) => n === 0)).to.equal(0)
      broken = false
      await caughtUp(projector)
      await expectCleanRun()
    })

    it('halts at an event that cannot be read at all, with what stands before it applied', async () => {
      await build()
      await log.append(history(random, 300))
      const bad = (await log.events()).filter(({ type }) => type === 'LinkCreated')[30]!
      const spoil = (from: string, to: string) =>
        log.db.raw('update log.events set data = replace(data::text, ?, ?)::json where position = ?', [
          from,
          to,
          String(bad.position),
        ])
      await spoil('"url"', '"lost"')
      const projector = start()
      const halted = await until(async () => of(projector, 'domain')?.halted, Boolean)
      expect(halted?.position).to.equal(bad.position)
      expect(halted?.reason).to.include(`event ${bad.position} (LinkCreated, ${bad.stream}@0) cannot be read`)
      expect((await read([links]))['links']).to.have.length(30)
      await spoil('"lost"', '"url"')
      await caughtUp(projector)
      await expectCleanRun()
    })
  })

  it('15: two of them at once, with the lock bypassed, count everything exactly once', async () => {
    const alerts = listening()
    await log.append(history(random, 500))
    await build()
    const two = [1, 2].map((n) =>
      start({
        db: log.connect(`projector-${n}`),
        openLocks: noLocks,
        instance: `projector-${n}`,
        limit: 7,
        log: alerts.log,
      }),
    )
    for (let round = 1; round <= (long ? 20 : 1); round++) {
      await log.append(history(random, 400, round * 10_000))
      for (const projector of two) await caughtUp(projector)
    }
    expect(alerts.lines()).to.include('is no longer at')
    await expectCleanRun()
  })

  it('2: killed at random points, before, in the middle of and after its transactions, leaves the tables of a clean run', async () => {
    const ways = ['between', 'killed', 'failed', 'after'] as const
    const entries = history(random, 5000)
    const rounds = long ? 200 : 20
    const share = Math.ceil(entries.length / rounds)
    let inTransaction = 0
    for (let round = 0; round < rounds; round++) {
      await log.append(entries.slice(round * share, (round + 1) * share))
      const way = ways[round < ways.length ? round : random(ways.length)]!
      const end = countdown(random(way === 'killed' ? 40 : 4))
      /** Fails within the transaction, after the writes of the others in it. */
      const failing = (filter: 'domain' | 'clicks'): Projection => ({
        name: `failing-${filter}`,
        version: 1,
        filter,
        tables: { [`failing_${filter}`]: (t) => `create table ${t} (id int)` },
        write: async () => {
          if (way === 'failed' && end.strikes()) throw new Error('ended in the middle')
        },
      })
      const name = `victim-${round}`
      const kill = async () => {
        const { rows } = await log.db.raw<{ rows: { open: boolean }[] }>(
          `select xact_start is not null and state <> 'idle' as open, pg_terminate_backend(pid) from pg_stat_activity where application_name = ?`,
          [name],
        )
        inTransaction += rows.filter(({ open }) => open).length
      }
      const db = log.connect(name)
      db.on('query', () => {
        if (way === 'killed' && end.strikes()) void kill()
      })
      const projector = start({
        db,
        projections: [...projections, failing('domain'), failing('clicks')],
        limit: 10 + random(50),
        onSeen: async () => {
          // committed, and nobody learns of it
          if (way === 'after' && end.strikes()) throw new Error('ended after the commit')
          if (way === 'between') end.strikes()
        },
      })
      await Promise.race([end.struck, caughtUp(projector)])
      await projector.stop()
    }
    expect(inTransaction, 'transactions that were ended in their middle').to.be.above(0)
    await caughtUp(start())
    await expectCleanRun()
  })

  describe('a rebuild', () => {
    it('under load gives the tables of a clean run, and no reader ever sees a half', async () => {
      await log.append(history(random, 2000))
      const projector = start({ limit: 100 })
      await caughtUp(projector)
      const tables = liveTables(log.db, projections)
      await tables.refresh()

      let rebuilding = true
      const writing = (async () => {
        for (let from = 10_000; rebuilding; from += 1000) await log.append(history(random, 60, from), 20)
      })()
      const reads: { links: number; visits: number }[] = []
      const reading = (async () => {
        while (rebuilding) {
          await tables.refresh()
          const { rows } = await log.db.raw<{
            rows: Record<'links' | 'open' | 'counted' | 'visits' | 'summed', string>[]
          }>(`
            select (select count(*) from ${tables.name('links')}) as links,
              (select count(*) from ${tables.name('links')} where deleted is null) as open,
              (select sum(n) from ${tables.name('link_counts')}) as counted,
              (select count(*) from ${tables.name('clicks')}) as visits,
              (select sum(visits) from ${tables.name('link_stats')}) as summed`)
          const row = rows[0]!
          expect([row.open, row.visits], 'tables that belong together').to.deep.equal([row.counted, row.summed])
          reads.push({ links: Number(row.links), visits: Number(row.visits) })
        }
      })()
      for (let round = 0; round < (long ? 20 : 2); round++) await build()
      rebuilding = false
      await Promise.all([writing, reading])

      expect(reads.length).to.be.above(5)
      // a reader may be late by what the new tables have and the old ones do not, but never loses what was there before
      const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)
      expect(reads.map((row) => row.links)).to.deep.equal(sorted(reads.map((row) => row.links)))
      expect(reads.map((row) => row.visits)).to.deep.equal(sorted(reads.map((row) => row.visits)))
      await caughtUp(projector)
      await expectCleanRun()
    })

    it('gives way to nothing half: ended on the way, it leaves what is read alone', async () => {
      await log.append(history(random, 500))
      await build()
      const before = await read()
      const stop = new AbortController()
      const options = { db: log.db, store: log.store, log: silent, instance: 'spec', limit: 20 }
      await fill(options, links, stop.signal, () => stop.abort())
      expect(await read()).to.deep.equal(before)
      expect((await checkpointsOf(log.db, links)).map(({ generation, live }) => [generation, live])).to.deep.equal([
        [1, true],
      ])
      await build()
      expect(await read()).to.deep.equal(before)
    })

    it('leaves tables behind that are dropped once nobody reads them, and no others', async () => {
      await log.append(history(random, 50))
      for (let n = 0; n < 3; n++) await build()
      await newGeneration(log.db, links, log.store.logId)
      await prune(log.db, projections)
      const tables = async (projection: Projection) => {
        const kept: number[] = []
        for (let generation = 1; generation <= 4; generation++) {
          const [first = ''] = Object.keys(projection.tables)
          const { rows } = await log.db.raw<{ rows: { found: boolean }[] }>(
            'select to_regclass(?) is not null as found',
            [tableNames(projection, generation)(first)],
          )
          if (rows[0]?.found) kept.push(generation)
        }
        return kept
      }
      // the third is read; of links, the fourth is being filled
      expect([await tables(accounts), await tables(links), await tables(stats)]).to.deep.equal([[3], [3, 4], [3]])
      expect((await checkpointsOf(log.db, links)).map(({ generation }) => generation)).to.deep.equal([3, 4])
    })
  })

  describe('tables that were filled from another log, or from a longer one', () => {
    const refused = async (projector: Projector) =>
      (await until(async () => of(projector, 'domain')?.halted, Boolean))?.reason

    it('are not continued: the log has another id', async () => {
      await log.append(history(random, 50))
      await build()
      const before = await read()
      const other: EventStore = { ...log.store, logId: '00000000-0000-4000-8000-000000000000' }
      const failed = await loadMembers(log.db, other, projections).catch((error: unknown) => error)
      expect(failed).to.be.instanceOf(WrongLog)
      const projector = start({ store: other })
      expect(await refused(projector)).to.match(
        /were filled from the log .*, but this log is 00000000.*linkledger rebuild/,
      )
      expect(await read()).to.deep.equal(before)
    })

    it('are not continued: the log is shorter, or goes on with other events; rebuilt, they are', async () => {
      await log.append(history(random, 300))
      await build()
      const before = await read()
      await log.db.raw('delete from log.events where position > 200')
      const projector = start()
      expect(await refused(projector)).to.match(
        /were filled up to position \d+, where this log has a different event or none/,
      )
      await log.append(
        Array.from({ length: 400 }, (_, n) => ({
          stream: `link-${n + 50_000}`,
          event: fresh(linkCreated({ id: n + 50_000, alias: `other-${n}` })),
        })),
      )
      await projector.stop()
      const again = start()
      expect(await refused(again)).to.match(/a different event or none/)
      expect(await read()).to.deep.equal(before)

      await build()
      const halts = () => again.state().subscriptions.map(({ halted }) => halted)
      await until(
        async () => halts(),
        ([one, two]) => !one && !two,
      )
      expect(halts()).to.deep.equal([undefined, undefined])
      expect((await read())['links']).to.have.length.above(400)
    })
  })
})
