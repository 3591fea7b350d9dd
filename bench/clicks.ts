import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { stats } from '../src/projections/statistics/stats.ts'
import { tableNames } from '../src/projections/engine/tables.ts'
import { urlOf } from '../test/support/app.ts'
import { until } from '../test/support/client.ts'
import { type Bench, count, type Line, median, megabytes, reach } from './kit.ts'
import { firstLink, openLinkWriter } from './links.ts'
import { cpuOfTrees, postgresIn, watchMemory } from './processes.ts'

const SECRET = 'a secret for benchmarks only'

/** Starts the process that adds visits to a spool and records them. `end` returns how many there were. */
const startFeed = async (connection: EmbeddedConnection, DATA_DIR: string, account: number, links: number) => {
  const args = ['--import', 'tsx', new URL('feed.ts', import.meta.url).pathname]
  const child = spawn(process.execPath, [...args, ...[account, firstLink, links].map(String)], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: urlOf(connection), DATA_DIR, SECRET },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  const exited = once(child, 'exit')
  await until(
    async () => output,
    (text) => text.includes('ready') || child.exitCode !== null,
  )
  return {
    pid: child.pid!,
    allow: (clicks: number) => void child.stdin.write(`${clicks}\n`),
    end: async () => {
      child.stdin.end()
      const [code] = (await exited) as [number | null]
      if (code !== 0) throw new Error(`the process that records ended with ${code}`)
      return Number(output.split('\n')[1])
    },
  }
}

/**
 * Measures how many clicks a second go through spool and log into the statistics for ten minutes. One process has the
 * spool and records, one projects. HTTP is left out: its clients would use most of the two cores.
 */
export const clicks = async (bench: Bench): Promise<Line[]> => {
  const [seconds, links] = [bench.size(600, 2), bench.size(10_000, 500)]
  // clicks on their way at the same time: more would only wait in the spool and the log
  const ahead = bench.size(200_000, 10_000)
  const connection = await bench.database()
  const folder = () => mkdtemp(join(bench.dir, 'clicks-'))
  const service = await bench.start(connection, { DATA_DIR: await folder(), SECRET })
  const { key, id } = await service.register()
  const writer = await openLinkWriter(connection)
  await writer.write(id, links)
  await writer.close()
  const read = async (query: string) => (await service.get(query, { key })).json['data']
  await reach('links', links, async () => Number((await read('/api/urls?limit=1'))?.['result']))
  const shown = async () => Number((await read('/api/account/stats'))?.['total']?.['clicks'])
  const client = new pg.Client(connection)
  await client.connect()
  // the statistics of an account count the clicks of the last two minutes one by one: asking for them all the time
  // would take a core
  const counters = tableNames(stats, 1)('account_stats')
  const counted = async () =>
    Number(
      (await client.query<{ clicks: string }>(`select sum(clicks) as clicks from ${counters}`)).rows[0]?.clicks ?? 0,
    )
  const feed = await startFeed(connection, await folder(), id, links)

  const follow = async (ms: number) => {
    const end = performance.now() + ms
    for (;;) {
      const n = await counted()
      if (performance.now() > end) return n
      feed.allow(n + ahead)
      await pause(200)
    }
  }
  await follow(bench.size(20_000, 1_000))
  const roots = [service.pid, feed.pid, postgresIn(bench.dir)] as const
  const memory = watchMemory(bench.size(2000, 200), ...roots)
  const before = { clicks: await counted(), cpu: roots.map((root) => cpuOfTrees(root)), at: performance.now() }
  await follow(seconds * 1000)
  const after = { clicks: await counted(), cpu: roots.map((root) => cpuOfTrees(root)), at: performance.now() }
  const seen = memory.stop()
  await reach('clicks', await feed.end(), shown, 600_000)
  await client.end()
  await service.stop()

  const done = after.clicks - before.clicks
  const rate = (done * 1000) / (after.at - before.at)
  const [projecting, recording, postgres] = roots.map((_, i) => ((after.cpu[i]! - before.cpu[i]!) / done).toFixed(1))
  const minute = Math.ceil(seen.length / 10)
  const [first, last] = [median(seen.slice(0, minute)), median(seen.slice(-minute))]
  return [
    {
      what: `d  spool, log, statistics for ${count(seconds)} s, without HTTP`,
      result: `${count(rate)} clicks/s (µs of CPU each: ${recording} to record, ${projecting} to project, ${postgres} of PostgreSQL)`,
      target: '>= 40,000/s',
      met: rate >= 40_000,
    },
    {
      what: '   memory in the last tenth / in the first',
      result: `${(last / first).toFixed(2)} (${megabytes(last)}, ${megabytes(first)}, all processes, PSS)`,
      target: '<= 1.10',
      met: last / first <= 1.1,
    },
  ]
}
