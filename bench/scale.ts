import pg from 'pg'
import type { EmbeddedConnection } from '../src/postgres/embedded.ts'
import { type Dataset, openDataset } from './dataset.ts'
import { type Bench, count, type Line, quantile, type Started } from './kit.ts'
import { firstLink } from './links.ts'

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

/**
 * Compares what one account with all links asks for with the same of a link without clicks, or of an account with few
 * links.
 */
const measureReads = async (bench: Bench, service: Started, data: Dataset): Promise<Line[]> => {
  const { links, clicks, small, large } = data
  const ask = (key: string, path: string) => async () => {
    const { status, text } = await service.get(path, { key })
    if (status !== 200) throw new Error(`${path} responded ${status}: ${text.slice(0, 200)}`)
  }
  /** Searches the addresses, which end with the number of their link and a query. */
  const search = (text: string, matches: number) => async () => {
    const { json } = await service.get(`/api/urls?q=${encodeURIComponent(text)}`, { key: large.key })
    const found = Number(json['data']?.['result'])
    if (found !== matches) throw new Error(`${found} of ${matches} links were found by ${text}`)
  }
  const manyMatches = Array.from({ length: links }, (_, n) => n).filter((n) => String(n).startsWith('1')).length
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
      search: search('99?utm', Math.floor(links / 100)),
      searchMany: search('path/1', Math.min(manyMatches, 10_000)),
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
    most(`f  search with ${count(links / 100)} matches of ${n} links`, times.search, 0.99, 50),
    {
      ...{ what: `   search with ${count(manyMatches)} matches`, result: `p50 ${ms(times.searchMany)}` },
      ...{ target: '', met: true },
    },
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
  const data = await openDataset(bench, false)
  const { links, clicks } = data
  try {
    const began = performance.now()
    const service = await bench.start(data.on, data.settings)
    const started = performance.now() - began
    await data.allLinks(service)
    const linksAfter = performance.now() - began
    await data.allClicks(service)
    const after = performance.now() - began
    await data.ready(service)
    const lines = await measureReads(bench, service, data)
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
      await measureDisk(data.on, data.counted()),
      {
        what: '   memory of the process after that',
        result: `${count(rss / 1024 ** 2)} MiB`,
        target: '<= 400 MiB',
        met: rss <= 400 * 1024 ** 2,
      },
    ]
  } finally {
    await data.close()
  }
}
