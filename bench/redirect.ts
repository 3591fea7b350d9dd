import { join } from 'node:path'
import pg from 'pg'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { type Bench, count, cpuOf, type Line, median, reach, startListening, visitAliases } from './kit.ts'
import { openLinkWriter } from './links.ts'

const server = (name: string) => new URL(`servers/${name}.mjs`, import.meta.url).pathname

interface Work {
  readonly aliases: number
  readonly requests: number
}
interface Measured {
  readonly rate: number
  /** µs per request */
  readonly cpu: number
  readonly p99: number
}

const measure = async ({ aliases, requests }: Work, address: string, cpu: () => Promise<number>): Promise<Measured> => {
  const before = await cpu()
  const load = await visitAliases(address, aliases, requests)
  const after = await cpu()
  if (load['3xx'] !== requests) throw new Error(`${load['3xx']} of ${requests} requests were redirected`)
  return { rate: load.requests.total / load.duration, cpu: (after - before) / requests, p99: load.latency.p99 }
}

/** Locks the log against appends until the function that it returns is called: the clicks wait in the spool. */
const holdBackRecording = async (connection: EmbeddedConnection) => {
  const locker = new pg.Client(connection)
  await locker.connect()
  await locker.query('begin')
  await locker.query('lock table log.events in share mode')
  return () => locker.end()
}

/**
 * Measures redirects of 10,000 cached links with durable clicks against a server that only returns 302, and against the
 * least that a recorded redirect can do. Recording is held back meanwhile, and the clicks are counted afterwards.
 */
export const redirect = async (bench: Bench): Promise<Line[]> => {
  const [runs, requests, aliases] = [bench.size(5, 1), bench.size(40_000, 4_000), bench.size(10_000, 1_000)]
  const connection = await bench.database()
  const service = await bench.service(connection)
  const { key, id } = service
  const links = await openLinkWriter(connection)
  await links.write(id, aliases)
  await links.close()
  const read = async (query: string) => (await service.get(query, { key })).json['data']
  const listed = async () => Number((await read('/api/urls?limit=1'))?.['result'])
  await reach('links', aliases, listed)
  await visitAliases(service.address, aliases)
  const release = await holdBackRecording(connection)
  const bare = await startListening([server('bare')])
  const floor = await startListening([server('floor'), join(bench.dir, 'floor.spool'), String(aliases)])
  const each: Record<'bare' | 'floor' | 'ours', Measured[]> = { bare: [], floor: [], ours: [] }
  for (let run = 0; run <= runs; run++) {
    const results = {
      bare: await measure({ aliases, requests }, bare.address, () => cpuOf(bare.address)),
      floor: await measure({ aliases, requests }, floor.address, () => cpuOf(floor.address)),
      ours: await measure({ aliases, requests }, service.address, service.cpu),
    }
    // the first run warms up
    if (run > 0) for (const name of ['bare', 'floor', 'ours'] as const) each[name].push(results[name])
  }
  await release()
  const sent = aliases + (runs + 1) * requests
  const counted = async () => Number((await read('/api/account/stats'))?.['total']?.['clicks'])
  await reach('clicks', sent, counted)
  for (const { stop } of [service, bare, floor]) await stop()

  const ratio = (name: 'bare' | 'floor', what: 'cpu' | 'rate') =>
    median(
      each.ours.map((ours, i) =>
        what === 'cpu' ? each[name][i]![what] / ours[what] : ours[what] / each[name][i]![what],
      ),
    )
  const figures = (name: keyof typeof each) => {
    const of = (what: keyof Measured) => median(each[name].map((one) => one[what]))
    return `${name} ${of('cpu').toFixed(1)} µs, ${count(of('rate'))}/s, p99 ${of('p99')} ms`
  }
  const line = (name: 'bare' | 'floor', goal: number): Line => ({
    what: `a  redirect with durable clicks, CPU: ${name} / ours`,
    result: `${ratio(name, 'cpu').toFixed(2)} (rate ${ratio(name, 'rate').toFixed(2)}; ${figures('ours')}; ${figures(name)})`,
    target: `>= ${goal.toFixed(2)}`,
    met: ratio(name, 'cpu') >= goal,
  })
  return [line('floor', 0.9), line('bare', 0.7)]
}
