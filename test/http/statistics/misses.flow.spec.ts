import { expect } from 'chai'
import { block } from '../../../src/commands/operator/block.ts'
import { operatorContext } from '../../../src/app/operator/caller.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { deleteOldMisses, openMisses } from '../../../src/postgres/misses.ts'
import { localTime } from '../../../src/lib/zone.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { visitAt } from '../../support/host.ts'
import { signIn } from '../../support/session.ts'

const host = 'go.example.com'
const url = 'https://example.com/summer'
type Row = Readonly<Record<string, unknown>>
const dayMs = 86_400_000
const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10)

describe('addresses that lead nowhere', () => {
  let app: TestApp
  let ann: Awaited<ReturnType<TestApp['register']>>
  let bob: Awaited<ReturnType<TestApp['register']>>
  let operator: Awaited<ReturnType<typeof signIn>>
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;[ann, bob] = [await app.register(), await app.register()]
    const { key } = ann
    const added = await app.post('/api/domain/add', { key, body: { domain: `https://${host}` } })
    expect(added.status, added.text).to.equal(200)
    await app.app.ledger.handler.handle(
      accounts,
      { type: 'MarkOperator', id: bob.id },
      operatorContext(app.config, bob.id),
    )
    operator = await signIn(app, bob.email)
  })
  after(() => app.close())

  const add = async (body: object, { key } = ann) => {
    const answer = await app.post('/api/url/add', { key, body: { url, ...body } })
    expect(answer.status, answer.text).to.equal(200)
    return answer.json['id'] as number
  }
  const visit = async (
    path: string,
    at = host,
    headers: Readonly<Record<string, string>> = { 'User-Agent': browser },
  ) => (await visitAt(app.address, at, path, headers)).status
  const own = () => new URL(app.address).host
  const rows = async (of: typeof ann | undefined, search = ''): Promise<readonly Row[]> => {
    const path = `misses?group=address&order=click&limit=1000${search}`
    const answer = of
      ? await app.get(`/api/${path}`, { key: of.key })
      : await operator.ask('GET', `/api/operator/${path}`)
    expect(answer.status, answer.text).to.equal(200)
    return answer.json['data'].misses as readonly Row[]
  }
  const counted = (of: typeof ann | undefined, path: string, kind: string, count = 1) =>
    until(
      async () => (await rows(of)).find((row) => row['path'] === path && row['kind'] === kind),
      (row) => row?.['count'] === count,
    )

  it('are counted by people and programs, with the link that was meant', async () => {
    const summer = await add({ custom: 'Summer', domain: `https://${host}` })
    await add({ custom: 'summer2', domain: `https://${host}` }, ann)
    for (const path of ['/sumer', '/Sumer/', '/sumer?x=1']) expect(await visit(path)).to.equal(404)
    await visit('/sumer', host, { 'User-Agent': 'Googlebot/2.1' })
    await visit('/summer/programme')
    expect(await counted(ann, '/sumer', 'unknown', 4)).to.deep.equal({
      ...{ host, path: '/sumer', date: new Date().toISOString().slice(0, 10), count: 4, people: 3, kind: 'unknown' },
      ...{ suggestion: '/Summer', suggested: summer, link: null },
    })
    expect(await counted(ann, '/summer/programme', 'unknown')).to.include({ suggestion: '/Summer' })
    // counted nowhere else
    expect((await app.get(`/api/url/${summer}`, { key: ann.key })).json['data'].clicks).to.equal(0)
    const made = await add({ custom: 'sumer', domain: `https://${host}` })
    expect(await counted(ann, '/sumer', 'unknown', 4)).to.include({ suggestion: null, link: made })
  })

  it('given a domain with exact aliases, then they keep their letter case, and so do their links', async () => {
    const exact = 'exact.example'
    const { key } = await app.register()
    await app.post('/api/domain/add', { key, body: { domain: `https://${exact}`, aliases: 'exact' } })
    const on = { domain: exact }
    await add({ custom: 'summer', ...on }, { key } as typeof ann)
    const winter = await add({ custom: 'Winter', ...on }, { key } as typeof ann)
    for (const path of ['/Later/On', '/SUMMER', '/winter', '/nothing']) expect(await visit(path, exact)).to.equal(404)
    const found = async () => {
      const shown = await rows({ key } as typeof ann)
      return Object.fromEntries(shown.map((row) => [row['path'], [row['suggestion'], row['suggested'], row['link']]]))
    }
    await until(found, (all) => Object.keys(all).length === 4)
    const later = await add({ custom: 'Later/On', ...on }, { key } as typeof ann)
    const listed = await until(found, (all) => all['/Later/On']?.[2] === later)
    expect(listed['/SUMMER']).to.include('/summer').and.to.include(null)
    expect(listed).to.deep.include({
      '/Later/On': [null, null, later],
      '/winter': ['/Winter', winter, null],
      '/nothing': [null, null, null],
    })
  })

  it('of the service itself are shown to operators only, without data of other accounts', async () => {
    await add({ custom: 'winter' })
    await add({ custom: 'autumn' }, bob)
    for (const path of ['/wintr', '/autum', '/qr/none', '/a/b']) expect(await visit(path, own())).to.equal(404)
    expect(await counted(undefined, '/autum', 'unknown')).to.include({ suggestion: '/autumn' })
    expect(await counted(undefined, '/wintr', 'unknown')).to.include({ suggestion: null, link: null })
    await until(
      async () => (await rows(undefined)).map(({ path }) => path),
      (paths) => ['/qr/none', '/a/b'].every((path) => paths.includes(path)),
    )
    for (const of of [ann, bob])
      expect((await rows(of)).filter((row) => row['kind'] === 'unknown' && row['host'] !== host)).to.deep.equal([])
    expect((await app.get('/api/operator/misses', { key: bob.key })).status).to.equal(403)
  })

  it('of a link that has ended, not begun, or is blocked are of its owner, also on the host of the service', async () => {
    await add({ custom: 'ended', max_clicks: 1, expired_url: 'https://example.com/over' })
    await add({ custom: 'later', starts: '2090-01-01 00:00:00' })
    const evil = await add({ custom: 'evil' })
    const { handler } = app.app.ledger
    await handler.handle(
      block,
      { type: 'Block', kind: 'link', value: String(evil), reason: 'x', addresses: [] },
      operatorContext(app.config, null),
    )
    expect(await visit('/ended', own())).to.equal(302)
    await until(
      async () => (await visitAt(app.address, own(), '/ended', { 'User-Agent': browser })).location,
      (to) => to === 'https://example.com/over',
    )
    expect(await visit('/later', own())).to.equal(404)
    await until(
      () => visit('/evil', own()),
      (status) => status === 403,
    )
    expect(await counted(ann, '/ended', 'ended')).to.include({ suggestion: null })
    await counted(ann, '/later', 'not_started')
    await counted(ann, '/evil', 'blocked')
    const kinds = (await rows(undefined)).map(({ path }) => path)
    for (const path of ['/ended', '/later', '/evil']) expect(kinds, path).not.to.include(path)
  })

  it('are at most 1,000 of an account and a day, on all its hosts, and the others together', async () => {
    const misses = openMisses(app.app.ledger.db, () => Date.now() - 50 * dayMs)
    for (const from of [0, 700]) {
      for (let n = from; n < from + 700; n++)
        misses.note({ account: ann.id, host: 'full.example', path: `/${n}`, kind: 'unknown', byPerson: false })
      await misses.write()
    }
    const [found] = await query<{ rows: string; count: string; other: string }>(
      app.connection,
      `select count(*) as rows, sum(count) as count, sum(count) filter (where path = 'other') as other from state.misses where host = 'full.example'`,
    )
    expect(found).to.deep.equal({ rows: '997', count: '1400', other: '404' })
    misses.note({ account: ann.id, host: 'full.example', path: '/late', kind: 'unknown', byPerson: true })
    misses.note({ account: ann.id, host: 'full.example', path: '/7', kind: 'unknown', byPerson: true })
    await misses.write()
    expect(
      await query(
        app.connection,
        `select path from state.misses where host = 'full.example' and people > 0 order by 1`,
      ),
    ).to.deep.equal([{ path: '/7' }, { path: 'other' }])
    for (let n = 0; n < 50; n++)
      misses.note({ account: ann.id, host: `${n}.example`, path: '/new', kind: 'unknown', byPerson: true })
    await misses.write()
    expect(
      await query(app.connection, `select distinct path from state.misses where host ~ '^[0-9]+.example$'`),
    ).to.deep.equal([{ path: 'other' }])
  })

  it('are listed by day, filtered and paged', async () => {
    const answer = (search: string) => app.get(`/api/misses?${search}`, { key: ann.key })
    const paths = async (search: string) =>
      ((await answer(search)).json['data'].misses as readonly Row[]).map(({ path }) => path)
    await query(
      app.connection,
      `insert into state.misses select $1, d::date, 'days.example', '/old', 'unknown', 2, 1 from generate_series($2::date, $3, '1 day') d`,
      [ann.id, dayBefore(42), dayBefore(40)],
    )
    expect(await paths(`q=days.example&from=${dayBefore(41)}&to=${dayBefore(40)}`)).to.deep.equal(['/old', '/old'])
    const { json } = await answer('q=days.example&group=address')
    expect(json['data'].misses).to.deep.equal([
      ...[{ host: 'days.example', path: '/old', date: dayBefore(40), count: 6, people: 3, kind: 'unknown' }].map(
        (row) => ({ ...row, suggestion: null, suggested: null, link: null }),
      ),
    ])
    const first = await answer('q=full.example&cursor=&limit=900')
    const rest = await answer(`q=full.example&limit=900&cursor=${first.json['data'].next_cursor}`)
    expect([first, rest].map(({ json: { data } }) => (data.misses as Row[]).length)).to.deep.equal([900, 97])
    expect(await paths('kind=ended&fields=count')).to.deep.equal(['/ended'])
    expect((await answer('kind=x')).json['message']).to.contain('unknown, ended, not_started, blocked')
    expect((await answer('at=2026-03-01')).json['message']).to.equal(
      '`at` must not be sent here: addresses that lead nowhere are not in the log.',
    )
  })

  it('have the days of the requested time zone, by quarters of an hour', async () => {
    const of = await app.register()
    const start = Math.floor(Date.now() / dayMs) * dayMs - 10 * dayMs
    const dayAfter = (days: number) => new Date(start + days * dayMs).toISOString().slice(0, 10)
    let now = 0
    const misses = openMisses(app.app.ledger.db, () => now)
    // 23:50 and 0:20 in Kolkata; what waits while the database is away is written at once
    for (const [hour, write] of [
      [18 + 2 / 6, true],
      [18 + 5 / 6, false],
      [18 + 2 / 6, true],
      [18 + 5 / 6, true],
    ] as const) {
      now = start + Math.round(hour * 3_600_000)
      misses.note({ account: of.id, host: 'zone.example', path: '/a', kind: 'unknown', byPerson: write })
      misses.note({ account: of.id, host: '', path: '', kind: 'head', byPerson: false })
      if (write) await misses.write()
    }
    const [row] = await query(
      app.connection,
      `select quarters, quarter_counts as counts, quarter_people as people, count from state.misses where host = 'zone.example'`,
    )
    expect(row).to.deep.equal({ quarters: [73, 75], counts: ['2', '2'], people: ['2', '1'], count: '4' })
    const listed = async (search: string) => {
      const { json } = await app.get(`/api/misses?q=zone.example${search}`, { key: of.key })
      return (json['data'].misses as readonly Row[]).map(({ date, count }) => [date, count])
    }
    expect(await listed('')).to.deep.equal([[dayAfter(0), 4]])
    expect(await listed('&tz=Asia/Kolkata')).to.deep.equal([
      [dayAfter(1), 2],
      [dayAfter(0), 2],
    ])
    expect(await listed('&tz=Asia/Kolkata&group=address')).to.deep.equal([[dayAfter(1), 4]])
    expect(await listed(`&tz=Asia/Kolkata&from=${dayAfter(1)}`)).to.deep.equal([[dayAfter(1), 2]])
    expect(await listed(`&tz=Asia/Kolkata&to=${dayAfter(0)}`)).to.deep.equal([[dayAfter(0), 2]])
    const heads = async (search: string) =>
      (await app.get(`/api/stats?${search}`, { key: of.key })).json['data'].headRequests as number
    expect(await heads(`tz=Asia/Kolkata&from=${dayAfter(1)}`)).to.equal(2)
    expect(await heads(`from=${dayAfter(0)}&to=${dayAfter(0)}`)).to.equal(4)
    // counted by an earlier release
    await query(
      app.connection,
      `insert into state.misses (account, day, host, path, kind, count, people) values ($1, $2, 'zone.example', '/b', 'unknown', 3, 1)`,
      [of.id, dayAfter(5)],
    )
    expect((await listed('&tz=America/New_York'))[0]).to.deep.equal([dayAfter(5), 3])
  })

  it('add up by the days of each zone as they do when they are counted one by one', async () => {
    const of = await app.register()
    const today = Math.floor(Date.now() / dayMs) * dayMs
    // each day has one quarter of an hour more than the one before, so that some days have one part and some have two
    const quarters = Array.from({ length: 88 }, (_, day) =>
      Array.from({ length: 1 + (day % 9) }, (_, n) => (day * 7 + n * 11) % 96).toSorted((a, b) => b - a),
    )
    for (const [day, known] of quarters.entries())
      await query(
        app.connection,
        `insert into state.misses values ($1, $2, 'sum.example', '/a', 'unknown', $3, 0, $4, $5, $6)`,
        [of.id, dayBefore(day + 1), known.length, known, known.map(() => 1), known.map(() => 0)],
      )
    for (const zone of ['UTC', 'Europe/London', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Auckland']) {
      const byHand = new Map<string, number>()
      for (const [day, known] of quarters.entries())
        for (const quarter of known) {
          const date = localTime(zone, today - (day + 1) * dayMs + quarter * 900_000).slice(0, 10)
          byHand.set(date, (byHand.get(date) ?? 0) + 1)
        }
      const { json } = await app.get(`/api/misses?tz=${zone}&limit=1000`, { key: of.key })
      const listed = (json['data'].misses as readonly Row[]).map(({ date, count }) => [date, count])
      expect(listed, zone).to.deep.equal([...byHand].toSorted(([a], [b]) => (a < b ? 1 : -1)))
    }
  })

  it('are not mixed with HEAD requests, which present statistics of all links have next to their clicks', async () => {
    const of = await app.register()
    await add({ custom: 'probed' }, of)
    const data = async (search = '') => (await app.get(`/api/stats?${search}`, { key: of.key })).json['data']
    expect((await data())['headRequests']).to.equal(undefined)
    for (const _ of [1, 2]) await fetch(`${app.address}/probed`, { method: 'HEAD', redirect: 'manual' })
    await until(
      async () => (await data())['headRequests'],
      (n) => n === 2,
    )
    expect((await data()).total.visits, 'they are no visits').to.equal(0)
    expect(await rows(of)).to.deep.equal([])
    const link = (await app.get('/api/urls', { key: of.key })).json['data'].urls[0].id as number
    expect((await data('from=2026-01-01&to=2026-01-31'))['headRequests'], 'another time').to.equal(undefined)
    expect((await data(`link=${link}`))['headRequests'], 'one link').to.equal(undefined)
    const then = encodeURIComponent(String((await app.get('/api/stats', { key: of.key })).headers.get('linkledger-at')))
    expect((await data(`at=${then}`))['headRequests'], 'the past').to.equal(undefined)
  })

  it('are gone after 90 days, and with their account', async () => {
    const { id } = await app.register()
    await query(
      app.connection,
      `insert into state.misses select $1, now()::date, 'gone.example', '/mine', 'ended', 1, 1
       union all select 0, now()::date - 91, 'gone.example', '/old', 'unknown', 1, 1
       union all select 0, now()::date - 89, 'gone.example', '/kept', 'unknown', 1, 1`,
      [id],
    )
    await app.app.ledger.keys.destroy([id])
    await deleteOldMisses(app.app.ledger.db)
    expect(await query(app.connection, `select path from state.misses where host = 'gone.example'`)).to.deep.equal([
      { path: '/kept' },
    ])
  })
})
