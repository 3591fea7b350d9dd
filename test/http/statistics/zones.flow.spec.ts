import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Interval } from '../../../src/lib/zone.ts'
import { openMisses } from '../../../src/postgres/misses.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { onCalendar } from '../../support/calendar.ts'
import { until } from '../../support/client.ts'
import { clicked } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { randomClick } from '../../support/log.ts'

/** Their clocks change by an hour or by half of one, at an odd hour, or not at all; their differences have quarters. */
const zones = [
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'Pacific/Apia',
] as const
const hourMs = 3_600_000
const [start, end] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)]
/** around these, clocks of the zones change */
const nights = [
  ...[Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 2, 8), Date.UTC(2026, 10, 1)],
  ...[Date.UTC(2026, 3, 4, 15), Date.UTC(2026, 9, 3, 15), Date.UTC(2026, 3, 4, 14), Date.UTC(2026, 8, 26, 14)],
]

interface Row {
  readonly id: string
  readonly date: string
  readonly local?: string
  readonly class: string
  readonly unique: boolean
}
type Point = Readonly<Record<'at' | 'local', string> & Record<'clicks' | 'uniqueClicks', number>> & {
  readonly visits?: number
}

describe(`the figures of a reader in another time zone (${repeatable})`, () => {
  const random = randomFrom(seed)
  let app: TestApp
  let key: string
  let account: number
  let first: number
  /** queries of statistics by what they are about */
  let subjects: Readonly<Record<string, string>>

  const json = async (path: string) => {
    const { status, json: answer, text } = await app.get(path, { key })
    expect(status, `${path} ${text}`).to.equal(200)
    return answer['data']
  }
  const made = async (path: string, body: object) => (await app.post(path, { key, body })).json['id'] as number
  const append = async (clicks: readonly Click[]) => {
    const actor = { kind: 'service' } as const
    const metadata = { v: 1, at: clicks.at(-1)!.at, account: null, actor, request: '', command: randomUUID() } as const
    await app.app.ledger.store.append([
      {
        stream: `clicks-test-${randomUUID()}`,
        expected: 'no_stream',
        events: [{ ...clicked(...clicks), id: randomUUID(), metadata }],
      },
    ])
  }

  before(async () => {
    app = await startTestApp()
    ;({ key, id: account } = await app.register())
    const campaign = await made('/api/campaign/add', { name: 'Spring' })
    const channel = await made('/api/channel/add', { name: 'Shop' })
    const links: number[] = []
    for (const n of [0, 1, 2, 3])
      links.push(await made('/api/url/add', { url: 'https://example.com/', ...(n < 2 && { campaign }) }))
    first = links[0]!
    const qr = await made('/api/qr/add', { type: 'text', data: 'Spring' })
    const bio = await made('/api/bio/add', { name: 'Me', alias: 'me-in-zones', links: [] })
    for (const [kind, item] of [
      ['qr', qr],
      ['links', links[2]],
    ] as const)
      expect((await app.post(`/api/channel/${channel}/assign/${kind}/${item}`, { key })).status).to.equal(200)
    subjects = {
      account: '',
      link: `link=${first}`,
      campaign: `campaign=${campaign}`,
      channel: `channel=${channel}`,
      'QR code': `qr=${qr}`,
      'bio page': `bio=${bio}`,
      rotator: 'source=rotator',
      country: 'country=DE',
    }
    const clicks = Array.from({ length: 1000 }, (): Click => {
      const night = nights[random(2 * nights.length)]
      const at =
        night === undefined ? start + random((end - start) / 1000) * 1000 : night - 6 * hourMs + random(12 * hourMs)
      const link = links[random(4)]!
      const source = (
        [
          { kind: 'link', id: link },
          { kind: 'qr', id: qr },
          { kind: 'rotator', id: campaign },
          { kind: 'bio', id: bio, entry: 1 },
        ] as const
      )[random(4)]!
      const visitor = random(300).toString(16).padStart(16, '0')
      return { ...randomClick(random, 4), account, link, source, visitor, at: new Date(at).toISOString() }
    }).toSorted((a, b) => (a.at < b.at ? -1 : 1))
    for (let n = 0; n < clicks.length; n += 300) await append(clicks.slice(n, n + 300))
    await until(
      () => json('/api/account/stats?from=2025-12-01&to=2027-01-31&interval=month'),
      (data) => data.total.visits === clicks.length,
    )
  })
  after(() => app.close())

  /** Reads all visits of a question, page by page. */
  const visitsOf = async (query: string) => {
    const rows: Row[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const data = await json(`/api/visits?${query}&limit=1000&cursor=${cursor}`)
      rows.push(...(data.visits as readonly Row[]))
      cursor = data.next_cursor as string | undefined
    }
    return rows
  }
  const momentOf = (row: Row) => new Date(`${row.date.replace(' ', 'T')}Z`)
  const days = 'from=2026-01-01&to=2026-12-31'
  const visits = new Map<string, Promise<readonly Row[]>>()
  /** Returns the visits that a subject has in the year of a zone, as a calendar there says. */
  const yearOf = async (subject: string, zone: string) => {
    const asked = visits.get(subject) ?? visitsOf(`${subject}&from=2025-12-30&to=2027-01-02`)
    visits.set(subject, asked)
    return (await asked).filter((row) => onCalendar(zone, momentOf(row), 'month').startsWith('2026'))
  }

  /** Counts visits by the pages of a calendar. */
  const byHand = (rows: readonly Row[], zone: string, interval: Interval) => {
    const pages = new Map<string, { clicks: number; uniqueClicks: number; visits: number }>()
    for (const row of rows) {
      const page = onCalendar(zone, momentOf(row), interval)
      const sum = pages.get(page) ?? { clicks: 0, uniqueClicks: 0, visits: 0 }
      sum.visits++
      if (row.class === 'human') sum.clicks++
      if (row.unique) sum.uniqueClicks++
      pages.set(page, sum)
    }
    return Object.fromEntries(pages)
  }
  const pagesOf = (series: readonly Point[], zone: string, interval: Interval) =>
    Object.fromEntries(
      series
        .filter(({ clicks, visits }) => clicks > 0 || (visits ?? 0) > 0)
        .map(({ at, clicks, uniqueClicks, visits }) => [
          onCalendar(zone, new Date(`${at.replace(' ', 'T')}Z`), interval),
          { clicks, uniqueClicks, visits },
        ]),
    )

  for (const zone of zones)
    it(`are the visits of days, weeks and months on a calendar in ${zone}, for every subject`, async () => {
      for (const [name, subject] of Object.entries(subjects)) {
        const rows = await yearOf(subject, zone)
        expect(rows.length, name).to.be.greaterThan(50)
        expect(new Set(rows.map(({ id }) => id)).size, name).to.equal(rows.length)
        for (const interval of ['day', 'week', 'month'] as const) {
          const { total, series } = await json(`/api/stats?${subject}&${days}&tz=${zone}&interval=${interval}`)
          const about = `${name} by ${interval} in ${zone}`
          expect(pagesOf(series as Point[], zone, interval), about).to.deep.equal(byHand(rows, zone, interval))
          const sum = (of: (point: Point) => number) => (series as Point[]).reduce((all, point) => all + of(point), 0)
          expect(
            sum(({ clicks }) => clicks),
            about,
          ).to.equal(total.clicks)
          expect(
            sum(({ uniqueClicks }) => uniqueClicks),
            about,
          ).to.equal(total.uniqueClicks)
          expect(
            sum(({ visits }) => visits ?? 0),
            about,
          ).to.equal(total.visits)
          expect(total.visits, about).to.equal(rows.length)
        }
      }
      const listed = await visitsOf(`${days}&tz=${zone}`)
      expect(listed.map(({ id }) => id)).to.deep.equal((await yearOf('', zone)).map(({ id }) => id))
    })

  it('are those of the series of a link and of the account', async () => {
    for (const zone of zones)
      for (const [path, subject] of [
        [`/api/url/${first}/stats`, `link=${first}`],
        ['/api/account/stats', ''],
      ] as const) {
        const rows = (await yearOf(subject, zone)).filter((row) => row.class === 'human')
        for (const interval of ['day', 'week', 'month'] as const) {
          const { series } = await json(`${path}?${days}&tz=${zone}&interval=${interval}`)
          const expected = Object.entries(byHand(rows, zone, interval)).map(([page, { clicks, uniqueClicks }]) => [
            page,
            { clicks, uniqueClicks, visits: undefined },
          ])
          expect(pagesOf(series as Point[], zone, interval)).to.deep.equal(Object.fromEntries(expected))
        }
      }
  })

  it('are by hour the visits from its start to the start of the next, also where clocks change', async () => {
    for (const [zone, date] of [
      ['Australia/Lord_Howe', '2026-04-05'],
      ['Australia/Lord_Howe', '2026-10-04'],
      ['Europe/Berlin', '2026-10-25'],
      ['America/St_Johns', '2026-03-08'],
      ['Pacific/Chatham', '2026-09-27'],
    ] as const) {
      const question = `from=${date}&to=${date}&tz=${zone}`
      const { series, to } = await json(`/api/stats?${question}&interval=hour`)
      const points = series as readonly Required<Point>[]
      const clocks = points.map(({ local }) => local.slice(0, 13))
      expect(clocks, zone).to.deep.equal(clocks.toSorted())
      const found: string[] = []
      for (const [n, { at, visits }] of points.entries()) {
        const rows = await visitsOf(`from=${at}&to=${points[n + 1]?.at ?? to}`)
        expect(rows.length, `${zone} ${at}`).to.equal(visits)
        found.push(...rows.map(({ id }) => id))
      }
      expect(found, zone).to.have.members((await visitsOf(question)).map(({ id }) => id))
      expect(found.length, zone).to.be.greaterThan(5)
    }
  })

  it('lead to visits with the local time of the zone, in every format, only if a zone is named', async () => {
    const query = 'from=2026-04-04&to=2026-04-05&limit=500'
    for (const zone of zones)
      for (const row of await visitsOf(`${query}&tz=${zone}`)) {
        expect(new Date(row.local ?? '').getTime(), zone).to.equal(momentOf(row).getTime())
        const shown = momentOf(row).toLocaleString('sv', { timeZone: zone })
        expect(row.local?.slice(0, 19).replace('T', ' '), zone).to.equal(shown)
      }
    const as = async (accept: string, search: string) =>
      (await app.get(`/api/visits?${query}${search}`, { key, headers: { accept } })).text
    const [head = '', line = ''] = (await as('text/csv', '&tz=Australia/Lord_Howe')).split('\r\n')
    expect(head.split(',').slice(0, 3)).to.deep.equal(['id', 'date', 'local'])
    expect(line.split(',')[2]).to.match(/^2026-04-05T\d\d:\d\d:\d\d\+1[01]:[03]0$/)
    expect(await as('text/csv', '&tz=UTC&fields=date,local')).to.match(/^date,local\r\n(\S+) (\S+),\1T\2\+00:00\r\n/)
    expect((await as('text/csv', '')).split('\r\n')[0]?.split(',').slice(0, 3)).to.deep.equal(['id', 'date', 'link'])
    expect(JSON.parse((await as('application/x-ndjson', '&tz=UTC')).split('\n')[0]!)).to.have.property('local')
    expect(await as('application/json', '')).not.to.contain('"local"')
  })

  it('are those of a rehearsal of the same days', async () => {
    for (const zone of zones) {
      const [from, to] = ['2026-03-29', '2026-10-25']
      const body = { from, to, tz: zone }
      const { status, json: answer } = await app.post(`/api/url/${first}/rehearse`, { key, body })
      expect(status).to.equal(200)
      const { total } = await json(`/api/stats?link=${first}&from=${from}&to=${to}&tz=${zone}&interval=month`)
      expect(answer['data'].total, zone).to.deep.equal({ clicks: total.clicks, visits: total.visits })
    }
  })

  it('are, of addresses that lead nowhere, those of the quarters of its days', async () => {
    let now = 0
    const misses = openMisses(app.app.ledger.db, () => now)
    const today = Math.floor(Date.now() / hourMs / 24) * hourMs * 24
    const quarters = Array.from({ length: 150 }, () => random(75 * 24 * 4)).toSorted((a, b) => a - b)
    const times = quarters.map((n) => today + (n / 4 - 24 * 80) * hourMs)
    for (now of times) {
      misses.note({ account, host: 'zones.example', path: '/nowhere', kind: 'unknown', byPerson: true })
      await misses.write()
    }
    for (const zone of zones) {
      const expected: Record<string, number> = {}
      for (const at of times) {
        const day = onCalendar(zone, new Date(at), 'day')
        expected[day] = (expected[day] ?? 0) + 1
      }
      const rows = (await json(`/api/misses?q=zones.example&limit=200&tz=${zone}`)).misses
      const found = (rows as { date: string; count: number }[]).map(({ date, count }) => [date, count])
      expect(Object.fromEntries(found), zone).to.deep.equal(expected)
    }
  })
})
