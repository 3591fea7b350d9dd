import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../test/support/client.ts'
import { type Bench, type Latencies, type Line, median, reach, type Started, visitSteadily } from './kit.ts'
import { openLinkWriter } from './links.ts'

const script = (name: string) => ['--import', 'tsx', new URL(`${name}.ts`, import.meta.url).pathname]
const aliases = 1000
/** visits in a second: the load is steady, so that what changes is not how much of it there is */
const rate = 1500

/** Follows the clicks of accounts in a process of its own; `end` returns how many lines each stream has received. */
const follow = async (address: string, each: number, keys: readonly string[]) => {
  const child: ChildProcess = spawn(process.execPath, [...script('followers'), address, String(each), ...keys], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (text: Buffer) => (output += text.toString()))
  const exited = once(child, 'exit')
  await until(
    async () => output,
    (text) => text.includes('ready') || child.exitCode !== null,
  )
  return {
    end: async (): Promise<readonly number[]> => {
      child.stdin?.end()
      await exited
      return JSON.parse(output.split('\n')[1] ?? '[]') as number[]
    },
  }
}

const accountWithLinks = async (bench: Bench) => {
  const connection = await bench.database()
  const service = await bench.start(connection, {
    DATA_DIR: await mkdtemp(join(bench.dir, 'streams-')),
    REGISTRATIONS_PER_ADDRESS: '0',
    CONNECTIONS_PER_ADDRESS: '0',
  })
  const { key, id } = await service.register()
  const links = await openLinkWriter(connection)
  await links.write(id, aliases)
  await links.close()
  const listed = async () => Number((await service.get('/api/urls?limit=1', { key })).json['data']?.['result'])
  await reach('links', aliases, listed)
  return { service, key }
}

const countedBy =
  ({ get }: Started, key: string) =>
  async () =>
    Number((await get('/api/account/stats', { key })).json['data']?.['total']?.['clicks'])

const expectEach = (received: readonly number[], streams: number, lines: number) => {
  if (received.length !== streams || received.some((n) => n !== lines))
    throw new Error(`${streams} streams should have ${lines} lines each: ${[...new Set(received)].join()}`)
}

/**
 * Measures redirects at a steady rate without followers, with 1,000 followers of accounts that have no clicks, and with
 * 10 followers that receive every click, in turns. Each stream must receive exactly the clicks that were made.
 */
export const streams = async (bench: Bench): Promise<Line[]> => {
  const [rounds, seconds, accounts] = [bench.size(7, 1), bench.size(5, 1), bench.size(100, 5)]
  const { service, key } = await accountWithLinks(bench)
  const { address } = service
  const others: string[] = []
  for (let n = 0; n < accounts; n++) others.push((await service.register()).key)
  const counted = countedBy(service, key)
  let sent = 0
  const measure = async () => {
    const measured = await visitSteadily(address, { aliases, rate, seconds })
    sent += measured.visits
    // what is still being recorded would count for the next measurement
    await reach('clicks', sent, counted)
    return measured
  }
  await measure()
  const each: Record<'none' | 'idle' | 'busy', Latencies[]> = { none: [], idle: [], busy: [] }
  for (let round = 0; round < rounds; round++) {
    each.none.push(await measure())
    const idle = await follow(address, 10, others)
    each.idle.push(await measure())
    expectEach(await idle.end(), 10 * accounts, 0)
    const busy = await follow(address, 10, [key])
    const measured = await measure()
    each.busy.push(measured)
    await new Promise((later) => setTimeout(later, 2000))
    expectEach(await busy.end(), 10, measured.visits)
  }
  await service.stop()

  const of = (name: keyof typeof each, what: 'p50' | 'p99') => median(each[name].map((one) => one[what]))
  const ratio = (name: 'idle' | 'busy', what: 'p50' | 'p99') =>
    median(each[name].map((one, i) => one[what] / each.none[i]![what]))
  const line = (name: 'idle' | 'busy', what: 'p50' | 'p99', who: string, most: number): Line => ({
    what: `h  redirect, ${what} with ${who} / without`,
    result: `${ratio(name, what).toFixed(2)} (${of(name, what).toFixed(0)} µs, without ${of('none', what).toFixed(0)} µs, ${rate} visits/s)`,
    target: `<= ${most.toFixed(2)}`,
    met: ratio(name, what) <= most,
  })
  return [line('idle', 'p50', `${10 * accounts} idle followers`, 1.05), line('busy', 'p99', '10 busy followers', 2)]
}
