import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Answer, until } from '../../../support/client.ts'

type Result = { row: number; line?: number; error: number; id: number; message?: string; field?: string; short: string }
const address = (n: number | string) => `https://example.com/${n}`
const messages = (json: Answer['json']) => (json['rows'] as Result[]).map(({ message }) => message)
const taken = 'That alias is taken. Please choose another one.'

describe('POST /api/urls/bulk', () => {
  let app: TestApp
  let key: string
  let foreign: string
  before(async () => {
    app = await startTestApp({ QUOTA_LINKS: '600' })
    ;({ key } = await app.register())
    foreign = (await app.register()).key
  })
  after(() => app.close())

  const bulk = (query: string, body: unknown, type = 'application/json', as = key) =>
    app.post(`/api/urls/bulk?${query}`, { key: as, body, headers: { 'Content-Type': type } })
  const create = async (...rows: object[]) => {
    const { json } = await bulk('op=create', { rows })
    expect(json, JSON.stringify(json)).to.include({ error: 0, failed: 0 })
    return (json['rows'] as Result[]).map(({ id }) => id)
  }
  const details = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['details']
  const count = async (as = key) => (await app.get('/api/urls', { key: as })).json['data'].result as number

  it('creates, changes and deletes links, each row with its own result', async () => {
    const made = await bulk('op=create', {
      rows: [
        { url: address(1), custom: 'Bulk-1', title: 'One' },
        { title: 'no address' },
        { url: 'ftp://example.com' },
      ],
    })
    expect(made.status).to.equal(200)
    expect(made.json).to.include({ error: 0, op: 'create', dryRun: false, atomic: false, succeeded: 1, failed: 2 })
    const [first, second, third] = made.json['rows'] as Result[]
    expect(first).to.include({ row: 1, error: 0, short: `${app.address.replace('127.0.0.1', 'localhost')}/Bulk-1` })
    expect(second).to.deep.equal({
      row: 2,
      error: 1,
      status: 400,
      message: '`url` is required.',
      code: 'required',
      field: 'url',
      params: {},
    })
    expect(third).to.include({ row: 3, error: 1, status: 400, field: 'url' })

    const id = first!.id
    const changed = await bulk('op=update', {
      rows: [{ id, title: 'Two' }, { id: '999999', title: 'x' }, { title: 'x' }],
    })
    expect(messages(changed.json)).to.deep.equal([undefined, 'Link not found.', '`id` must be an id.'])
    expect(await details(id)).to.include({ title: 'Two', longurl: address(1), alias: 'Bulk-1' })

    const deleted = await bulk('op=delete', { rows: [{ id }, { id }, { id: 'x' }] })
    expect(messages(deleted.json)).to.deep.equal([
      undefined,
      '`id` is also in row 1: send each link once.',
      '`id` must be an id.',
    ])
    expect((await app.get(`/api/url/${id}`, { key })).status).to.equal(404)
  })

  it('reads CSV with any separator, a BOM, quotes and typed cells, and NDJSON, and names their lines', async () => {
    const csv =
      '\uFEFFURL; Title ;tags;archived;parameters;note of mine\r\n' +
      `"${address('a;b')}";"Say ""hi""\nto all";b|a;true;"[{""name"":""a"",""value"":1}]";x\r\n\r\n` +
      `${address(2)};two;;;;\r\nnot an address;;;;;\r\n${address(3)};too few\r\n`
    const { json } = await bulk('op=create', csv, 'text/csv; charset=utf-8')
    const rows = json['rows'] as Result[]
    expect(rows.map(({ row, line, error }) => [row, line, error])).to.deep.equal([
      [1, 2, 0],
      [2, 5, 0],
      [3, 6, 1],
      [4, 7, 1],
    ])
    expect(rows[3]!.message).to.include('2 cells').and.to.include('6')
    expect(await details(rows[0]!.id)).to.deep.include({
      longurl: address('a;b'),
      title: 'Say "hi"\nto all',
      tags: ['b', 'a'],
      archived: true,
      parameters: [{ name: 'a', value: '1' }],
    })
    const tabs = await bulk('op=create', `url\ttitle\n${address(4)}\tfour\n`, 'text/tab-separated-values')
    expect(tabs.json).to.include({ succeeded: 1 })

    const lines = `{"url":"${address(5)}"}\r\n\n{"url":\n["x"]\n`
    const ndjson = await bulk('op=create', lines, 'application/x-ndjson')
    expect((ndjson.json['rows'] as Result[]).map(({ row, line, error }) => [row, line, error])).to.deep.equal([
      [1, 1, 0],
      [2, 3, 1],
      [3, 4, 1],
    ])
  })

  it('refuses a body or a parameter that cannot be read, with the cure, and stores nothing', async () => {
    const before = await app.domainHead()
    const row = { url: address('x') }
    const wrong: [string, unknown, string, number, string][] = [
      ['op=create', '{"rows":', 'application/json', 400, '`rows`'],
      ['op=create', { rows: {} }, 'application/json', 400, '`rows`'],
      ['op=create', { rows: [] }, 'application/json', 400, 'at least one row'],
      ['op=create', '', 'text/csv', 400, 'names of the fields'],
      ['op=create', 'url,URL\na,b', 'text/csv', 400, '`url` twice'],
      ['op=create', 'url,title\nhttps://example.com/,"open', 'text/csv', 400, 'line 2'],
      ['op=create', { rows: Array.from({ length: 1001 }, () => row) }, 'application/json', 400, '1,000 rows'],
      ['op=create', 'x'.repeat(4 * 1024 * 1024 + 1), 'application/x-ndjson', 413, '4 MiB'],
      ['op=create', Buffer.from([0xff]).toString('latin1'), 'text/plain', 415, 'text/csv'],
      ['op=create', 'url', 'text/csv; charset=utf-16', 415, 'UTF-8'],
      ['', { rows: [row] }, 'application/json', 400, '`op`'],
      ['op=clone', { rows: [row] }, 'application/json', 400, '`op` must be create, update or delete'],
      ['op=create&dryRun=1', { rows: [row] }, 'application/json', 400, '`dryRun`'],
      ['op=create&dryrun=true', { rows: [row] }, 'application/json', 400, '`dryrun` is no parameter here'],
    ]
    for (const [query, body, type, status, text] of wrong) {
      const answer = await bulk(query, body, type)
      expect(answer.status, `${query} ${type} ${answer.text}`).to.equal(status)
      expect(answer.json['message'], query).to.include(text)
    }
    expect(await app.domainHead()).to.equal(before)
  })

  it('answers a body far above 4 MiB instead of closing the connection', async () => {
    for (const _ of [1, 2]) {
      const answer = await bulk('op=create', '\n'.repeat(24 * 1024 * 1024), 'application/x-ndjson')
      expect([answer.status, answer.json['message']]).to.deep.equal([413, 'The body must be at most 4 MiB large.'])
    }
  })

  it('answers a thousand rows with the alias of the first one: the others are refused at once', async () => {
    const rows = Array.from({ length: 1000 }, (_, n) => ({ url: address(n), custom: n % 2 ? 'Constant' : 'constant' }))
    for (const [query, failed] of [
      ['op=create', 999],
      ['op=create', 1000],
      ['op=create&dryRun=true', 1000],
    ] as const) {
      const { status, json } = await bulk(query, { rows })
      expect([status, json['failed']], query).to.deep.equal([200, failed])
      expect(messages(json).slice(1), query).to.deep.equal(Array.from({ length: 999 }, () => taken))
    }
  })

  it('fails only the row that repeats an alias, and never changes a link of another account', async () => {
    const { json } = await bulk('op=create', {
      rows: [
        { url: address(1), custom: 'same' },
        { url: address(2), custom: 'SAME' },
        { url: address(3), custom: 'api' },
      ],
    })
    expect(messages(json).slice(0, 2)).to.deep.equal([undefined, taken])
    const { id } = (json['rows'] as Result[])[0]!
    for (const op of ['update', 'delete'])
      for (const mode of ['', '&atomic=true', '&dryRun=true']) {
        const { text, status } = await bulk(
          `op=${op}${mode}`,
          { rows: [{ id, url: 'bad' }] },
          'application/json',
          foreign,
        )
        expect(text).to.include('Link not found.').and.not.to.include('same')
        expect(status).to.equal(mode === '&atomic=true' ? 400 : 200)
      }
    expect(await details(id)).to.include({ longurl: address(1) })
  })

  it('checks everything and stores nothing in a dry run', async () => {
    const [id] = await create({ url: address(1), custom: 'dry-1' })
    const before = await app.domainHead()
    const { json } = await bulk('op=create&dryRun=true', {
      rows: [
        { url: address(1), custom: 'dry-1' },
        { url: address(2), custom: 'dry-2', password: 'secret' },
        { url: address(3), custom: 'Dry-2' },
        { url: address(4), expiry: '2001-01-01' },
        { url: address(5) },
      ],
    })
    expect(messages(json)).to.deep.equal([
      taken,
      undefined,
      taken,
      '`expiry` must be a future date and time in UTC, for example 2030-01-31 18:00:00.',
      undefined,
    ])
    expect((json['rows'] as Result[])[1]).to.deep.equal({ row: 2, error: 0 })
    const changes = await bulk('op=update&dryRun=true', { rows: [{ id, custom: 'dry-2' }] })
    expect(changes.json).to.include({ succeeded: 1 })
    expect(await app.domainHead()).to.equal(before)
  })

  it('stores all rows or none with `atomic`', async () => {
    const channel = (await app.post('/api/channel/add', { key, body: { name: 'c' } })).json['id'] as number
    const before = await app.domainHead()
    const refused = await bulk('op=create&atomic=true', {
      rows: [
        { url: address(1), custom: 'all-1' },
        { url: address(2), custom: 'ALL-1' },
      ],
    })
    expect([refused.status, refused.json['message']]).to.deep.equal([
      400,
      'Nothing was stored, because 1 of 2 rows cannot be: see the rows with `error` 1.',
    ])
    expect(messages(refused.json)).to.deep.equal([undefined, taken])
    expect(await app.domainHead()).to.equal(before)

    const { json } = await bulk('op=create&atomic=true', {
      rows: [{ url: address(1), custom: 'all-1', channel }, { url: address(2) }],
    })
    expect(json).to.include({ atomic: true, succeeded: 2 })
    const [one, two] = (json['rows'] as Result[]).map(({ id }) => id)
    expect(await details(one!)).to.deep.include({ alias: 'all-1', channels: [channel] })

    // the second row gets the alias that the first one gives up
    const swapped = await bulk('op=update&atomic=true', {
      rows: [
        { id: one, custom: 'all-2', keep_old: false },
        { id: two, custom: 'all-1', keep_old: false },
      ],
    })
    expect(swapped.json, swapped.text).to.include({ succeeded: 2 })
    expect([(await details(one!)).alias, (await details(two!)).alias]).to.deep.equal(['all-2', 'all-1'])
    expect((await app.visit('/all-1')).headers.get('Location')).to.equal(address(2))

    const large = Array.from({ length: 400 }, (_, i) => ({ url: address('x'.repeat(2000)), title: String(i) }))
    const tooLarge = await bulk('op=create&atomic=true', { rows: large }, 'application/json', foreign)
    expect([tooLarge.status, tooLarge.json['message']]).to.satisfy(
      ([status, message]: [number, string]) => status === 400 && message.includes('1 MiB'),
    )
    expect(await count(foreign)).to.equal(0)
  })

  it('shows no id and no address of a row that was not stored', async () => {
    const rows = '{"url":"https://example.com/a"}\n{"url":5}'
    const { status, json } = await bulk('op=create&atomic=true', rows, 'application/x-ndjson')
    const [right, wrong] = json['rows'] as Result[]
    expect([status, right]).to.deep.equal([400, { row: 1, line: 1, error: 0 }])
    expect(wrong).to.include({ row: 2, error: 1, field: 'url' })
  })

  it('keeps the quota within a request, and hashes at most 50 passwords', async () => {
    const room = 600 - (await count(foreign))
    const rows = Array.from({ length: 500 }, (_, i) => ({ url: address(i), ...(i < 51 && { password: '' }) }))
    const first = await bulk('op=create', { rows }, 'application/json', foreign)
    expect(first.json, first.text.slice(0, 500)).to.include({ failed: 0 })
    // until the process knows that the tables have them, they may count twice
    await until(
      () => bulk('op=create&dryRun=true', { rows: rows.slice(0, room - 500) }, 'application/json', foreign),
      ({ json }) => json['failed'] === 0,
    )
    const second = await bulk('op=create', { rows: rows.slice(0, room - 500 + 3) }, 'application/json', foreign)
    expect(second.json).to.include({ succeeded: room - 500, failed: 3 })
    // those that are refused look at the tables again, so they need not be the last
    expect(messages(second.json).filter((message) => message?.includes('quota'))).to.have.length(3)
    const atomic = await bulk('op=create&atomic=true', { rows: rows.slice(0, 2) }, 'application/json', foreign)
    expect(atomic.status).to.equal(400)
    expect(await count(foreign)).to.equal(600)

    const secret = Array.from({ length: 51 }, () => ({ url: address(1), password: 'x' }))
    const checked = await bulk('op=create&dryRun=true', { rows: secret })
    expect(messages(checked.json).filter(Boolean)).to.deep.equal([
      '`password` may be in at most 50 rows of one request: send this row in another one.',
    ])
  })
})
