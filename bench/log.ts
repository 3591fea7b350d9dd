import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Database, openDatabase } from '../src/postgres/database.ts'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { urlOf } from '../test/support/app.ts'
import { linkDeleted, openAppends } from './inserts.ts'
import { type Bench, count, type Line, main, median, megabytes, perSecond } from './kit.ts'
import { watchMemory } from './processes.ts'

/** events that one statement inserts at most */
const perInsert = 100_000

const headOf = async (db: Database) =>
  Number((await db.raw<{ rows: { head: string }[] }>('select max(position) as head from log.events')).rows[0]?.head)

/** Makes the log as long as that, with events of streams of their own. Nothing else may write to it meanwhile. */
const lengthen = async (db: Database, events: number) => {
  const { data, metadata } = linkDeleted(1)
  for (let head = await headOf(db); head < events; head += perInsert)
    await db.raw(
      `insert into log.events (position, stream, revision, id, type, data, metadata, at)
       select n, 'link-' || (100000000 + n), 0, gen_random_uuid(), 'LinkDeleted', ?::json, ?::json, now()
       from generate_series(?::bigint, ?::bigint) n`,
      [JSON.stringify(data), JSON.stringify(metadata), head + 1, Math.min(head + perInsert, events)],
    )
}

/** Appends to new streams with some writers. Returns the events per second, the median of some runs. */
const timeAppends = async (bench: Bench, on: EmbeddedConnection, writers: number) => {
  const { append, close } = await openAppends(on)
  const rates: number[] = []
  for (let run = 0; run <= bench.size(5, 1); run++) rates.push(await perSecond(writers, bench.size(2, 0.3), append))
  await close()
  // the first run is a warm-up
  return median(rates.slice(1))
}

/**
 * Runs `linkledger backup`, and checks that it has saved the whole log. Returns the events per second, and the memory
 * that it took at most.
 */
const timeBackup = async (on: EmbeddedConnection, settings: Readonly<Record<string, string>>, events: number) => {
  const file = join(settings['DATA_DIR'] ?? '', 'backup.ndjson.gz')
  const began = performance.now()
  const child = spawn(process.execPath, [main, 'backup', file], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: urlOf(on), ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const memory = watchMemory(500, child.pid ?? 0)
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const seconds = (performance.now() - began) / 1000
  const most = Math.max(...memory.stop())
  await rm(file)
  if (code !== 0 || !output.includes(`${events} events`)) throw new Error(`the backup ended with ${code}: ${output}`)
  return { rate: events / seconds, most }
}

/**
 * Measures what the length of the log costs: appends and backups of 20,000,000 events, compared with 100,000, and
 * vacuum.
 */
export const log = async (bench: Bench): Promise<Line[]> => {
  const [few, many] = [bench.size(100_000, 5_000), bench.size(20_000_000, 20_000)]
  const on = await bench.database()
  const settings = { SECRET: 'a secret for benchmarks only', DATA_DIR: await mkdtemp(join(bench.dir, 'log-')) }
  // its keys belong to a backup
  const service = await bench.start(on, settings)
  await service.stop()
  const db = openDatabase(on, { name: 'bench', max: 1, timeout: 600_000, onError: () => {} })
  const measure = async (events: number) => {
    await lengthen(db, events)
    const began = performance.now()
    await db.raw('vacuum (analyze) log.events')
    const vacuum = (performance.now() - began) / 1000
    const [one, several] = [await timeAppends(bench, on, 1), await timeAppends(bench, on, 32)]
    return { vacuum, one, several, backup: await timeBackup(on, settings, await headOf(db)) }
  }
  const [short, long] = [await measure(few), await measure(many)]
  const { rows } = await db.raw<{ rows: { bytes: string }[] }>(`select pg_total_relation_size('log.events') as bytes`)
  await db.destroy()

  const n = `${count(many)} events / ${count(few)}`
  const ratio = (what: string, a: number, b: number, goal: number): Line => ({
    ...{ what, result: `${(a / b).toFixed(2)} (${count(a)}/s; ${count(b)}/s)` },
    ...{ target: `>= ${goal.toFixed(2)}`, met: a / b >= goal },
  })
  const shown = (what: string, result: string): Line => ({ what, result, target: '', met: true })
  return [
    ratio(`i  appends, 1 writer, ${n}`, long.one, short.one, 0.9),
    ratio('   appends, 32 writers', long.several, short.several, 0.9),
    ratio('   backup', long.backup.rate, short.backup.rate, 0.9),
    shown('   memory of the backup', `${megabytes(long.backup.most)}, ${megabytes(short.backup.most)}`),
    shown('   vacuum and analyze', `${long.vacuum.toFixed(1)} s, ${short.vacuum.toFixed(1)} s`),
    shown('   bytes for each event, with indexes', count(Number(rows[0]?.bytes) / many)),
  ]
}
