import { expect } from 'chai'
import { pino } from 'pino'
import { openLocks } from '../../src/postgres/listen.ts'
import { accounts } from '../../src/projections/accounts/account.ts'
import { fill } from '../../src/projections/engine/fill.ts'
import { links } from '../../src/projections/links/link.ts'
import type { Projection } from '../../src/projections/engine/projection.ts'
import { type Locks, type Projector, type ProjectorOptions, startProjector } from '../../src/projections/engine/run.ts'
import { stats } from '../../src/projections/statistics/stats.ts'
import { until } from './client.ts'
import { dump, openTestLog, type TestLog } from './log.ts'

/** One projection with changes of every kind for each subscription, and one more. */
export const projections: readonly Projection[] = [accounts, links, stats]
export const silent = pino({ level: 'silent' })
const never = new AbortController().signal

/** Returns a logger that keeps its errors. */
export const recordingLogger = () => {
  const lines: string[] = []
  return {
    log: pino({ level: 'error' }, { write: (line: string) => void lines.push(line) }),
    lines: () => lines.join(),
  }
}

/** Locks that are always granted, so that two projectors can work at once. */
export const noLocks = async (): Promise<Locks> => ({
  acquire: async (keys) => new Set(keys),
  lost: new AbortController().signal,
  close: async () => {},
})

type Subscribed = 'domain' | 'clicks'

/** Gives each test of the suite a log with projectors, which are stopped after the test. */
export const projectorStage = () => {
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
  const subscription = (projector: Projector, filter: Subscribed) =>
    projector.state().subscriptions.find((one) => one.filter === filter)
  const haltOf = (projector: Projector, name: string) =>
    projector
      .state()
      .subscriptions.flatMap(({ halted }) => halted)
      .find(({ projection }) => projection === name)
  /** Waits until every projection of the projector has applied what the log holds now. */
  const caughtUp = async (projector: Projector, ...filters: Subscribed[]) => {
    for (const filter of filters.length > 0 ? filters : (['domain', 'clicks'] as const)) {
      const head = await log.store.head(filter)
      const reached = await until(
        async () => subscription(projector, filter)?.position ?? 0n,
        (position) => position >= head,
      )
      expect(reached, `the subscription to ${filter}`).to.equal(head)
      const halts = await until(
        async () => subscription(projector, filter)?.halted,
        (halted) => halted?.length === 0,
      )
      expect(halts, `the subscription to ${filter}`).to.deep.equal([])
    }
  }
  /** Returns the rows of all tables by their names. */
  const read = async (all = projections) => {
    const tables = await Promise.all(all.map((projection) => dump(log.db, projection)))
    return Object.assign({}, ...tables) as Record<string, string[]>
  }
  /** Fills new tables for each projection. */
  const build = async (all = projections) => {
    await fill({ db: log.db, store: log.store, log: silent, instance: 'spec' }, all, never)
  }
  /** Expects that a replay of the whole log gives the same tables. */
  const expectCleanRun = async () => {
    const tables = await read()
    expect(Object.values(tables).flat().length).to.be.above(100)
    await build()
    expect(await read()).to.deep.equal(tables)
  }
  return { log: () => log, start, subscription, haltOf, caughtUp, read, build, expectCleanRun }
}
