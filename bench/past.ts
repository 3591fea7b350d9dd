import { openDatabase } from '../src/postgres/database.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, median, reach } from './kit.ts'
import { openLinkWriter } from './links.ts'

const day = 86_400_000
/** ms that filling the tables may take, also on a busy machine */
const timeoutMs = 1_800_000

/** Measures answers of the past: of a link with a million clicks, or PAST_CLICKS, and of a list of 100,000 links. */
export const past = async (bench: Bench): Promise<Line[]> => {
  const clicks = Number(process.env['PAST_CLICKS'] ?? bench.size(1_000_000, 20_000))
  const [links, runs] = [bench.size(100_000, 2000), bench.size(9, 1)]
  const connection = await bench.database()
  const service = await bench.service(connection)
  const { key, id } = service
  const made = await service.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
  // the clicks have the ids of the first account and the first link
  if (id !== 1 || made.json['id'] !== 1) throw new Error('the database is not empty')
  const writer = await openLinkWriter(connection)
  await writer.write(id, links)
  await writer.close()
  const get = (path: string) => service.get(path, { key })
  await reach('links', links + 1, async () => (await get('/api/urls')).json['data']?.result, timeoutMs)
  const listed = await get('/api/urls')
  const db = openDatabase(connection, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
  const head = Number(/domain=(\d+)/.exec(listed.headers.get('Linkledger-At') ?? '')?.[1])
  const [from, to] = [new Date(Date.now() - 30 * day), new Date()]
  await appendClicks(db, { clicks, links: 1, hot: 1, accounts: 1, visitors: 300_000, from, to })
  const statistics = '/api/url/1/stats?from=2020-01-01&interval=month'
  await reach('clicks', clicks, async () => (await get(statistics)).json['data']?.total.visits, timeoutMs)
  const counted = await get(statistics)
  const last = Number(/clicks=(\d+)/.exec(counted.headers.get('Linkledger-At') ?? '')?.[1])
  await db.raw('analyze')
  await db.destroy()

  const ms = async (path: string) => {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const start = performance.now()
      const { status, text } = await get(path)
      if (status !== 200) throw new Error(text)
      times.push(performance.now() - start)
    }
    return median(times)
  }
  const lines: Line[] = []
  const measure = async (what: string, path: string, atMost: number) => {
    const taken = await ms(path)
    lines.push({
      what: `   ${what}`,
      result: `${taken.toFixed(1)} ms`,
      target: `<= ${atMost} ms`,
      met: taken <= atMost,
    })
  }
  for (const part of [0.1, 0.5, 0.9]) {
    const event = head + Math.floor((last - head) * part)
    const share = `after ${part * 100} % of ${count(clicks)} clicks`
    await measure(`link ${share}`, `/api/url/1?at=event:${event}`, 50)
    await measure(`its series ${share}`, `/api/url/1/stats?at=event:${event}&by=country`, 50)
  }
  const total = (await get('/api/url/1')).json['data'].clicks as number
  const { revisions } = (await get('/api/url/1/revisions?limit=1000')).json['data'] as {
    revisions: { clicks: number }[]
  }
  const sum = revisions.reduce((n, revision) => n + revision.clicks, 0)
  if (sum !== total) throw new Error(`the revisions have ${sum} of ${total} clicks`)
  await measure(`its revisions, ${count(clicks)} clicks`, '/api/url/1/revisions', 100)
  const half = head + Math.floor((last - head) / 2)
  await measure(`its revisions after 50 % of ${count(clicks)} clicks`, `/api/url/1/revisions?at=event:${half}`, 100)
  for (const part of [0.1, 0.5, 1]) {
    const share = `after ${part * 100} % of ${count(links)} links`
    await measure(`list ${share}`, `/api/urls?at=event:${Math.floor(head * part)}`, 100)
  }
  await service.stop()
  return lines
}
