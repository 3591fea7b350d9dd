import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { programOf } from '../test/support/oldprogram.ts'
import { createLinks } from './create.ts'
import { type Bench, buildVisitor, count, type Line, main, median, megabytes, ms, reach, type Started } from './kit.ts'
import { memoryOfTrees } from './processes.ts'

/** the release that today's program is compared with */
const before = '0.1.0'
const creates = 331

type Account = Awaited<ReturnType<typeof startAlone>>

/** Starts a program with its own PostgreSQL, as most run it, and creates links `a0`, `a1`, … */
const startAlone = async (bench: Bench, program: string, aliases: number) => {
  const service: Started = await bench.start(undefined, { DATA_DIR: await mkdtemp(join(bench.dir, 'busy-')) }, program)
  await service.ready()
  const account = await service.register()
  // V8 gives back what starting took once it has been idle for more than a minute
  await pause(120_000)
  const idle = memoryOfTrees(service.pid)
  const rows = Array.from({ length: aliases }, (_, n) => ({ url: `https://example.com/path/${n}`, custom: `a${n}` }))
  for (let from = 0; from < aliases; from += 1000)
    await service.post('/api/urls/bulk?op=create', { key: account.key, body: { rows: rows.slice(from, from + 1000) } })
  const data = async (query: string) => (await service.get(query, account)).json['data']
  const listed = async () => Number((await data('/api/urls?limit=1'))?.['result'])
  const clicks = async () => Number((await data('/api/account/stats'))?.['total']?.['clicks'])
  await reach('links', aliases, listed)
  return { ...service, ...account, idle, clicks, sent: 0 }
}

/** Measures one program: alone at a rate, at this rate beside creates, and with as many visits as it answers. */
const measure = async (
  service: Account,
  visit: NonNullable<Awaited<ReturnType<typeof buildVisitor>>>,
  { aliases, rate, seconds }: Readonly<Record<'aliases' | 'rate' | 'seconds', number>>,
) => {
  const visits = async (options: { readonly rate: number; readonly seconds: number }) => {
    const measured = await visit(service.address, { aliases, ...options })
    service.sent += measured.visits
    return measured
  }
  const settle = async () => {
    const began = performance.now()
    await reach('clicks', service.sent, service.clicks, 600_000)
    return (performance.now() - began) / 1000
  }
  const alone = await visits({ rate, seconds })
  await settle()
  const [beside, created] = await Promise.all([
    visits({ rate, seconds }),
    createLinks(service, '-c', '16', '-d', String(seconds), '-R', String(creates)),
  ])
  await settle()
  const saturated = await visits({ rate: 0, seconds })
  const behind = await settle()
  const counted = saturated.visits / (saturated.visits / saturated.perSecond + behind)
  return { alone, beside, created: created['2xx'] / created.duration, saturated, counted, idle: service.idle }
}
type Measured = Awaited<ReturnType<typeof measure>>

/**
 * Measures one process with its own PostgreSQL and the release before in turn, with a client that leaves the cores to
 * them: redirects at 10,000/s (half of what it answers where that is less) with and without creates beside them, as
 * many redirects as it answers, and how much memory all processes need while there is nothing to do.
 */
export const busy = async (bench: Bench): Promise<Line[]> => {
  // with little work, a comparison says nothing, and two services are too much beside the other parts
  if (bench.size(0, 1) === 1) return []
  const [rounds, seconds, aliases, most] = [3, 15, 10_000, 10_000]
  const visit = await buildVisitor(bench.dir)
  if (!visit) {
    const result = 'not measured: its client needs a C compiler (cc)'
    return [{ what: 'a  redirect beside creates, and at saturation', result, target: '', met: true }]
  }
  const ours = await startAlone(bench, main, aliases)
  const old = await startAlone(bench, await programOf(before), aliases)
  let reached = most
  // the first time, links are looked up
  for (const service of [old, old, ours, ours]) {
    const warm = await visit(service.address, { aliases, rate: 0, seconds: 10 })
    service.sent += warm.visits
    reached = warm.perSecond
  }
  const rate = Math.min(most, Math.floor(reached / 2))
  const each: Record<'ours' | 'old', Measured[]> = { ours: [], old: [] }
  for (let round = 0; round < rounds; round++) {
    each.old.push(await measure(old, visit, { aliases, rate, seconds }))
    each.ours.push(await measure(ours, visit, { aliases, rate, seconds }))
  }
  await ours.stop()
  await old.stop()

  const of = (name: keyof typeof each, value: (one: Measured) => number) => median(each[name].map(value))
  const [p99, p99Before] = [of('ours', (one) => one.beside.p99), of('old', (one) => one.beside.p99)]
  const answered = of('ours', (one) => one.saturated.perSecond) / of('old', (one) => one.saturated.perSecond)
  const figures = (name: keyof typeof each) =>
    [
      `p50 ${ms(of(name, (one) => one.beside.p50))}, p99 ${ms(of(name, (one) => one.beside.p99))}`,
      `reached ${count(of(name, (one) => one.beside.perSecond))}/s`,
      `${count(of(name, (one) => one.created))} creates/s`,
      `nothing created: p50 ${ms(of(name, (one) => one.alone.p50))}, p99 ${ms(of(name, (one) => one.alone.p99))}`,
    ].join('; ')
  const full = (name: keyof typeof each) =>
    `${count(of(name, (one) => one.saturated.perSecond))}/s, p99 ${ms(of(name, (one) => one.saturated.p99))}, ${count(of(name, (one) => one.counted))}/s until all are counted`
  return [
    {
      what: `a  redirect, ${count(rate)}/s, beside ${creates} creates/s`,
      result: `p99 ${(p99Before / p99).toFixed(1)} times less than ${before} (ours ${figures('ours')}) (${before} ${figures('old')})`,
      target: '1/50 or 60 ms',
      met: p99 <= 60_000 || p99 <= p99Before / 50,
    },
    {
      what: '   redirects answered at saturation, ours / before',
      result: `${answered.toFixed(2)} (ours ${full('ours')}) (${before} ${full('old')})`,
      target: '>= 1.70',
      met: answered >= 1.7,
    },
    {
      what: '   memory of all processes, PSS, idle',
      result: `${megabytes(ours.idle)} (${before} ${megabytes(old.idle)})`,
      target: '<= 285 MB',
      met: ours.idle <= 285e6,
    },
  ]
}
