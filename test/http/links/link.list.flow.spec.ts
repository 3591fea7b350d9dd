import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { linkClient } from '../../support/clients/link.ts'

const long = 'https://example.com/a?b=c#d'

describe('GET /api/urls', () => {
  let app: TestApp
  let key: string

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const { add, free } = linkClient(
    () => app,
    () => key,
  )

  let mine: string
  let made: number[]
  const ids = (json: Answer['json']) => json['data'].urls.map(({ id }: { id: number }) => id) as number[]
  const page = async (query: string) => {
    const { status, json } = await app.get(`/api/urls${query}`, { key: mine })
    expect(status, query).to.equal(200)
    const { urls: _, ...envelope } = json['data']
    return { json, envelope, ids: ids(json) }
  }
  before(async () => {
    mine = (await app.register()).key
    made = []
    for (let i = 0; i < 33; i++) made.unshift((await add({ title: `t${i}` }, mine)).id)
  })

  it('returns the envelope of the contract with fifteen links, newest first', async () => {
    const { json, envelope, ids } = await page('')
    expect(json).to.have.all.keys('error', 'data')
    expect(json['error']).to.equal('0')
    expect(envelope).to.deep.equal({ result: 33, perpage: 15, currentpage: 1, nextpage: 2, maxpage: 3 })
    expect(ids).to.deep.equal(made.slice(0, 15))
  })

  it('returns each link with the fields of the contract and our extensions', async () => {
    const { short, id } = await add({ custom: free(), title: 'Row', metadescription: 'Of a list' }, mine)
    const { json } = await page('?limit=1')
    const [row] = json['data'].urls
    expect(row.date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect({ ...row, date: '' }).to.deep.equal({
      id,
      alias: short.split('/').at(-1),
      shorturl: short,
      longurl: long,
      clicks: 0,
      title: 'Row',
      description: 'Of a list',
      date: '',
      uniqueclicks: 0,
      domain: app.app.baseUrl,
      campaign: null,
      tags: [],
      archived: false,
      status: 'active',
      revision: 0,
    })
    await app.del(`/api/url/${id}/delete`, { key: mine })
  })

  it('shows the state for visitors: not started, ended, or protected by a password', async () => {
    const key = (await app.register()).key
    const used = await add({ title: 'expired', max_clicks: 1 }, key)
    await add({ title: 'scheduled', starts: '2090-01-01 00:00:00' }, key)
    await add({ title: 'protected', password: 'secret' }, key)
    await add({ title: 'active' }, key)
    await app.visit(`/${used.short.split('/').at(-1)}`)
    const { json } = await until(
      () => app.get('/api/urls', { key }),
      ({ json }) => json['data'].urls.at(-1).clicks === 1,
    )
    for (const { title, status } of json['data'].urls) expect(status).to.equal(title)
    expect(json['data'].urls).to.have.length(4)
  })

  it('returns each link once over all pages', async () => {
    const seen: number[] = []
    for (let n = 1; n <= 4; n++) {
      const { envelope, ids } = await page(`?limit=10&page=${n}`)
      expect(envelope).to.deep.equal({
        result: 33,
        perpage: 10,
        currentpage: n,
        nextpage: Math.min(n + 1, 4),
        maxpage: 4,
      })
      seen.push(...ids)
    }
    expect(seen).to.deep.equal(made)
  })

  it('returns an empty page past the end, with the total count', async () => {
    const { envelope, ids } = await page('?limit=10&page=9')
    expect(ids).to.deep.equal([])
    expect(envelope).to.deep.equal({ result: 33, perpage: 10, currentpage: 9, nextpage: 4, maxpage: 4 })
  })

  it('ignores a malformed limit or page and clamps a large one', async () => {
    const first = await page('')
    for (const odd of ['0', '-1', 'abc', '1.5', '1e3', '', '٣', '0x10', ' 5', '5 ', 'NaN', 'null', '%00'])
      for (const name of ['limit', 'page'])
        expect(await page(`?${name}=${encodeURIComponent(odd)}`), `${name}=${odd}`).to.deep.equal(first)
    for (const much of ['1001', '99999999999999999999', '9'.repeat(400)])
      expect((await page(`?limit=${much}`)).envelope, much).to.include({ perpage: 1000, maxpage: 1 })
    for (const much of ['9007199254740993', '9'.repeat(400)]) {
      const { envelope, ids } = await page(`?page=${much}&limit=1000`)
      expect(ids).to.deep.equal([])
      expect(envelope).to.include({ result: 33, nextpage: 1, maxpage: 1 })
      expect(Number.isSafeInteger(envelope.currentpage)).to.equal(true)
    }
  })

  it('links to the next page in a header, and to none on the last page', async () => {
    const header = async (query: string) => (await app.get(`/api/urls${query}`, { key: mine })).headers.get('Link')
    expect(await header('?limit=20&q=&page=1')).to.equal('</api/urls?limit=20&q=&page=2>; rel="next"')
    expect(await header('')).to.equal('</api/urls?page=2>; rel="next"')
    expect(await header('?limit=1000')).to.equal(null)
    expect(await header('?limit=20&page=99')).to.equal(null)
  })

  it('uses the first of a repeated parameter', async () => {
    expect((await page('?limit=2&limit=5&page=2&page=1')).envelope).to.include({ perpage: 2, currentpage: 2 })
  })

  it('sorts by date for an unknown order', async () => {
    for (const order of ['date', 'clicks', 'CLICK', '', 'id;--']) {
      const query = `?order=${encodeURIComponent(order)}`
      expect((await page(query)).ids, order).to.deep.equal(made.slice(0, 15))
    }
  })

  it('sorts by clicks, then newest first, for order=click', async () => {
    const [often, once] = [made[20]!, made[30]!]
    for (const [id, times] of [
      [often, 2],
      [once, 1],
    ] as const) {
      const { json } = await app.get(`/api/url/${id}`, { key: mine })
      for (let i = 0; i < times; i++) await app.visit(`/${json['details'].alias}`)
    }
    const expected = [often, once, ...made.filter((id) => id !== often && id !== once)]
    const { ids, json } = await until(
      () => page('?order=click&limit=100'),
      ({ json }) => json['data'].urls[0].clicks === 2 && json['data'].urls[1].clicks === 1,
    )
    expect(ids).to.deep.equal(expected)
    expect(json['data'].urls.slice(0, 3)).to.have.nested.property('[0].uniqueclicks', 1)
    expect((await page('?order=click&limit=10&page=2')).ids).to.deep.equal(expected.slice(10, 20))
  })

  it('returns one empty page for an account without links', async () => {
    const { json } = await app.get('/api/urls', { key: (await app.register()).key })
    expect(json).to.deep.equal({
      error: '0',
      data: { result: 0, perpage: 15, currentpage: 1, nextpage: 1, maxpage: 1, urls: [] },
    })
  })
})

describe('filters of GET /api/urls', () => {
  let app: TestApp
  let key: string
  const ids: Record<string, number> = {}
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
    const add = async (path: string, body: object) => (await app.post(path, { key, body })).json['id'] as number
    const campaign = await add('/api/campaign/add', { name: 'c' })
    const channel = await add('/api/channel/add', { name: 'c' })
    await add('/api/domain/add', { domain: 'https://go.example.com' })
    Object.assign(ids, {
      campaign,
      channel,
      plain: await add('/api/url/add', { url: 'https://example.com/100%25_sure', title: 'Spring Sale' }),
      named: await add('/api/url/add', { url: 'https://example.org/', custom: 'Summer-Sale', campaign }),
      meta: await add('/api/url/add', {
        url: 'https://example.net/',
        metatitle: `Autumn: ${'Ärger über'.normalize('NFD')}`,
        channel,
      }),
      branded: await add('/api/url/add', {
        url: 'https://example.edu/',
        custom: 'b',
        domain: 'go.example.com',
        campaign,
      }),
    })
  })
  after(() => app.close())
  const listed = async (query: string) => {
    const { json } = await app.get(`/api/urls?${query}`, { key })
    return {
      result: json['data'].result as number,
      ids: json['data'].urls.map((row: { id: number }) => row.id) as number[],
    }
  }

  it('match a part of alias, title, metatitle or long URL', async () => {
    expect(await listed('q=SALE')).to.deep.equal({ result: 2, ids: [ids['named'], ids['plain']] })
    expect(await listed('q=autumn')).to.deep.equal({ result: 1, ids: [ids['meta']] })
    expect(await listed('q=example.org')).to.deep.equal({ result: 1, ids: [ids['named']] })
    expect(await listed(`q=${encodeURIComponent('%25_s')}`)).to.deep.equal({ result: 1, ids: [ids['plain']] })
    for (const form of ['NFC', 'NFD'])
      expect(await listed(`q=${encodeURIComponent('Ärger über'.normalize(form))}`), form).to.have.property('result', 1)
    expect(await listed('q=_')).to.deep.equal({ result: 1, ids: [ids['plain']] })
    expect(await listed(`q=${encodeURIComponent(`' or 1=1 --`)}`)).to.deep.equal({ result: 0, ids: [] })
  })

  it('match campaign, channel and domain, alone and combined', async () => {
    expect((await listed(`campaign=${ids['campaign']}`)).ids).to.deep.equal([ids['branded'], ids['named']])
    expect((await listed(`channel=${ids['channel']}`)).ids).to.deep.equal([ids['meta']])
    expect((await listed('domain=https://go.example.com')).ids).to.deep.equal([ids['branded']])
    expect((await listed(`domain=${app.app.baseUrl}`)).result).to.equal(3)
    expect((await listed('domain=')).result).to.equal(3)
    expect((await listed('domain=nobody.example')).result).to.equal(0)
    const own = new URL(String((await app.get(`/api/url/${ids['named']}`, { key })).json['details'].shorturl)).pathname
    const elsewhere = await app.get(`/api/urls?short=https://nobody.example${own}`, { key })
    expect(elsewhere.json).to.include({ code: 'not_found' })
    expect((await listed(`campaign=${ids['campaign']}&domain=go.example.com`)).ids).to.deep.equal([ids['branded']])
    expect((await listed(`campaign=${ids['campaign']}&limit=1&page=2`)).ids).to.deep.equal([ids['named']])
    expect((await listed('campaign=99999')).result).to.equal(0)
  })

  it('are refused with their name when they cannot be right, instead of listing everything', async () => {
    for (const name of ['campaign', 'channel'])
      for (const value of [
        'undefined',
        'null',
        '',
        '0',
        '-1',
        '1.5',
        '01',
        'abc',
        '1 or 1=1',
        '9'.repeat(16),
        '9'.repeat(40),
      ]) {
        const { status, json } = await app.get(`/api/urls?${name}=${encodeURIComponent(value)}`, { key })
        expect([status, json['message']], `${name}=${value}`).to.deep.equal([
          400,
          `\`${name}\` must be an id, a whole number from 1 on: leave it out to list all.`,
        ])
      }
  })

  it('find one link by its short address or alias', async () => {
    for (const short of [
      'summer-sale',
      `${app.app.baseUrl}/Summer-Sale`,
      `${app.app.baseUrl.replace('http://', '')}/summer-sale?x`,
    ]) {
      const { json, status } = await app.get(`/api/urls?short=${encodeURIComponent(short)}`, { key })
      expect([status, json['error'], json['details']?.id], short).to.deep.equal([200, 0, ids['named']])
      expect(json['data'].urls.map((row: { id: number }) => row.id)).to.deep.equal([ids['named']])
      expect(json['data']).to.include({ clicks: 0, uniqueClicks: 0 })
    }
    expect((await app.get('/api/urls?short=https://go.example.com/b', { key })).json['details'].id).to.equal(
      ids['branded'],
    )
    expect((await app.get('/api/urls?short=https://go.example.com/summer-sale', { key })).json['error']).to.equal(1)
  })

  it('return 200 with error 1 when there is no such short link, or an empty one', async () => {
    const empty = await app.get('/api/urls?short=', { key })
    expect([empty.status, empty.json['error']]).to.deep.equal([200, 1])
    const { status, json } = await app.get('/api/urls?short=nothing', { key })
    expect([status, json['error']]).to.deep.equal([200, 1])
    expect(json['message']).to.be.a('string')
  })
})
