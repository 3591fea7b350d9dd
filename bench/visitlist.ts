import { openDatabase } from '../src/postgres/database.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, median, reach } from './kit.ts'

const day = 86_400_000
/** ms that filling the tables may take, also on a busy machine */
const timeoutMs = 3_600_000

/** Measures the first page of the visits behind figures of an account with 10,000,000 clicks, or VISITS. */
export const visitlist = async (bench: Bench): Promise<Line[]> => {
  const clicks = Number(process.env['VISITS'] ?? bench.size(10_000_000, 20_000))
  const runs = bench.size(9, 3)
  const connection = await bench.database()
  const service = await bench.service(connection)
  const { key, id } = service
  const made = async (path: string, body: object) => (await service.post(path, { key, body })).json['id'] as number
  const campaign = await made('/api/campaign/add', { name: 'Spring' })
  const link = await made('/api/url/add', { url: 'https://example.com/', campaign })
  // the clicks have the ids of the first account and the first link
  if (id !== 1 || link !== 1) throw new Error('the database is not empty')
  const qr = await made('/api/qr/add', { type: 'text', data: 'Spring' })
  const get = (path: string) => service.get(path, { key })
  const db = openDatabase(connection, { name: 'bench', max: 2, timeout: 60_000, onError: () => {} })
  const [from, to] = [new Date(Date.now() - 30 * day), new Date()]
  await appendClicks(db, { clicks, links: 1000, hot: 0.3, accounts: 1, account: 1, visitors: 300_000, from, to })
  const statistics = '/api/account/stats?from=2020-01-01&interval=month'
  await reach('clicks', clicks, async () => (await get(statistics)).json['data']?.total.visits, timeoutMs)
  await db.raw('analyze')
  await db.destroy()
  const lines: Line[] = []
  for (const [what, query] of [
    ['the account', ''],
    ['a link', 'link=1'],
    ['a QR code', `qr=${qr}`],
    ['a campaign', `campaign=${campaign}`],
    ['a day', `from=${from.toISOString().slice(0, 10)}&to=${from.toISOString().slice(0, 10)}`],
    ['clicks', 'class=human'],
    ['bots', 'class=bot'],
    ['previews, of which there are none', 'class=preview'],
    ['a country and a browser', 'country=DE&browser=Firefox&class=human'],
    ['a rule', 'rule=device:ios'],
  ] as const) {
    const times: number[] = []
    for (let run = 0; run < runs; run++) {
      const start = performance.now()
      const { status, text } = await get(`/api/visits?${query}`)
      if (status !== 200) throw new Error(text)
      times.push(performance.now() - start)
    }
    const taken = median(times)
    const met = taken <= 50
    lines.push({
      what: `   visits of ${what}, ${count(clicks)}`,
      result: `${taken.toFixed(1)} ms`,
      target: '<= 50 ms',
      met,
    })
  }
  await service.stop()
  return lines
}
