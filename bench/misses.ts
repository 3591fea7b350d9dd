import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bench, count, type Line, megabytes, ms, reach, visitAliases, visitMisses, visitSteadily } from './kit.ts'
import { openLinkWriter } from './links.ts'
import { watchMemory } from './processes.ts'

/** visits of cached links per second, before and meanwhile */
const rate = 1_000

/**
 * Measures what aliases that do not exist cost, each asked for once and from an address of its own: memory, and time of
 * cached links.
 */
export const misses = async (bench: Bench): Promise<Line[]> => {
  const [amount, missRate, aliases] = [bench.size(1_000_000, 2_000), bench.size(3_000, 1_000), bench.size(1_000, 100)]
  const connection = await bench.database()
  const DATA_DIR = await mkdtemp(join(bench.dir, 'misses-'))
  const service = await bench.start(connection, { DATA_DIR, TRUST_PROXY: '127.0.0.1' })
  const { key, id } = await service.register()
  const links = await openLinkWriter(connection)
  await links.write(id, aliases)
  await links.close()
  const read = async (query: string) => (await service.get(query, { key })).json['data']
  await reach('links', aliases, async () => Number((await read('/api/urls?limit=1'))?.['result']))
  await visitAliases(service.address, aliases)

  const before = await visitSteadily(service.address, { aliases, rate, seconds: bench.size(30, 1) })
  const memory = watchMemory(bench.size(1000, 100), service.pid)
  const [missed, meanwhile] = await Promise.all([
    visitMisses(service.address, amount, missRate),
    visitSteadily(service.address, { aliases, rate, seconds: amount / missRate }),
  ])
  const seen = memory.stop()
  if (missed['4xx'] !== amount) throw new Error(`${missed['4xx']} of ${amount} aliases were missing`)
  const sent = aliases + before.visits + meanwhile.visits
  await reach('clicks', sent, async () => Number((await read('/api/account/stats'))?.['total']?.['clicks']))
  await service.stop()

  const tenth = Math.ceil(seen.length / 10)
  const first = Math.max(...seen.slice(0, 2 * tenth))
  const last = Math.max(...seen.slice(-tenth))
  return [
    {
      what: `a  ${count(amount)} aliases that do not exist: memory`,
      result: `${(last / first).toFixed(2)} (at most ${megabytes(last)} at the end, ${megabytes(first)} in the first fifth)`,
      target: '<= 1.10',
      met: last / first <= 1.1,
    },
    {
      what: '   cached links meanwhile / before, p99',
      result: `${(meanwhile.p99 / before.p99).toFixed(2)} (${ms(meanwhile.p99)}, before ${ms(before.p99)}, ${count(rate)}/s beside ${count(amount / missed.duration)} misses/s)`,
      target: 'p99 <= 10 ms',
      met: meanwhile.p99 <= 10_000,
    },
  ]
}
