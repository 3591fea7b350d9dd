import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { urlOf } from '../test/support/app.ts'
import { openDataset } from './dataset.ts'
import { type Bench, count, type Line, main, megabytes, ms, startSteady, visitSteadily } from './kit.ts'

/** Returns the most resident memory in bytes that a process has had, 0 when it has ended. */
const peakOf = (pid: number) => {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

const runRebuild = async (settings: Readonly<Record<string, string>>) => {
  const began = performance.now()
  const child = spawn(process.execPath, [main, 'rebuild'], {
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let peak = 0
  const looking = setInterval(() => (peak = Math.max(peak, peakOf(child.pid!))), 100)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(looking)
  if (code !== 0) throw new Error(`the rebuild ended with ${code}`)
  return { seconds: (performance.now() - began) / 1000, peak }
}

/** Measures a rebuild of all tables while the service answers redirects at a steady rate. */
export const rebuild = async (bench: Bench): Promise<Line[]> => {
  const data = await openDataset(bench, true)
  const { on, settings, links, clicks } = data
  try {
    const service = await bench.start(on, settings)
    await data.ready(service)
    const visits = { aliases: Math.min(links, 10_000), rate: bench.size(1_000, 200) }
    const before = await visitSteadily(service.address, { ...visits, seconds: bench.size(20, 1) })
    const steady = startSteady(service.address, { ...visits, seconds: 7200 })
    const { seconds, peak } = await runRebuild({ ...settings, DATABASE_URL: urlOf(on) })
    steady.stop()
    const meanwhile = await steady.done
    await data.allLinks(service)
    await data.allClicks(service, before.visits + meanwhile.visits)
    await service.stop()
    // in proportion to 1,000,000 links and 10,000,000 clicks; a little work takes seconds, too
    const goal = Math.max(10, (300 * (links + clicks)) / 11_000_000)
    return [
      {
        what: `d  rebuild of ${count(links)} links and ${count(clicks)} clicks`,
        result: `${seconds.toFixed(1)} s, while ${count(visits.rate)} redirects/s are answered`,
        target: `<= ${count(goal)} s`,
        met: seconds <= goal,
      },
      {
        what: '   redirect meanwhile',
        result: `p50 ${ms(meanwhile.p50)}, p99 ${ms(meanwhile.p99)} (before: p99 ${ms(before.p99)})`,
        target: 'p99 <= 20 ms',
        met: meanwhile.p99 <= 20_000,
      },
      {
        what: '   memory of the process that rebuilds, at most',
        result: megabytes(peak),
        target: '<= 400 MB',
        met: peak <= 400e6,
      },
    ]
  } finally {
    await data.close()
  }
}
