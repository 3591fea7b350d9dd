import { type Bench, count, type Line, load, median, perSecond, reach } from './kit.ts'
import { openInserts } from './inserts.ts'
import { cpuOfTrees, postgresIn } from './processes.ts'

const writers = 32

/** Creates links with random aliases over HTTP on 32 connections; `args` say how many or how long. */
export const createLinks = ({ address, key }: { readonly address: string; readonly key: string }, ...args: string[]) =>
  load(
    ...['-m', 'POST', '-I', ...args],
    ...['-H', `authorization=Bearer ${key}`, '-H', 'content-type=application/json'],
    ...['-b', JSON.stringify({ url: 'https://example.com/some/long/path?utm_source=newsletter&n=[<id>]' })],
    `${address}/api/url/add`,
  )

/**
 * Measures creating links over HTTP, compared with plain inserts into the same PostgreSQL by as many writers. Each
 * response is sent when the link can be read.
 */
export const create = async (bench: Bench): Promise<Line[]> => {
  const [runs, amount] = [bench.size(5, 1), bench.size(5_000, 300)]
  const connection = await bench.database()
  const service = await bench.service(connection)
  const inserts = await openInserts(connection, writers)
  const postgres = postgresIn(bench.dir)
  const each: { rate: number; inserts: number; program: number; postgres: number; p50: number; p99: number }[] = []
  for (let run = 0; run <= runs; run++) {
    const inserted = await perSecond(writers, bench.size(3, 0.3), inserts.insert)
    const before = [await service.cpu(), cpuOfTrees(postgres)] as const
    const { requests, duration, latency, ...found } = await createLinks(service, '-c', '32', '-a', String(amount))
    const after = [await service.cpu(), cpuOfTrees(postgres)] as const
    if (found['2xx'] !== amount) throw new Error(`${found['2xx']} of ${amount} links were created`)
    if (run === 0) continue // warm-up
    const [program, ofPostgres] = [(after[0] - before[0]) / amount, (after[1] - before[1]) / amount]
    each.push({ rate: requests.total / duration, inserts: inserted, program, postgres: ofPostgres, ...latency })
  }
  const listed = async () => Number((await service.get('/api/urls?limit=1', service)).json['data']?.['result'])
  await reach('links', (runs + 1) * amount, listed)
  await service.stop()
  await inserts.close()

  const of = (what: keyof (typeof each)[number]) => median(each.map((one) => one[what]))
  const ratio = median(each.map((one) => one.rate / one.inserts))
  return [
    {
      what: 'c  creating links / plain inserts, 32 at once',
      result: `${ratio.toFixed(2)} (${count(of('rate'))}/s, p50 ${of('p50')} ms, p99 ${of('p99')} ms; inserts ${count(of('inserts'))}/s)`,
      target: '>= 0.35',
      met: ratio >= 0.35,
    },
    {
      what: '   CPU of creating a link',
      result: `${count(of('program'))} µs of the program, ${count(of('postgres'))} µs of PostgreSQL`,
      target: '',
      met: true,
    },
  ]
}
