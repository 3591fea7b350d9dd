import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { dropOldFacts } from '../../../src/projections/statistics/retention.ts'
import fc from 'fast-check'
import type { Click } from '../../../src/events/statistics/click.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { withAt } from '../../support/workload.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

/** Returns a click at a time, as the recorder would append it. */
const click = (link: number, account: number, at: string, over: Partial<Click> = {}): Click => ({
  at: new Date(at).toISOString(),
  account,
  link,
  revision: 0,
  destination: 0,
  rule: 'link',
  source: { kind: 'link', id: link },
  country: 'CA',
  language: 'fr',
  referrer: '',
  browser: { family: 'Firefox', version: '1' },
  os: { family: 'Linux', version: '' },
  device: 'desktop',
  class: 'human',
  agent: 0,
  visitor: 'aa',
  ...over,
})

describe('the click series API', () => {
  let app: TestApp
  let key: string
  let account: number
  let [one, two] = [0, 0]

  const record = async (...clicks: Click[]) => {
    const metadata = {
      v: 1,
      at: new Date().toISOString(),
      account: null,
      actor: { kind: 'service' },
      request: '',
      command: randomUUID(),
    } as const
    const data = { rules: 1, agents: [''], destinations: ['https://example.com/'], languages: [], clicks, upTo: {} }
    const event = { type: 'LinkClicked', id: randomUUID(), data, metadata } as const
    await app.app.ledger.store.append([
      { stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events: [event] },
    ])
  }
  const stats = async (path: string, query: string) => (await app.get(`${path}?${query}`, { key })).json
  const visits = async (path: string, count: number, query = 'from=2000-01-01&interval=month') => {
    const { data } = await until(
      () => stats(path, query),
      (answer) => answer['data'].total.visits === count,
    )
    return data
  }

  before(async () => {
    app = await startTestApp()
    ;({ key, id: account } = await app.register())
    const add = async () =>
      (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json['id'] as number
    ;[one, two] = [await add(), await add()]
    await record(
      click(one, account, '2026-01-31T23:59:59.999Z'),
      click(one, account, '2026-02-01T00:00:00Z', { visitor: 'bb', country: 'JP', referrer: 'twitter.com' }),
      click(one, account, '2026-02-01T10:00:00Z', { visitor: 'cc', class: 'bot' }),
      click(one, account, '2026-02-01T10:30:00Z', { source: { kind: 'rotator', id: 9 } }),
      click(two, account, '2026-02-03T00:00:00Z', { country: '', language: '' }),
    )
    await visits('/api/account/stats', 5)
  })
  after(() => app.close())

  it('returns the clicks of one link by day, with empty days', async () => {
    const { data, error } = await stats(
      `/api/url/${one}/stats`,
      'from=2026-01-30&to=2026-02-02&by=country,referrer,source',
    )
    expect(error).to.equal(0)
    expect(data).to.deep.equal({
      from: '2026-01-30 00:00:00',
      to: '2026-02-03 00:00:00',
      interval: 'day',
      total: { clicks: 3, uniqueClicks: 2, visits: 4, suspects: 0 },
      series: [
        { at: '2026-01-30 00:00:00', clicks: 0, uniqueClicks: 0 },
        { at: '2026-01-31 00:00:00', clicks: 1, uniqueClicks: 1 },
        { at: '2026-02-01 00:00:00', clicks: 2, uniqueClicks: 1 },
        { at: '2026-02-02 00:00:00', clicks: 0, uniqueClicks: 0 },
      ],
      by: {
        country: { Canada: 2, Japan: 1 },
        referrer: { Direct: 2, 'twitter.com': 1 },
        source: { link: 2, rotator: 1 },
      },
    })
  })

  it('returns the clicks of the whole account', async () => {
    const { data } = await stats(
      '/api/account/stats',
      'from=2026-01-01&to=2026-02-28&interval=month&by=country,language,device,os,browser',
    )
    expect(data.total).to.deep.equal({ clicks: 4, uniqueClicks: 3, visits: 5, suspects: 0 })
    expect(data.series).to.deep.equal([
      { at: '2026-01-01 00:00:00', clicks: 1, uniqueClicks: 1 },
      { at: '2026-02-01 00:00:00', clicks: 3, uniqueClicks: 2 },
    ])
    expect(data.by).to.deep.equal({
      country: { Canada: 2, Japan: 1, Unknown: 1 },
      language: { fr: 3, Unknown: 1 },
      device: { desktop: 4 },
      os: { Linux: 4 },
      browser: { Firefox: 4 },
    })
  })

  it('has the days of a time zone, which are those of the question too', async () => {
    const { data } = await stats(`/api/url/${one}/stats`, 'from=2026-02-01&to=2026-02-01&tz=Europe/Berlin')
    expect(data).to.deep.include({ from: '2026-01-31 23:00:00', to: '2026-02-01 23:00:00', interval: 'day' })
    expect(data.series).to.deep.equal([
      { at: '2026-01-31 23:00:00', local: '2026-02-01T00:00:00+01:00', clicks: 3, uniqueClicks: 2 },
    ])
    expect(data.total).to.deep.include({ clicks: 3, visits: 4 })
    const time = 'from=2026-01-31 19:00&to=2026-01-31T19:00:01&tz=America/New_York&interval=hour'
    const { data: second } = await stats(`/api/stats`, time)
    expect(second.series).to.deep.equal([
      { at: '2026-02-01 00:00:00', local: '2026-01-31T19:00:00-05:00', clicks: 1, uniqueClicks: 1, visits: 1 },
    ])
  })

  it('has weeks that begin with Monday', async () => {
    const { data } = await stats('/api/account/stats', 'from=2026-01-30&to=2026-02-03&interval=week')
    expect(data.interval).to.equal('week')
    expect(data.series).to.deep.equal([
      { at: '2026-01-26 00:00:00', clicks: 3, uniqueClicks: 2 },
      { at: '2026-02-02 00:00:00', clicks: 1, uniqueClicks: 1 },
    ])
  })

  it('compares with as many days before, although one of them has 23 hours', async () => {
    const { data } = await stats('/api/stats', 'from=2026-03-29&to=2026-03-30&tz=Europe/Berlin&compare=before')
    expect(data).to.deep.include({ from: '2026-03-28 23:00:00', to: '2026-03-30 22:00:00' })
    expect(data.before).to.deep.include({ from: '2026-03-26 23:00:00', to: '2026-03-28 23:00:00' })
    expect(data.before.series.map(({ local }: { readonly local: string }) => local)).to.deep.equal([
      '2026-03-27T00:00:00+01:00',
      '2026-03-28T00:00:00+01:00',
    ])
  })

  it('returns 400 and names `tz` for an unknown time zone', async () => {
    for (const path of ['/api/stats', '/api/account/stats', `/api/url/${one}/stats`, '/api/urls'])
      for (const zone of ['Europe/Atlantis', '%2B01:00', 'x'.repeat(300), '2026-02-01']) {
        const { status, json } = await app.get(`${path}?tz=${zone}`, { key })
        expect({ status, field: json['field'] }, `${path} ${zone}`).to.deep.equal({ status: 400, field: 'tz' })
      }
  })

  it("returns 404 for another account's link", async () => {
    const other = await app.register()
    expect((await app.get(`/api/url/${one}/stats`, { key: other.key })).status).to.equal(404)
    const { json } = await app.get('/api/account/stats?from=2000-01-01&interval=month', { key: other.key })
    expect(json['data'].total).to.deep.equal({ clicks: 0, uniqueClicks: 0, visits: 0, suspects: 0 })
  })

  it('returns the clicks of a link while the event store is unavailable', async () => {
    const { handler } = app.app.ledger
    const { load } = handler
    Object.assign(handler, { load: () => Promise.reject(new Unavailable('stopped')) })
    try {
      expect((await app.get(`/api/url/${one}/stats`, { key })).status).to.equal(200)
    } finally {
      Object.assign(handler, { load })
    }
  })

  it('never contradicts itself while clicks are recorded: all figures of an answer are of one moment', async () => {
    const { key: fresh, id: owner } = await app.register()
    const { json } = await app.post('/api/url/add', { key: fresh, body: { url: 'https://example.com/' } })
    const clicked = (_: unknown, n: number) =>
      click(json['id'] as number, owner, '2026-03-02T10:00:00Z', { visitor: `a${n}` })
    let [recording, sent] = [true, 0]
    const seen = new Set<number>()
    const recorded = (async () => {
      // until the figures were seen at some moments in between, however slowly they are read
      for (; sent < 300 || seen.size < 4; sent += 5) await record(...Array.from({ length: 5 }, clicked))
      recording = false
    })()
    const path = '/api/account/stats?from=2026-03-01&to=2026-03-03&by=country,browser'
    while (recording || !seen.has(sent)) {
      const { total, series, by } = (await app.get(path, { key: fresh })).json['data']
      const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
      expect([sum(by.country), sum(by.browser)]).to.deep.equal([total.clicks, total.clicks])
      expect(series[1].clicks).to.equal(total.clicks)
      seen.add(total.clicks)
    }
    await recorded
    expect(seen.size).to.be.above(3)
  })

  it('defaults to the last thirty days by day', async () => {
    const { data } = await stats('/api/account/stats', '')
    expect(data.interval).to.equal('day')
    expect(data.series).to.have.length.within(30, 31)
    expect(data.by).to.deep.equal({})
  })

  it('reports clicks beyond 30 a minute by one visitor as suspects', async () => {
    const { id } = (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json
    const many = Array.from({ length: 45 }, (_, i) =>
      click(id, account, `2026-03-01T12:00:${String(i % 60).padStart(2, '0')}Z`),
    )
    await record(...many, click(id, account, '2026-03-01T12:01:00Z'))
    const { total } = await visits(`/api/url/${id}/stats`, 46)
    expect(total).to.deep.equal({ clicks: 46, uniqueClicks: 1, visits: 46, suspects: 15 })
  })

  it('returns 400 and names the horizon for a time whose clicks were dropped', async () => {
    const { id } = (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json
    await record(click(id, account, '2026-03-02T12:00:00Z'))
    await visits(`/api/url/${id}/stats`, 1)
    const { db, tables } = app.app.ledger
    const since = Date.parse('2026-03-01T00:00:00Z') / 60_000
    await db(tables.name('link_stats')).where({ link: id }).update({ since })
    const asked = async (from: string) => app.get(`/api/url/${id}/stats?from=${from}&to=2026-03-03`, { key })
    const { status, json } = await asked('2026-02-28')
    expect([status, json['message']]).to.deep.equal([
      400,
      '`from` must be 2026-03-01 00:00:00 or later: clicks of that time are no longer kept one by one.',
    ])
    expect((await asked('2026-03-01')).json['data'].total.clicks).to.equal(1)
  })

  it('checks the period that a moment of the past ends, and not one that ends now', async () => {
    const { headers } = await app.get('/api/account/stats', { key })
    const at = headers.get('Linkledger-At') ?? ''
    const asked = (path: string, from: string) =>
      app.get(`${path}?at=${encodeURIComponent(at)}&interval=hour&from=${encodeURIComponent(from)}`, { key })
    const ended = await app.get(`/api/account/stats?at=${encodeURIComponent(at)}`, { key })
    const { to } = ended.json['data'] as { to: string }
    // the most hours that there may be, and one second less
    const from = Date.parse(`${to.replace(' ', 'T')}Z`) - 2000 * 3_600_000 + 1000
    await until(
      async () => Date.now() - from,
      (ms) => ms > 2000 * 3_600_000 + 1000,
    )
    for (const path of ['/api/account/stats', '/api/stats', `/api/url/${one}/stats`]) {
      const answer = await asked(path, new Date(from).toISOString())
      expect(answer.status, answer.text).to.equal(200)
    }
  })

  it('names a valid value for an invalid query', async () => {
    const wrong: Record<string, RegExp> = {
      'from=yesterday': /^`from` must be a date and time/,
      'to=2026-02-30': /^`to` must be a date and time/,
      'from=2026-02-02&to=2026-02-01': /^`from` must be before `to`/,
      'interval=year': /^`interval` must be one of hour, day, week, month/,
      'interval=hour&from=2026-01-01&to=2026-12-31': /^`interval` must be longer: there are more than 2,000/,
      'by=country,colour': /^`by` must be any of country,/,
      [`interval=${encodeURIComponent("day'; drop table x")}`]: /^`interval` /,
    }
    for (const [query, message] of Object.entries(wrong)) {
      const { status, json } = await app.get(`/api/url/${one}/stats?${query}`, { key })
      expect([status, json['message']], query).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && message.test(text),
      )
    }
  })

  it(`returns a total that is the sum of the intervals for any query (seed ${seed})`, async () => {
    const { id } = (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json
    const year = Date.parse('2025-01-01T00:00:00Z')
    const minutes = fc.integer({ min: 0, max: 365 * 24 * 60 })
    const sample = fc.sample(
      fc.record({ minute: minutes, visitor: fc.integer({ min: 1, max: 40 }), human: fc.boolean() }),
      { seed, numRuns: 300 },
    )
    const clicks = sample
      .toSorted((a, b) => a.minute - b.minute)
      .map(({ minute, visitor, human }) =>
        click(id, account, new Date(year + minute * 60_000).toISOString(), {
          visitor: visitor.toString(16),
          class: human ? 'human' : 'bot',
        }),
      )
    await record(...clicks)
    await visits(`/api/url/${id}/stats`, 300)
    const first = new Map<string, string>()
    for (const { visitor, at } of clicks.filter((c) => c.class === 'human'))
      if (!first.has(visitor)) first.set(visitor, at)

    await fc.assert(
      fc.asyncProperty(minutes, minutes, fc.constantFrom('hour', 'day', 'month'), async (a, b, interval) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b) + 1].map((minute) =>
          new Date(year + minute * 60_000).toISOString(),
        )
        const query = new URLSearchParams({
          from: from!.slice(0, 19).replace('T', ' '),
          to: to!.slice(0, 19).replace('T', ' '),
          interval,
        })
        const { data, error } = await stats(`/api/url/${id}/stats`, String(query))
        if (interval === 'hour' && Date.parse(to!) - Date.parse(from!) > 2000 * 3_600_000)
          return void expect(error).to.equal(1)
        const within = (at: string) => at >= from! && at < to!
        const sum = (field: string) =>
          data.series.reduce((n: number, point: Record<string, number>) => n + (point[field] ?? 0), 0)
        expect(data.total.clicks).to.equal(clicks.filter((c) => c.class === 'human' && within(c.at)).length)
        expect(data.total.uniqueClicks).to.equal([...first.values()].filter(within).length)
        expect([sum('clicks'), sum('uniqueClicks')]).to.deep.equal([data.total.clicks, data.total.uniqueClicks])
      }),
      { seed, numRuns: 40 },
    )
  })

  it('keep totals when old months are dropped, and a moment before that is 400 with the horizon', async () => {
    const { id } = (await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })).json
    const paths = [`/api/url/${id}`, `/api/url/${id}/revisions`, '/api/urls?limit=1']
    const [then] = await Promise.all(paths.map((path) => app.get(path, { key })))
    await record(click(id, account, '2026-01-02T12:00:00Z'))
    await visits(`/api/url/${id}/stats`, 1)
    await record(click(id, account, '2026-09-02T12:00:00Z'))
    await visits(`/api/url/${id}/stats`, 2)
    const before = await Promise.all(paths.map((path) => app.get(path, { key })))

    const { db, tables } = app.app.ledger
    const horizon = Date.parse('2026-08-01T00:00:00Z') / 60_000
    const dropping = { names: tables.name, horizon, subjectsAtOnce: 100, pagesAtOnce: 100 }
    await dropOldFacts({ ...dropping, locked: (work) => db.transaction(work) })
    for (const [n, path] of paths.entries()) {
      const now = await app.get(path, { key })
      expect(now.text, path).to.equal(before[n]?.text)
      const at = now.headers.get('Linkledger-At') ?? ''
      expect((await app.get(withAt(path, at), { key })).text, path).to.equal(now.text)
      const { status, json } = await app.get(withAt(path, then?.headers.get('Linkledger-At') ?? ''), { key })
      expect(status, path).to.equal(400)
      expect(json['message']).to.match(/^`at` must be \d{4}-\S+ \S+ or later: clicks of that time are no longer kept/)
    }
  })
})
