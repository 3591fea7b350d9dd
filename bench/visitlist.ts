import { openDatabase } from '../src/postgres/database.ts'
import { appendClicks } from './clickdata.ts'
import { type Bench, count, type Line, quantile, reach } from './kit.ts'
import { repeatClicks } from './manyclicks.ts'

const day = 86_400_000
/** ms that filling the tables may take, also on a busy machine */
const timeoutMs = 3_600_000
/** days of the clicks that come through the log, and how often they are repeated */
const [days, repeated] = [3, 9]

/**
 * Returns a service whose first account has 10,000,000 clicks of 30 days, or VISITS: a tenth of them comes through the
 * log.
 */
export const visitedAccount = async (bench: Bench) => {
  const clicks = Number(process.env['VISITS'] ?? bench.size(10_000_000, 20_000))
  const connection = await bench.database()
  const service = await bench.service(connection)
  const { key, id } = service
  const made = async (path: string, body: object) => (await service.post(path, { key, body })).json['id'] as number
  const campaign = await made('/api/campaign/add', { name: 'Spring' })
  const rareCampaign = await made('/api/campaign/add', { name: 'Winter' })
  const channel = await made('/api/channel/add', { name: 'Shop' })
  const link = await made('/api/url/add', { url: 'https://example.com/', campaign })
  // the clicks have the ids of the first account and the first link
  if (id !== 1 || link !== 1) throw new Error('the database is not empty')
  const others: number[] = []
  for (let n = 0; n < 40; n++)
    others.push(
      await made('/api/url/add', { url: `https://example.com/${n}`, campaign: n < 20 ? campaign : rareCampaign }),
    )
  const qr = await made('/api/qr/add', { type: 'text', data: 'Spring' })
  for (const [kind, item] of [
    ['qr', qr],
    ['links', others[30]],
  ] as const)
    await service.post(`/api/channel/${channel}/assign/${kind}/${item}`, { key })
  const get = (path: string) => service.get(path, { key })
  const db = openDatabase(connection, { name: 'bench', max: 2, timeout: timeoutMs, onError: () => {} })
  const to = new Date()
  const from = new Date(to.getTime() - days * day + 60_000)
  const base = Math.ceil(clicks / (repeated + 1))
  // a few of a link of a campaign, of a country and of a rule
  const rare = (n: number) => (n % 100_000 === 77 ? { country: 'LI', rule: 'location:li', link: others.at(-1)! } : {})
  const made30 = { links: 1000, hot: 0.3, accounts: 1, account: 1, visitors: 300_000 }
  await appendClicks(db, { ...made30, clicks: base, from, to, special: rare })
  const statistics = '/api/account/stats?from=2020-01-01&interval=month'
  await reach('clicks', base, async () => (await get(statistics)).json['data']?.total.visits, timeoutMs)
  await reach('links', others.length + 1, async () => (await get('/api/urls')).json['data']?.result, timeoutMs)
  await repeatClicks(db, { times: repeated, days, rare: 'LI' })
  await db.raw('vacuum (analyze)')
  await db.destroy()
  return { service, connection, clicks, campaign, rareCampaign, channel, qr, from, others }
}

/** Measures the first page of the visits behind figures. */
export const visitlist = async (bench: Bench): Promise<Line[]> => {
  const runs = bench.size(21, 3)
  const { service, clicks, campaign, rareCampaign, channel, qr, from, others } = await visitedAccount(bench)
  const lines: Line[] = []
  for (const [what, query] of visitQuestions({ campaign, rareCampaign, channel, qr, from, others })) {
    const times: number[] = []
    let found = 0
    for (let run = 0; run < runs; run++) {
      const start = performance.now()
      const { status, text, json } = await service.get(`/api/visits?${query}`, { key: service.key })
      if (status !== 200) throw new Error(`${query}: ${text}`)
      times.push(performance.now() - start)
      found = json['data'].visits.length
    }
    const [half, most] = [0.5, 0.95].map((p) => quantile(times, p)) as [number, number]
    lines.push({
      what: `   visits of ${what}, ${count(clicks)}`,
      result: `${half.toFixed(1)} ms, p95 ${most.toFixed(1)} ms, ${found} rows`,
      target: '<= 50 ms',
      met: half <= 50,
    })
  }
  await service.stop()
  return lines
}

type Made = Pick<
  Awaited<ReturnType<typeof visitedAccount>>,
  'campaign' | 'rareCampaign' | 'channel' | 'qr' | 'from' | 'others'
>

/** What is asked for, by names for people. */
export const visitQuestions = ({ campaign, rareCampaign, channel, qr, from, others }: Made) =>
  [
    ['the account', ''],
    ['a link', 'link=1'],
    ['a link with few', `link=${others.at(-1)}`],
    ['a QR code', `qr=${qr}`],
    ['a link by a QR code', `link=1&qr=${qr}`],
    ['a campaign', `campaign=${campaign}`],
    ['a campaign with few', `campaign=${rareCampaign}`],
    ['a channel', `channel=${channel}`],
    ['a day', `from=${from.toISOString().slice(0, 10)}&to=${from.toISOString().slice(0, 10)}`],
    ['a moment of the past', `at=${new Date(from.getTime() + day).toISOString()}`],
    ['clicks', 'class=human'],
    ['bots', 'class=bot'],
    ['previews, of which there are none', 'class=preview'],
    ['unique clicks', 'unique=true'],
    ['a country', 'country=DE'],
    ['a country with few, long ago', 'country=LI'],
    ['a country that nobody came from', 'country=AQ'],
    ['a country with few, of a link', 'country=LI&link=1'],
    ['a country and a browser', 'country=DE&browser=Firefox&class=human'],
    ['a referrer', 'referrer=google.com'],
    ['a rare referrer', 'referrer=site-2999.example'],
    ['a rule', 'rule=device:ios'],
    ['a rule with few', 'rule=location:li'],
    ['a rule with none', 'rule=browser:opera'],
    ['a revision', 'link=1&revision=1'],
    ['a destination', 'destination=https://example.com/some/long/path/7'],
  ] as const
