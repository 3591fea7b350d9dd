import { type Bench, count, type Line, ms, visitSteadily } from './kit.ts'
import { openDataset } from './dataset.ts'

/** Measures redirects of links that no process has cached, at a steady rate, in a database with many. */
export const uncached = async (bench: Bench): Promise<Line[]> => {
  const [rate, seconds] = [bench.size(2_000, 1_000), bench.size(20, 1)]
  const data = await openDataset(bench, true)
  const { on, settings, links: aliases } = data
  try {
    // the tables are filled before, and a new process has nothing cached
    const first = await bench.start(on, settings)
    await data.ready(first)
    await first.stop()
    const service = await bench.start(on, settings)
    const warm = await visitSteadily(service.address, { aliases, rate, seconds: seconds / 4, from: 0 })
    const { visits, p50, p99 } = await visitSteadily(service.address, { aliases, rate, seconds, from: warm.visits })
    if (warm.visits + visits > aliases) throw new Error(`${aliases} links are not enough: some were visited twice`)
    await data.allClicks(service, warm.visits + visits)
    await service.stop()
    return [
      {
        what: `a  redirect of uncached links, ${count(rate)}/s, ${count(aliases)} links`,
        result: `p50 ${ms(p50)}, p99 ${ms(p99)}`,
        target: 'p99 <= 5 ms',
        met: p99 <= 5_000,
      },
    ]
  } finally {
    await data.close()
  }
}
