import { expect } from 'chai'
import { operatorContext } from '../../../../src/app/operator/caller.ts'
import { account } from '../../../../src/commands/accounts/account.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { type Answer, until } from '../../../support/client.ts'
import { linkClient } from '../../../support/clients/link.ts'
import { withAt } from '../../../support/workload.ts'

describe('the parameter at', () => {
  let app: TestApp
  let key: string
  let id: number
  before(async () => {
    app = await startTestApp()
    ;({ key, id } = await app.register())
  })
  after(() => app.close())
  const { add, update } = linkClient(
    () => app,
    () => key,
  )
  const atOf = ({ headers }: Answer) => headers.get('Linkledger-At') ?? ''
  const now = async () => atOf(await app.get('/api/account', { key }))
  const get = (path: string, at: string, by = key) => app.get(withAt(path, at), { key: by })
  const event = (at: string) => `event:${/domain=(\d+)/.exec(at)?.[1]}`

  it('says the same of statistics before the first click of all, now and at that moment', async () => {
    const answer = await app.get('/api/stats', { key })
    expect(atOf(answer)).to.match(/clicks=0/)
    expect(answer.json['data'].through).to.include({ event: null, at: null })
    expect((await get('/api/stats', atOf(answer))).json['data']).to.deep.equal(answer.json['data'])
  })

  it('takes a day for its end, and today for now, also in a restore', async () => {
    const { id: link } = await add({ title: 'Of today' })
    const today = new Date().toISOString().slice(0, 10)
    const { status, json } = await get(`/api/url/${link}`, today)
    // midnight may have passed since
    if (new Date().toISOString().startsWith(today)) {
      expect([status, json['details'].title]).to.deep.equal([200, 'Of today'])
      await update(link, { title: 'Renamed' })
      const back = await app.post(`/api/url/${link}/restore`, { key, body: { at: today, dryRun: true } })
      expect(back.json['changes']).to.deep.equal([])
    }
    expect((await get(`/api/url/${link}`, '2020-02-29')).status).to.equal(404)
  })

  it('has the same cursor for the same page', async () => {
    for (const title of ['One', 'Two', 'Three']) await add({ title })
    const page = '/api/urls?cursor=&limit=1'
    const [first, second] = [await app.get(page, { key }), await app.get(page, { key })]
    expect(first.json['data'].next_cursor).to.be.a('string')
    expect(second.text).to.equal(first.text)
    expect((await get(page, atOf(first))).text).to.equal(first.text)
    const next = `/api/urls?limit=1&cursor=${first.json['data'].next_cursor}`
    expect((await app.get(next, { key })).json['data'].next_cursor).not.to.equal(first.json['data'].next_cursor)
  })

  it('answers as it was answered then: by the header of an answer, by an event, and by a time', async () => {
    const link = await add({ title: 'First', tags: ['a'] })
    const first = await app.get(`/api/url/${link.id}`, { key })
    const seconds = new Date(Math.ceil(Date.now() / 1000) * 1000)
    await until(
      async () => Date.now(),
      (ms) => ms > seconds.getTime(),
    )
    await update(link.id, { title: 'Second', tags: ['b'] })

    const time = seconds.toISOString()
    for (const at of [
      atOf(first),
      event(atOf(first)),
      time,
      time.replace('T', ' ').slice(0, 19),
      time.replace('Z', '+00:00'),
    ]) {
      const again = await get(`/api/url/${link.id}`, at)
      expect(again.text, at).to.equal(first.text)
      expect(again.headers.get('ETag')).to.equal(first.headers.get('ETag'))
      const { json } = await get('/api/tags', at)
      expect(
        json['data'].tags.map(({ tag }: { tag: string }) => tag),
        at,
      ).to.deep.equal(['a'])
      expect((await get('/api/urls?q=Second', at)).json['data'].result, at).to.equal(0)
    }
    expect((await app.get(`/api/url/${link.id}`, { key })).json['details'].title).to.equal('Second')
  })

  it('returns 404 before a resource existed and after it was deleted, and it exists in between', async () => {
    const before = await now()
    const channel = Number((await app.post('/api/channel/add', { key, body: { name: 'x' } })).json['id'])
    const between = await now()
    await app.del(`/api/channel/${channel}/delete`, { key })
    const after = await now()
    const path = `/api/channel/${channel}`
    expect((await get(path, before)).status).to.equal(404)
    expect((await get(path, between)).status).to.equal(200)
    expect((await get(path, after)).status).to.equal(404)
    expect((await get('/api/channels', between)).json['data'].channels[0].id).to.equal(channel)
    expect((await get('/api/account', 'event:0')).status).to.equal(404)
  })

  it('reads clicks up to the moment, and ends a period without an end there', async () => {
    const link = await add()
    const path = `/api/url/${link.id}`
    const before = await now()
    await app.visit(new URL(link.shorturl).pathname)
    const counted = await until(
      () => app.get(path, { key }),
      ({ json }) => json['data'].clicks === 1,
    )
    expect((await get(path, before)).json['data'].clicks).to.equal(0)
    expect((await get(path, atOf(counted))).text).to.equal(counted.text)
    const { json } = await get(`${path}/stats`, '2020-01-01 00:00:00')
    expect(json['error']).to.equal(1)
    const series = (await get(`${path}/stats`, atOf(counted))).json['data']
    expect(series.total.clicks).to.equal(1)
    expect((await get('/api/account/stats', '2020-01-02 12:00:00')).json['data'].to).to.equal('2020-01-02 12:00:00')
  })

  it('has the same period again, where an answer ended with its own moment', async () => {
    const link = await add()
    await app.visit(new URL(link.shorturl).pathname)
    await until(
      () => app.get(`/api/url/${link.id}`, { key }),
      ({ json }) => json['data'].clicks === 1,
    )
    const own = await until(
      () => app.get('/api/account', { key }),
      (answer) => Number(/clicks=(\d+)/.exec(atOf(answer))?.[1]) > 0,
    )
    const began = Date.now()
    // the newest event is of an earlier second by now
    await until(
      async () => Date.now(),
      (ms) => ms > began + 1100,
    )
    for (const path of [
      `/api/url/${link.id}/stats?by=country`,
      '/api/account/stats?interval=hour',
      '/api/stats?by=link',
    ]) {
      const first = await app.get(path, { key })
      expect(first.status, first.text).to.equal(200)
      expect(atOf(first), path).to.match(/^domain=\d+, clicks=\d+, to=\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      const again = await get(path, atOf(first))
      expect(again.json['data'].to, path).to.equal(first.json['data'].to)
      expect(again.text, path).to.equal(first.text)
      expect(atOf(again), path).to.equal(atOf(first))
      const withEnd = await app.get(withAt(`${path}&to=2020-02-01`, atOf(own)).replace('?&', '?'), { key })
      expect(atOf(withEnd), path).to.equal(atOf(own))
      // another process, whose clock is ahead, may have answered it
      const ahead = new Date(Date.now() + 60_000).toISOString()
      expect((await get(path, atOf(first).replace(/to=.*/, `to=${ahead}`))).status).to.equal(200)
      expect((await get(path, 'domain=0, clicks=0, to=2999-01-01T00:00:00.000Z')).status).to.equal(400)
      expect((await get(path, 'domain=0, clicks=0, to=2020-13-01T00:00:00.000Z')).status).to.equal(400)
    }
  })

  it('lists nothing before the account existed, and has no receipt of later events', async () => {
    const link = await add()
    await app.visit(new URL(link.shorturl).pathname)
    const [event] = (await app.get(`/api/url/${link.id}/history`, { key })).json['data'].events
    for (const list of ['urls', 'campaigns', 'channels', 'pixels', 'domains', 'qr', 'bio', 'webhooks', 'keys']) {
      const { status, json } = await get(`/api/${list}`, 'event:0')
      expect([status, json['data']?.result], list).to.deep.equal([200, 0])
    }
    const path = `/api/events/${event.event}/proof`
    expect((await get(path, `event:${event.event}`)).status).to.be.oneOf([200, 409])
    expect((await get(path, `event:${event.event - 1}`)).status).to.equal(404)
    const { text } = await until(
      () => app.get(`/api/clicks?link=${link.id}`, { key }),
      (answer) => answer.text !== '',
    )
    const click = JSON.parse(text.split('\n')[0]!) as { id: string; event: number }
    expect((await get(`/api/clicks/${click.id}/proof`, `event:${click.event}`)).status).to.be.oneOf([200, 409])
    expect((await get(`/api/clicks/${click.id}/proof`, `event:${click.event - 1}`)).status).to.equal(404)
  })

  it('has histories and revisions as they were: events, names of keys, and clicks', async () => {
    const link = await add({ title: 'First' })
    const [path, visits] = [`/api/url/${link.id}`, () => app.visit(new URL(link.shorturl).pathname)]
    const named = (await app.post('/api/key/add', { key, body: { name: 'Import', scopes: ['links:write'] } })).json
    await app.put(`${path}/update`, { key: named['key'], body: { url: 'https://example.com/b' } })
    await visits()
    await until(
      () => app.get(path, { key }),
      ({ json }) => json['data'].clicks === 1,
    )
    const paths = [`${path}/history`, `${path}/revisions`, '/api/account/history', `/api/key/${named['id']}/history`]
    const then = await Promise.all(paths.map((one) => app.get(one, { key })))
    const before = `event:${Number(then[0]!.json['data'].events[0].event) - 1}`

    await app.put(`/api/key/${named['id']}/update`, { key, body: { name: 'Other', scopes: ['links:write'] } })
    await app.put(`${path}/update`, { key, body: { url: 'https://example.com/c' } })
    await visits()
    await app.del(`${path}/delete`, { key })
    await until(
      () => app.get(`${path}/revisions`, { key }),
      ({ json }) => json['data'].revisions[1]?.clicks === 1,
    )
    for (const [n, one] of paths.entries()) {
      const { status, text } = then[n]!
      expect(status, text).to.equal(200)
      expect((await app.get(one, { key })).text, one).to.not.equal(text)
      expect((await get(one, atOf(then[n]!))).text, one).to.equal(text)
    }
    expect((await get(`${path}/history`, before)).json['data'].events).to.have.length(1)
    const [only] = (await get(`${path}/revisions`, before)).json['data'].revisions
    expect([only.revision, only.until, only.clicks]).to.deep.equal([0, '', 0])
    expect((await get(`${path}/revisions`, 'event:0')).status).to.equal(404)
  })

  it('names the error of a moment: an invalid one, the future, an event that does not exist', async () => {
    const bad = [
      'yesterday',
      '2026-03',
      '2999-03-01',
      'event:-1',
      'event:1e3',
      'domain=1',
      '2999-01-01 00:00:00',
      'event:99999999',
      'domain=0, clicks=99999999',
      'event:9007199254740993',
      `event:${'9'.repeat(40)}`,
      'domain=-1, clicks=0',
      '0000-00-00 00:00:00',
      '-000001-01-01T00:00:00Z',
      '+275760-09-13T00:00:01Z',
      "event:1' or '1",
    ]
    for (const at of bad) {
      const { status, json } = await get('/api/urls', at)
      expect(status, at).to.equal(400)
      expect(json['message'], at).to.match(/^`at` must /)
    }
    const written = await app.post(withAt('/api/url/add', 'event:0'), { key, body: { url: 'https://example.com/' } })
    expect(written.status).to.equal(400)
    expect(written.json['message']).to.include('`at`')
    expect((await get('/api/account/export', 'event:0')).json['message']).to.include('`at`')
  })

  it('says that the service is behind while the tables do not have the moment yet', async () => {
    const { id: link } = await add({ title: 'Late' })
    const lock = await app.app.ledger.db.transaction()
    try {
      await lock.raw('lock table read.checkpoints in exclusive mode')
      await update(link, { title: 'Later' })
      const { status, json } = await get(`/api/url/${link}`, `event:${Number(await app.domainHead()) - 1}`)
      expect([status, json['code'], json['params']]).to.deep.equal([503, 'unavailable', { what: 'behind' }])
    } finally {
      await lock.rollback()
    }
  })

  it('draws the image of a QR code as it was, for its account only', async () => {
    const body = { type: 'text', data: 'before' }
    const made = (await app.post('/api/qr/add', { key, body })).json
    const path = new URL(String(made['link'])).pathname
    const before = await now()
    const svg = `${path}.svg`
    const first = await app.get(svg)
    await app.put(`/api/qr/${made['id']}/update`, { key, body: { data: 'after', foreground: '#14532d' } })
    const second = await app.get(svg)
    expect(second.text).to.not.equal(first.text)
    expect((await get(svg, before)).text).to.equal(first.text)
    for (const shown of [first, second]) {
      expect(atOf(shown), 'says which change it shows').to.match(/^domain=\d+, clicks=0$/)
      expect((await get(svg, atOf(shown))).text).to.equal(shown.text)
    }
    expect(atOf(await get(svg, before))).to.equal(before)
    expect(atOf(await app.get(`/api/qr/${made['id']}/image`, { key }))).not.to.equal('')
    expect((await get(svg, await now())).text).to.equal(second.text)
    expect((await get(path, before)).headers.get('Content-Type')).to.equal('image/png')
    expect((await app.get(withAt(svg, before))).status).to.equal(401)
    const other = await app.register()
    expect((await get(svg, before, other.key)).status).to.equal(404)
    expect((await get('/qr/unknown', before)).status).to.equal(404)
    expect((await get(svg, 'event:0')).status).to.equal(404)
  })

  it('shows nothing of another account', async () => {
    const link = await add({ title: 'Mine' })
    const other = await app.register()
    const at = await now()
    for (const path of [`/api/url/${link.id}`, `/api/url/${link.id}/stats`])
      expect((await get(path, at, other.key)).status, path).to.equal(404)
    expect((await get('/api/urls', at, other.key)).json['data'].result).to.equal(0)
  })

  it('keeps nothing of an account that is erased', async () => {
    const leaving = await app.register()
    await app.post('/api/qr/add', { key: leaving.key, body: { type: 'text', data: 'my number' } })
    await app.post('/api/url/add', { key: leaving.key, body: { url: 'https://example.com/', notes: 'private' } })
    const { handler, db, tables, config } = app.app.ledger
    const rows = async (table: string) =>
      Number(((await db(tables.name(table)).where({ account: leaving.id }).count('* as n')) as { n: string }[])[0]?.n)
    expect(await rows('past_qrs')).to.equal(1)
    await handler.handle(account, { type: 'EraseAccount', id: leaving.id }, operatorContext(config, leaving.id))
    expect(
      await until(
        () => rows('past_qrs'),
        (n) => n === 0,
      ),
    ).to.equal(0)
    for (const table of ['past_links', 'past_link_notes', 'past_qrs_counts', 'past_api_keys'])
      expect(await rows(table), table).to.equal(0)
    expect(id).to.not.equal(leaving.id)
  })
})
