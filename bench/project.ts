import { pino } from 'pino'
import { codec } from '../src/events/codec.ts'
import { createSignal } from '../src/lib/async/signal.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { openDatabase, openPool } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { fill } from '../src/projections/engine/fill.ts'
import { past, projectionsWith } from '../src/projections/index.ts'
import { links as linkTables } from '../src/projections/links/link.ts'
import type { Projection } from '../src/projections/engine/projection.ts'
import { stats } from '../src/projections/statistics/stats.ts'
import { ensureCheckpoints, tableNames } from '../src/projections/engine/tables.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { appendClicks, perEvent } from './clickdata.ts'
import { openLinkWriter } from './links.ts'
import { type Bench, count, type Line, median } from './kit.ts'

const day = 86_400_000
const domainProjections = projectionsWith({ withPast: true }).filter(({ filter }) => filter === 'domain')

/**
 * Measures projecting from the log into new tables: links into all tables of the filter `domain`, and clicks into those
 * of the statistics.
 */
export const project = async (bench: Bench): Promise<Line[]> => {
  const [runs, clicks, links] = [bench.size(5, 1), bench.size(200_000, 20_000), bench.size(100_000, 5_000)]
  const connection = await bench.database()
  const settings = { name: 'bench', timeout: 60_000, onError: () => {} }
  const db = openDatabase(connection, { ...settings, max: 4 })
  await migrate(db)
  await ensureCheckpoints(db)
  const pool = openPool(connection, { ...settings, max: 4 })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  const writer = await openLinkWriter(connection)
  await writer.write(1, links)
  await writer.close()
  const [from, to] = [new Date(Date.now() - 30 * day), new Date()]
  await appendClicks(db, { clicks, links: 10_000, hot: 0.1, accounts: 100, visitors: 20_000, from, to })

  /** Fills the tables several times; returns the things per second, and the µs of the program for each. */
  const filled = async (projections: readonly Projection[], amount: number) => {
    const options = { db, store, log: pino({ level: 'silent' }), instance: 'bench' }
    const [rates, cpus]: [number[], number[]] = [[], []]
    for (let run = 0; run <= runs; run++) {
      const [start, cpu] = [performance.now(), process.cpuUsage()]
      await fill(options, projections, new AbortController().signal)
      const { user, system } = process.cpuUsage(cpu)
      if (run === 0) continue // warm-up
      rates.push((amount * 1000) / (performance.now() - start))
      cpus.push((user + system) / amount)
    }
    return { rate: median(rates), cpu: median(cpus) }
  }
  const counted = async (of: Projection, table: string, sum: string, amount: number) => {
    const { rows } = await db.raw<{ rows: { n: string }[] }>(
      `select ${sum} as n from ${tableNames(of, runs + 1)(table)}`,
    )
    if (Number(rows[0]?.n) !== amount) throw new Error(`${rows[0]?.n} of ${amount} are in ${table}`)
  }
  const ofClicks = await filled([stats], clicks)
  // a scan counts for its code, too, which has a negative number
  await counted(stats, 'link_stats', 'sum(visits) filter (where link > 0)', clicks)
  const ofLinks = await filled(domainProjections, links)
  await counted(linkTables, 'links', 'count(*)', links)
  await counted(past, 'past_links', 'count(*)', links)
  await store.close()
  await pool.end()
  await db.destroy()

  const line = (what: string, { rate, cpu }: typeof ofClicks, unit: string, goal: number): Line => ({
    ...{ what, result: `${count(rate)} ${unit}/s, ${cpu.toFixed(0)} µs of the program each` },
    ...{ target: `>= ${count(goal)}/s`, met: rate >= goal },
  })
  return [
    line(`d  projecting clicks, batches of ${perEvent}`, ofClicks, 'clicks', 60_000),
    line('d  projecting links, all tables and their past', ofLinks, 'events', 20_000),
  ]
}
