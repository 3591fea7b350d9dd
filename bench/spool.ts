// npx tsx bench/spool.ts [folder]: measures adding visits to the spool, which is synced every 100 ms.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { openSpool, type Spool } from '../src/clicks/spool/spool.ts'
import type { Visit } from '../src/clicks/visit.ts'

const visit = (link: number): Visit => ({
  at: new Date().toISOString(),
  account: 7,
  link,
  revision: 3,
  destination: 'https://example.com/some/long/path?utm_source=newsletter&utm_medium=email',
  rule: 'link',
  source: { kind: 'link', id: link },
  address: '203.0.113.77',
  agent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36',
  referrer: 'https://news.example.org/',
  languages: 'en-US,en;q=0.9',
  prefetch: false,
})

/** Runs loops that add a visit and continue in a later turn of the event loop, as requests do. */
const measure = async (name: string, spool: Spool, total: number, atOnce: number, between: () => Promise<unknown>) => {
  const latency = new Float64Array(total)
  const cpu = process.cpuUsage()
  const start = performance.now()
  let next = 0
  const request = async (): Promise<void> => {
    for (let number; (number = next++) < total;) {
      const begin = performance.now()
      await spool.add(visit(number))
      latency[number] = (performance.now() - begin) * 1000
      await between()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, request))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  latency.sort()
  const percentile = (p: number): string => `p${p * 100} ${latency[Math.floor(total * p)]?.toFixed(0)} µs,`
  const perAdd = `${((user + system) / total).toFixed(1)} µs of CPU per add`
  console.log(name, Math.round(total / seconds), 'adds/s,', percentile(0.5), percentile(0.99), perAdd)
}

const home = await mkdtemp(`${process.argv[2] ?? tmpdir()}/linkledger-spool-`)
const spool = await openSpool({ dir: `${home}/spool`, route: { log: 'local', partitions: 4 }, log: console.error })
const nextTurn = (): Promise<unknown> => new Promise(setImmediate)
await measure('warming up', spool, 50_000, 100, nextTurn)
for (const atOnce of [1, 10, 100, 1000]) await measure(`${atOnce} at once:`, spool, 200_000, atOnce, nextTurn)
await measure('about 2,000/s:', spool, 10_000, 20, () => pause(10))
await spool.close()
await rm(home, { recursive: true })
