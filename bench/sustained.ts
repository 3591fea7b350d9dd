import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { runningEmbedded } from '../src/postgres/embedded.ts'
import { type Bench, count, cpuOf, type Line, megabytes, reach, startListening, visitAliases } from './kit.ts'
import { openLinkWriter } from './links.ts'
import { cpuOfTrees, memoryOfTrees, watchMemory } from './processes.ts'

const bare = new URL('servers/bare.mjs', import.meta.url).pathname
const mb = 1e6

/**
 * Starts the service with its own PostgreSQL, as most run it, with some links. `idle` is the memory of all its
 * processes before that.
 */
const startAlone = async (bench: Bench, aliases: number) => {
  const dir = await mkdtemp(join(bench.dir, 'sustained-'))
  const service = await bench.start(undefined, { DATA_DIR: dir })
  const { key, id } = await service.register()
  // V8 gives back what starting took once it has been idle for more than a minute
  await pause(bench.size(120_000, 500))
  const idle = memoryOfTrees(service.pid)
  const connection = await runningEmbedded(dir)
  if (!connection) throw new Error(`no PostgreSQL runs in ${dir}`)
  const links = await openLinkWriter(connection)
  await links.write(id, aliases)
  await links.close()
  const read = async (query: string) => (await service.get(query, { key })).json['data']
  await reach('links', aliases, async () => Number((await read('/api/urls?limit=1'))?.['result']))
  const clicks = async () => Number((await read('/api/account/stats'))?.['total']?.['clicks'])
  return { ...service, idle, clicks }
}

/** Visits two addresses at once, so that the client is not the limit. Returns the visits per second. */
const visitBoth = async (addresses: readonly [string, string], aliases: number, amount: number) => {
  const loads = await Promise.all(addresses.map((address) => visitAliases(address, aliases, amount / 2)))
  const answered = loads.reduce((sum, load) => sum + load['3xx'], 0)
  if (answered !== amount) throw new Error(`${answered} of ${amount} requests were redirected`)
  return loads.reduce((sum, load) => sum + load.requests.total / load.duration, 0)
}
const even = (n: number) => 2 * Math.ceil(n / 2)

/**
 * Measures redirects of cached links for a minute while their clicks are recorded, compared with two servers that only
 * return 302. The CPU time is that of all processes until the last click is in the statistics, so it says what both
 * cores could do without the client.
 */
export const sustained = async (bench: Bench): Promise<Line[]> => {
  const [seconds, aliases] = [bench.size(60, 2), bench.size(10_000, 500)]
  const service = await startAlone(bench, aliases)
  await visitAliases(service.address, aliases)
  const probe = even(bench.size(40_000, 1_000))
  const addresses = [service.address, service.address] as const
  const amount = even((await visitBoth(addresses, aliases, probe)) * seconds)
  let sent = aliases + probe
  await reach('clicks', sent, service.clicks, 600_000)

  const servers = [await startListening([bare]), await startListening([bare])] as const
  const bareAddresses = [servers[0].address, servers[1].address] as const
  const cpuOfBare = async () => (await cpuOf(bareAddresses[0])) + (await cpuOf(bareAddresses[1]))
  const warm = await visitBoth(bareAddresses, aliases, probe)
  const [bareAmount, bareBefore] = [even(warm * bench.size(20, 1)), await cpuOfBare()]
  const bareRate = await visitBoth(bareAddresses, aliases, bareAmount)
  const bareCpu = ((await cpuOfBare()) - bareBefore) / bareAmount
  for (const { stop } of servers) await stop()

  const memory = watchMemory(bench.size(1000, 200), service.pid)
  const [before, began] = [cpuOfTrees(service.pid), performance.now()]
  const rate = await visitBoth(addresses, aliases, amount)
  const took = performance.now() - began
  const busy = (cpuOfTrees(service.pid) - before) / 1000 / took
  sent += amount
  // the clicks are counted in their order
  const behind = (sent - (await service.clicks())) / rate
  await reach('clicks', sent, service.clicks, 1_800_000)
  const caughtUp = (performance.now() - began - took) / 1000
  const cpu = (cpuOfTrees(service.pid) - before) / amount
  const peak = Math.max(...memory.stop())
  await service.stop()
  const ratio = bareCpu / cpu
  return [
    {
      what: `a  redirect and recording for ${seconds} s, CPU: bare / ours`,
      result: `${ratio.toFixed(2)} (rate ${(rate / bareRate).toFixed(2)}; ours ${cpu.toFixed(1)} µs, ${count(rate)}/s, ${busy.toFixed(1)} cores; bare ${bareCpu.toFixed(1)} µs, ${count(bareRate)}/s)`,
      target: '>= 0.50',
      met: ratio >= 0.5,
    },
    {
      what: '   statistics are behind at the end of it',
      result: `${behind.toFixed(1)} s (all ${count(sent)} clicks are there ${caughtUp.toFixed(1)} s after it)`,
      target: '<= 5 s',
      met: behind <= 5,
    },
    {
      what: '   memory of all processes, PSS, at most',
      result: megabytes(peak),
      target: '<= 400 MB',
      met: peak <= 400 * mb,
    },
    {
      what: '   memory of all processes, PSS, idle',
      result: megabytes(service.idle),
      target: '<= 120 MB',
      met: service.idle <= 120 * mb,
    },
  ]
}
