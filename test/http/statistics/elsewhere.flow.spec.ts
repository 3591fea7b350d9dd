import { expect } from 'chai'
import { openVisitsElsewhere } from '../../../src/app/site/elsewhere.ts'
import type { VisitElsewhere } from '../../../src/clicks/declared.ts'
import { ImportWithdrawn } from '../../../src/clicks/elsewhere.ts'
import type { Actor } from '../../../src/events/event.ts'
import { NoAccountKey } from '../../../src/events/sealing.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { runCommand } from '../../support/process.ts'
import { readStream } from '../../support/stream.ts'

const robot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
const operator: Actor = { kind: 'operator', name: 'ann' }

/** The id of an import. */
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

describe('visits of another service', function () {
  this.timeout(300_000)
  let app: TestApp
  let key: string
  let account = 0
  let [one, two, limited] = [0, 0, 0]
  let path = ''
  let campaign = 0
  /** what every answer said before, and how the log stood then */
  let first: Record<string, string>
  let [beforeAt, between] = ['', '']

  const open = () =>
    openVisitsElsewhere(app.app.ledger, {
      countryOf: (address) => (address.startsWith('203.0.113.') ? 'CA' : ''),
      isOurHost: () => false,
    })
  const add = async (body: object = {}) => {
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })
    return { id: Number(json['id']), path: new URL(String(json['short'])).pathname }
  }
  /** Visits of five years in their order: those of bots, of people who return, and some of which little is known. */
  const visits = (): readonly VisitElsewhere[] =>
    Array.from({ length: 1300 }, (_, n): VisitElsewhere => ({
      place: n + 1,
      link: n % 3 === 0 ? two : one,
      destination: 'https://old.example/',
      at: new Date(Date.UTC(2019, 0, 5) + n * 33 * 3_600_000).toISOString(),
      userAgent: n % 5 === 0 ? robot : n % 7 === 0 ? undefined : browser,
      address: n % 11 === 0 ? undefined : `203.0.113.${n % 40}`,
      referrer: n % 2 === 0 ? 'https://news.example/a?b' : undefined,
      country: n % 13 === 0 ? 'jp' : undefined,
    }))
  const isBot = ({ userAgent }: VisitElsewhere) => userAgent === robot
  const all = 'from=2018-01-01&to=2030-01-01'
  const paths = () => [
    ...[one, two].flatMap((id) => [`/api/url/${id}`, `/api/url/${id}/stats?${all}&interval=month&by=country,referrer`]),
    '/api/urls?order=click',
    `/api/account/stats?${all}&interval=month&by=country,browser,os,device,language,source,medium`,
    `/api/stats?${all}&interval=month&by=class,link,rule,medium`,
    `/api/stats?${all}&interval=month&campaign=${campaign}&by=country`,
    `/api/stats?${all}&interval=month&class=bot&by=browser`,
    `/api/visits?${all}&limit=100`,
    '/api/campaigns',
  ]
  /** An answer names the newest event that it has, which goes on with the log. */
  const timeless = (text: string) => text.replace(/"(?:through|behind|at|event)": ?[^,}]+,?/g, '')
  const seen = async (at = '') => {
    const found: Record<string, string> = {}
    for (const one of paths()) {
      const moment = at === '' ? '' : `${one.includes('?') ? '&' : '?'}at=${encodeURIComponent(at)}`
      const { status, text } = await app.get(`${one}${moment}`, { key })
      expect(status, `${one}${moment} ${text}`).to.equal(200)
      found[one] = timeless(text)
    }
    return found
  }
  const totalOf = async (link: number, more = all) =>
    (await app.get(`/api/url/${link}/stats?interval=month&${more}`, { key })).json['data'].total as Record<
      string,
      number
    >
  const caughtUp = async () => {
    const { store, db } = app.app.ledger
    const head = await store.head('clicks')
    await until(
      async () =>
        (await db.raw(`select min(position) as n from read.checkpoints where projection = 'stats' and live`)).rows[0].n,
      (position) => BigInt(position) >= head,
    )
  }
  const events = async (type: string) =>
    Number(
      (await query<{ n: string }>(app.connection, 'select count(*) as n from log.events where type = $1', [type]))[0]!
        .n,
    )

  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1', CHECKPOINT_SECONDS: '1' })
    ;({ key, id: account } = await app.register())
    campaign = Number((await app.post('/api/campaign/add', { key, body: { name: 'spring' } })).json['id'])
    const link = await add({ campaign })
    ;[one, path] = [link.id, link.path]
    two = (await add()).id
    limited = (await add({ max_clicks: 2 })).id
    // a person whom the other service knew, too, and one who is new
    for (const address of ['203.0.113.1', '198.51.100.7']) await app.visit(path, { 'X-Forwarded-For': address })
    await until(
      () => totalOf(one),
      ({ clicks }) => clicks === 2,
    )
    first = await seen()
    beforeAt = (await app.get(`/api/url/${one}`, { key })).headers.get('Linkledger-At') ?? ''
  })
  after(() => app.close())

  it('are counted at their own times, with their bots, persons and countries, once recorded', async () => {
    const given = visits()
    const { recordVisits, visitsRecordedUpTo } = open()
    expect(await visitsRecordedUpTo(idOf(1))).to.equal(undefined)
    expect(await recordVisits({ import: idOf(1), account }, given.slice(0, 700), 700)).to.deep.equal({ refused: [] })
    expect(await visitsRecordedUpTo(idOf(1))).to.equal(700)
    // the process that had begun is gone: another one goes on, and does not know how far it came
    expect(await open().recordVisits({ import: idOf(1), account }, given, 5000)).to.deep.equal({ refused: [] })
    expect(await visitsRecordedUpTo(idOf(1))).to.equal(5000)
    await caughtUp()

    const ofOne = given.filter(({ link }) => link === one)
    const people = ofOne.filter((visit) => !isBot(visit))
    const known = new Set(people.flatMap(({ address, userAgent }) => (address ? [`${address} ${userAgent}`] : [])))
    expect(await totalOf(one)).to.deep.include({
      clicks: people.length + 2,
      visits: ofOne.length + 2,
      // of the two who came here, the other service knew one
      uniqueClicks: known.size + 1,
    })
    for (const year of [2019, 2021, 2023]) {
      const within = (visit: VisitElsewhere) => visit.at.startsWith(String(year))
      const total = await totalOf(one, `from=${year}-01-01&to=${year}-12-31`)
      expect(total, String(year)).to.deep.include({
        clicks: people.filter(within).length,
        visits: ofOne.filter(within).length,
      })
    }
    const { json } = await app.get(`/api/stats?${all}&interval=month&by=class,country`, { key })
    const counts = (by: readonly { value: string; clicks?: number; visits?: number }[], value: string) =>
      by.find((row) => row.value === value)
    const { by } = json['data']
    expect(JSON.stringify(counts(by.class, 'bot') ?? by.class)).to.include(String(given.filter(isBot).length))
    expect(JSON.stringify(by.country)).to.match(/JP|Japan/)
    const details = (await app.get(`/api/url/${one}`, { key })).json['data']
    expect(details.clicks).to.equal(people.length + 2)
    const newest = (await app.get(`/api/visits?from=2018-01-01&to=2024-01-01&limit=1`, { key })).json['data']
    expect(JSON.stringify(newest)).to.include('"rule":"imported"')
  })

  it('change nothing when they are recorded again', async () => {
    const [now, recorded] = [await seen(), await events('VisitsImported')]
    const { recordVisits } = open()
    await recordVisits({ import: idOf(1), account }, visits(), 5000)
    await recordVisits({ import: idOf(1), account }, visits().slice(100, 900), 900)
    expect(await events('VisitsImported')).to.equal(recorded)
    await caughtUp()
    expect(await seen()).to.deep.equal(now)
  })

  it('are not known to an answer about the time before them', async () => {
    expect(await seen(beforeAt)).to.deep.equal(first)
    between = (await app.get(`/api/url/${one}`, { key })).headers.get('Linkledger-At') ?? ''
  })

  it('are refused when they have no time, or one that cannot be', async () => {
    const visit = visits()[0]!
    const soon = new Date(Date.now() + 60_000).toISOString()
    const given = ['yesterday', '1994-12-31T23:59:59Z', soon].map((at, n) => ({ ...visit, at, place: n + 1 }))
    expect(await open().recordVisits({ import: idOf(9), account }, given)).to.deep.equal({
      refused: [
        { place: 1, why: 'no_time' },
        { place: 2, why: 'too_old' },
        { place: 3, why: 'future' },
      ],
    })
    expect(await open().visitsRecordedUpTo(idOf(9))).to.equal(undefined)
  })

  it('leave the service by no stream, and have receipts as every event has', async () => {
    const reading = await readStream(app.address, '/api/clicks', { key })
    await reading.ended
    expect(reading.text()).to.not.include('imported')
    const changes = await readStream(app.address, '/api/events', { key })
    await changes.ended
    expect(changes.text()).to.not.include('VisitsImported')
    const { json } = await app.get('/api/visits?from=2018-01-01&to=2024-01-01&limit=1', { key })
    const id = String(/"id":"(\d+-\d+)"/.exec(JSON.stringify(json))?.[1])
    const receipt = await until(
      () => app.get(`/api/clicks/${id}/proof`, { key }),
      ({ status }) => status === 200,
    )
    expect(receipt.text).to.include('imported')
  })

  it('keep no address and no user agent', async () => {
    const [found] = await query<{ text: string }>(
      app.connection,
      `select string_agg(data::text, '') as text from log.events where type = 'VisitsImported'`,
    )
    expect(found!.text).to.not.include('203.0.113')
    expect(found!.text).to.not.include(firefox)
    expect(found!.text).to.not.include('Mozilla/5.0')
  })

  it('are the same after a rebuild, and the tables agree with the log', async () => {
    const now = await seen()
    const env = { DATA_DIR: app.dir, DATABASE_URL: urlOf(app.connection), SECRET: app.config.SECRET ?? '' }
    expect((await runCommand(['rebuild'], env)).code).to.equal(0)
    expect(await seen()).to.deep.equal(now)
    const verified = await runCommand(['verify', '--tables'], env)
    expect([verified.code, verified.err], verified.out).to.deep.equal([0, ''])
  })

  it('leave nothing in any answer of the present when they are taken back, and are known to the time before it', async () => {
    const during = await seen(between)
    const { recordVisits, withdrawVisits } = open()
    const position = await withdrawVisits(idOf(1), operator)
    expect(position).to.be.a('bigint')
    await caughtUp()
    expect(await seen()).to.deep.equal(first)
    expect(await seen(between)).to.deep.equal(during)
    expect(await seen(beforeAt)).to.deep.equal(first)

    const taken = await events('ImportedVisitsWithdrawn')
    expect(await withdrawVisits(idOf(1), operator)).to.equal(position)
    expect(await events('ImportedVisitsWithdrawn')).to.equal(taken)
    expect(await withdrawVisits(idOf(77), operator)).to.equal(undefined)
    const again = await recordVisits({ import: idOf(1), account }, visits()).catch((error: unknown) => error)
    expect(again).to.be.instanceOf(ImportWithdrawn)
  })

  it('do not use up the clicks that a link may have', async () => {
    const given = visits()
      .slice(0, 20)
      .map((visit) => ({ ...visit, link: limited }))
    await open().recordVisits({ import: idOf(3), account }, given)
    await caughtUp()
    expect((await app.get(`/api/url/${limited}`, { key })).json['data'].clicks).to.be.above(2)
    const found = await query<{ path: string }>(
      app.connection,
      `select data->>'alias' as path from log.events where type = 'LinkCreated' and (data->>'id')::int = ${limited}`,
    )
    expect((await app.visit(`/${found[0]!.path}`, { 'X-Forwarded-For': '198.51.100.9' })).status).to.equal(302)
    await until(
      () => totalOf(limited, 'from=2025-01-01'),
      ({ clicks }) => clicks === 1,
    )
    await open().withdrawVisits(idOf(3), operator)
    await caughtUp()
    expect((await app.get(`/api/url/${limited}`, { key })).json['data'].clicks).to.equal(1)
  })

  it('are not recorded for an account that was erased', async () => {
    const other = await app.register()
    await app.app.ledger.keys.destroy([other.id])
    const link = { ...visits()[0]!, link: one }
    const refused = await open()
      .recordVisits({ import: idOf(5), account: other.id }, [link])
      .catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(NoAccountKey)
  })
})
