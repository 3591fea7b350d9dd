import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../src/postgres/database.ts'
import { type EmbeddedConnection, startEmbedded } from '../src/postgres/embedded.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, quantile, reach, type Started } from './kit.ts'
import { firstLink, openLinkWriter } from './links.ts'

const day = 86_400_000
const [few, hot] = [1_000, 0.2]
const secret = { SECRET: 'a secret for benchmarks only' }

/** How much data: SCALE_LINKS links of one account, and SCALE_CLICKS clicks on them. */
const sizes = (bench: Bench) => ({
  links: Number(process.env['SCALE_LINKS'] ?? bench.size(1_000_000, 3_000)),
  clicks: Number(process.env['SCALE_CLICKS'] ?? bench.size(10_000_000, 20_000)),
})

/** Opens the database of the data set, which a full run keeps in .cache and reuses: writing it takes minutes. */
const openData = async (
  bench: Bench,
): Promise<{ readonly on: EmbeddedConnection; readonly close: () => Promise<void> }> => {
  if (bench.size(1, 0) === 0) return { on: await bench.database(), close: async () => {} }
  const { links, clicks } = sizes(bench)
  const dir = join(import.meta.dirname, '../.cache', `scale-${links}-${clicks}`)
  await mkdir(dir, { recursive: true })
  const { connection, stop } = await startEmbedded({ dir, log: () => {} })
  return { on: connection, close: stop }
}

/** Accounts by the number of their links, with their keys. They are remembered next to the data. */
interface Accounts {
  readonly small: { readonly key: string; readonly id: number }
  readonly large: { readonly key: string; readonly id: number }
}

const remembered = async (client: pg.Client): Promise<Accounts | undefined> => {
  await client.query('create table if not exists public.scale (accounts json not null)')
  const { rows } = await client.query<{ accounts: Accounts }>('select accounts from public.scale')
  return rows[0]?.accounts
}

/** Writes accounts, links and clicks to the log, unless they are there. */
const build = async (bench: Bench, on: EmbeddedConnection): Promise<Accounts> => {
  const { links, clicks } = sizes(bench)
  const client = new pg.Client(on)
  const service = await bench.start(on, { ...secret, DATA_DIR: join(bench.dir, 'scale') })
  await client.connect()
  try {
    const before = await remembered(client)
    if (before) return before
    const [small, large] = [await service.register('small'), await service.register('large')]
    if (!large.id) throw new Error('an earlier run has not finished writing the data: delete .cache/scale-*')
    await service.stop()
    const writer = await openLinkWriter(on)
    await writer.write(large.id, links)
    await writer.write(small.id, few)
    await writer.close()
    const db = openDatabase(on, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
    const [from, to] = [new Date(Date.now() - 90 * day), new Date()]
    await appendClicks(db, {
      ...{ clicks, links, hot, accounts: 1, visitors: Math.ceil(clicks / 10), from, to },
      ...{ firstLink, account: large.id },
    })
    await db.destroy()
    const accounts = { small, large }
    await client.query('insert into public.scale values ($1)', [accounts])
    return accounts
  } finally {
    await client.end()
    await service.stop()
  }
}

/** Times requests that take turns, so that all of them see the same machine. Returns their times in ms, by name. */
const timed = async <N extends string>(
  requests: Readonly<Record<N, () => Promise<unknown>>>,
  runs: number,
): Promise<Readonly<Record<N, readonly number[]>>> => {
  const names = Object.keys(requests) as N[]
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<N, number[]>
  for (let run = -2; run < runs; run++)
    for (const name of names) {
      const start = performance.now()
      await requests[name]()
      if (run >= 0) times[name].push(performance.now() - start)
    }
  return times
}

const ms = (times: readonly number[], p = 0.5) => `${quantile(times, p).toFixed(1)} ms`

/** Compares what one account with all links asks for with the same of a link without clicks, or of an account with few links. */
const measureReads = async (bench: Bench, service: Started, { small, large }: Accounts): Promise<Line[]> => {
  const { links, clicks } = sizes(bench)
  const ask = (key: string, path: string) => async () => {
    const { status, text } = await service.get(path, { key })
    if (status !== 200) throw new Error(`${path} responded ${status}: ${text.slice(0, 200)}`)
  }
  const page = Math.floor((links * 0.03) / 25) * 25
  const cold = `/api/url/${firstLink + links}`
  const times = await timed(
    {
      first: ask(large.key, '/api/urls'),
      firstSmall: ask(small.key, '/api/urls'),
      byClick: ask(large.key, '/api/urls?order=click'),
      byClickSmall: ask(small.key, '/api/urls?order=click'),
      deep: ask(large.key, `/api/urls?page=${page}`),
      deepByClick: ask(large.key, `/api/urls?order=click&page=${page}`),
      search: ask(large.key, '/api/urls?q=path/1234'),
      detail: ask(large.key, `/api/url/${firstLink}`),
      coldDetail: ask(small.key, cold),
      series: ask(large.key, `/api/url/${firstLink}/stats`),
      coldSeries: ask(small.key, `${cold}/stats`),
      account: ask(large.key, '/api/account/stats'),
    },
    bench.size(30, 3),
  )
  const ratio = (what: string, a: readonly number[], b: readonly number[], goal: number): Line => {
    const r = quantile(a, 0.5) / quantile(b, 0.5)
    return { what, result: `${r.toFixed(2)} (${ms(a)}; ${ms(b)})`, target: `<= ${goal}`, met: r <= goal }
  }
  const most = (what: string, of: readonly number[], p: number, goal: number): Line => ({
    ...{ what, result: ms(of, p), target: `p${p * 100} <= ${goal} ms`, met: quantile(of, p) <= goal },
  })
  const [n, c] = [count(links), count(clicks)]
  return [
    ratio(`f  first page, ${n} links / 1,000`, times.first, times.firstSmall, 1.5),
    ratio(`f  first page by click, ${n} links / 1,000`, times.byClick, times.byClickSmall, 1.5),
    most(`f  page ${count(page)} by date`, times.deep, 0.5, 60),
    most(`f  page ${count(page)} by click`, times.deepByClick, 0.5, 60),
    most('f  search in all links', times.search, 0.99, 50),
    ratio(`g  detail of the link with a fifth of ${c} clicks / 0`, times.detail, times.coldDetail, 1.5),
    ratio(`g  series of that link / of one without clicks`, times.series, times.coldSeries, 1.5),
    most(`g  series of the account with ${c} clicks`, times.account, 0.5, 50),
  ]
}

/** Returns the bytes that a click takes, by part. */
const measureDisk = async (on: EmbeddedConnection, clicks: number): Promise<Line> => {
  const client = new pg.Client(on)
  await client.connect()
  const { rows } = await client.query<{ part: string; bytes: string }>(`
    select case when c.relname ~ '^clicks_v' then 'facts' when c.relname ~ '^visitors_' then 'first visits'
      when c.relname ~ '^(hours|days|tops)_' then 'roll-ups' else 'counters' end as part, sum(pg_total_relation_size(c.oid)) as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'read' and c.relkind = 'r' and c.relname ~ '^(clicks|visitors|hours|days|tops|link_stats|link_routes|account_stats|labels)_'
    group by 1
    union all select 'log', sum(pg_column_size(e.*)) from log.events e where type = 'LinkClicked'`)
  await client.end()
  const each = rows.map(({ part, bytes }) => ({ part, bytes: Number(bytes) / clicks }))
  const total = each.reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    what: '   bytes of disk per click',
    result: `${count(total)} (${each.map(({ part, bytes }) => `${part} ${count(bytes)}`).join(', ')})`,
    target: '<= 200',
    met: total <= 200,
  }
}

/** Measures what must not grow with the data: 1,000,000 links and 10,000,000 clicks, written once and kept. */
export const scale = async (bench: Bench): Promise<Line[]> => {
  const { links, clicks } = sizes(bench)
  const { on, close } = await openData(bench)
  try {
    const accounts = await build(bench, on)
    const began = performance.now()
    const service = await bench.start(on, { ...secret, DATA_DIR: join(bench.dir, 'scale') })
    const started = performance.now() - began
    const listed = async () =>
      Number((await service.get('/api/urls?limit=1', { key: accounts.large.key })).json['data']?.['result'])
    const counted = async () => {
      const { json } = await service.get('/api/account/stats?from=2020-01-01&interval=month', {
        key: accounts.large.key,
      })
      return Number(json['data']?.['total']?.['visits'])
    }
    const patience = bench.size(3_600_000, 60_000)
    await reach('links', links, listed, patience)
    const linksAfter = performance.now() - began
    await reach('clicks', clicks, counted, patience)
    const after = performance.now() - began
    const lines = await measureReads(bench, service, accounts)
    const rss = await service.memory()
    await service.stop()
    return [
      {
        what: `h  start on ${count(links)} links and ${count(clicks)} clicks`,
        result: `${count(started)} ms to listen, ${count(linksAfter)} ms to all links, ${count(after)} ms to all clicks`,
        target: '',
        met: true,
      },
      ...lines,
      await measureDisk(on, clicks),
      {
        what: '   memory of the process after that',
        result: `${count(rss / 1024 ** 2)} MiB`,
        target: '<= 400 MiB',
        met: rss <= 400 * 1024 ** 2,
      },
    ]
  } finally {
    await close()
  }
}
