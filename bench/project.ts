import { randomInt, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { Click } from '../src/events/click.ts'
import { codec } from '../src/events/codec.ts'
import { systemMetadata } from '../src/events/event.ts'
import type { Event } from '../src/events/index.ts'
import { createSignal } from '../src/lib/signal.ts'
import { postgresStore } from '../src/store/postgres.ts'
import { migrate, openDatabase, openPool } from '../src/postgres/database.ts'
import { fill } from '../src/projections/fill.ts'
import { stats } from '../src/projections/stats.ts'
import { ensureCheckpoints, tableNames } from '../src/projections/tables.ts'
import { memoryKeyring } from '../test/support/keyring.ts'
import { type Bench, count, type Line, median } from './kit.ts'

const runs = 5
const [batches, perBatch] = [400, 500]
const links = 10_000
const pick = <T>(...values: readonly [T, ...T[]]): T => values[randomInt(values.length)] ?? values[0]

/** A few links get most of the clicks, and most clicks are by returning visitors. */
const click = (at: string): Click => {
  const link = Math.floor(links ** Math.random())
  return {
    at,
    account: (link % 100) + 1,
    link,
    revision: 0,
    destination: 0,
    rule: 'link',
    source: { kind: 'link', id: link },
    country: pick('US', 'DE', 'BR', 'IN', 'JP', 'FR', 'CA', ''),
    language: pick('en', 'de', 'pt', 'fr', ''),
    referrer: pick('', '', 'twitter.com', 'google.com', `site-${randomInt(300)}.example`),
    browser: { family: pick('Chrome', 'Safari', 'Firefox', 'Edge'), version: String(randomInt(100, 140)) },
    os: { family: pick('Windows', 'iOS', 'Android', 'macOS', 'Linux'), version: '' },
    device: pick('desktop', 'mobile', 'tablet'),
    class: pick('human', 'human', 'human', 'human', 'bot'),
    agent: 0,
    visitor: randomInt(2 ** 40)
      .toString(16)
      .padStart(16, '0'),
  }
}

const linkClicked = (n: number): Event<'LinkClicked'> => {
  const at = new Date(Date.now() + n).toISOString()
  const clicks = Array.from({ length: perBatch }, () => click(at))
  return {
    type: 'LinkClicked',
    data: {
      rules: 1,
      agents: ['Mozilla Windows NT Win AppleWebKit Chrome Safari'],
      destinations: ['https://example.com/some/long/path'],
      languages: [],
      clicks: clicks.map((one, i) => (i % 3 === 0 ? one : { ...one, visitor: clicks[0]?.visitor ?? '' })),
      upTo: { bench: (n + 1) * perBatch },
    },
  }
}

/** Measures projecting clicks from the log into the tables of the statistics: facts, counters, labels, checkpoint. */
export const project = async (bench: Bench): Promise<Line[]> => {
  const connection = await bench.database()
  const settings = { name: 'bench', timeout: 60_000, onError: () => {} }
  const db = openDatabase(connection, { ...settings, max: 4 })
  await migrate(db)
  await ensureCheckpoints(db)
  const pool = openPool(connection, { ...settings, max: 4 })
  const store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
  for (let n = 0; n < batches; n++) {
    const events = [{ ...linkClicked(n), id: randomUUID(), metadata: systemMetadata() }]
    await store.append([{ stream: 'clicks-local-0', expected: n === 0 ? 'no_stream' : BigInt(n - 1), events }])
  }

  const rates: number[] = []
  for (let run = 0; run <= runs; run++) {
    const start = performance.now()
    await fill({ db, store, log: pino({ level: 'silent' }), instance: 'bench' }, [stats], new AbortController().signal)
    if (run > 0) rates.push((batches * perBatch * 1000) / (performance.now() - start)) // warm-up
  }
  const { rows } = await db.raw<{ rows: { n: string }[] }>(
    `select sum(visits) as n from ${tableNames(stats, runs + 1)('link_stats')}`,
  )
  if (Number(rows[0]?.n) !== batches * perBatch)
    throw new Error(`${rows[0]?.n} of ${batches * perBatch} clicks counted`)
  await store.close()
  await pool.end()
  await db.destroy()

  const rate = median(rates)
  const what = `d  projecting clicks, batches of ${perBatch}`
  return [{ what, result: `${count(rate)} clicks/s`, target: '>= 20,000/s', met: rate >= 20_000 }]
}
