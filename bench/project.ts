import { pino } from 'pino'
import { codec } from '../src/events/codec.ts'
import { createSignal } from '../src/lib/signal.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { migrate, openDatabase, openPool } from '../src/postgres/database.ts'
import { fill } from '../src/projections/fill.ts'
import { stats } from '../src/projections/stats.ts'
import { ensureCheckpoints, tableNames } from '../src/projections/tables.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { appendClicks, perEvent } from './clickdata.ts'
import { type Bench, count, type Line, median } from './kit.ts'

const runs = 5
const clicks = 200_000
const day = 86_400_000

/** Measures projecting clicks from the log into the tables of the statistics: facts, counters, labels, checkpoint. */
export const project = async (bench: Bench): Promise<Line[]> => {
  const connection = await bench.database()
  const settings = { name: 'bench', timeout: 60_000, onError: () => {} }
  const db = openDatabase(connection, { ...settings, max: 4 })
  await migrate(db)
  await ensureCheckpoints(db)
  const pool = openPool(connection, { ...settings, max: 4 })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  const [from, to] = [new Date(Date.now() - 30 * day), new Date()]
  await appendClicks(db, { clicks, links: 10_000, hot: 0.1, accounts: 100, visitors: 20_000, from, to })

  const rates: number[] = []
  for (let run = 0; run <= runs; run++) {
    const start = performance.now()
    await fill({ db, store, log: pino({ level: 'silent' }), instance: 'bench' }, [stats], new AbortController().signal)
    if (run > 0) rates.push((clicks * 1000) / (performance.now() - start)) // warm-up
  }
  const { rows } = await db.raw<{ rows: { n: string }[] }>(
    `select sum(visits) as n from ${tableNames(stats, runs + 1)('link_stats')}`,
  )
  if (Number(rows[0]?.n) !== clicks) throw new Error(`${rows[0]?.n} of ${clicks} clicks counted`)
  await store.close()
  await pool.end()
  await db.destroy()

  const rate = median(rates)
  const what = `d  projecting clicks, batches of ${perEvent}`
  return [{ what, result: `${count(rate)} clicks/s`, target: '>= 20,000/s', met: rate >= 20_000 }]
}
