import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createLinks } from './create.ts'
import { type Bench, count, type Line, ms, reach, visitAliases, visitSteadily } from './kit.ts'
import { openLinkWriter } from './links.ts'

/**
 * Measures redirects of cached links while links are created and everything is projected, by two processes: one answers
 * and records, one projects. The rate is half of what the service reaches when nothing else happens, 10,000 a second at
 * most.
 */
export const busy = async (bench: Bench): Promise<Line[]> => {
  const [seconds, aliases, creates] = [bench.size(30, 2), bench.size(10_000, 500), bench.size(500, 20)]
  const connection = await bench.database()
  const start = async (ROLES: string) => {
    const DATA_DIR = await mkdtemp(join(bench.dir, 'busy-'))
    return bench.start(connection, { ROLES, DATA_DIR, SECRET: 'a secret for benchmarks only' })
  }
  const projector = await start('projector')
  const service = await start('http,relay')
  const { key, id } = await service.register()
  const links = await openLinkWriter(connection)
  await links.write(id, aliases)
  await links.close()
  const read = async (query: string) => (await service.get(query, { key })).json['data']
  const listed = async () => Number((await read('/api/urls?limit=1'))?.['result'])
  const clicks = async () => Number((await read('/api/account/stats'))?.['total']?.['clicks'])
  await reach('links', aliases, listed)
  await visitAliases(service.address, aliases)
  const probe = await visitAliases(service.address, aliases, bench.size(40_000, 1_000))
  let sent = aliases + probe.requests.total
  await reach('clicks', sent, clicks, 600_000)

  const most = bench.size(10_000, 500)
  const rate = Math.min(most, Math.floor(probe.requests.total / probe.duration / 2))
  const amount = creates * seconds
  const client = { address: service.address, key }
  await createLinks(client, '-c', '16', '-a', String(creates))
  const alone = await visitSteadily(service.address, { aliases, rate, seconds: seconds / 3 })
  const [visits, created] = await Promise.all([
    visitSteadily(service.address, { aliases, rate, seconds }),
    createLinks(client, '-c', '16', '-a', String(amount), '-R', String(creates)),
  ])
  if (created['2xx'] !== amount) throw new Error(`${created['2xx']} of ${amount} links were created`)
  sent += alone.visits + visits.visits
  await reach('links', aliases + creates + amount, listed)
  await reach('clicks', sent, clicks, 600_000)
  await service.stop()
  await projector.stop()

  const createRate = amount / created.duration
  const why = rate < most ? `, half of what it reaches alone, as 10,000/s are too many here` : ''
  return [
    {
      what: `a  redirect, ${count(rate)}/s, while links are created`,
      result: `p50 ${ms(visits.p50)}, p99 ${ms(visits.p99)} (nothing created: p99 ${ms(alone.p99)}; ${count(createRate)} of ${creates} creates/s, p99 ${created.latency.p99} ms${why})`,
      target: 'p99 <= 10 ms',
      met: visits.p99 <= 10_000 && createRate > 0.9 * creates,
    },
  ]
}
