import { expect } from 'chai'
import { until } from '../../../support/client.ts'
import { inSeconds } from '../../../support/clock.ts'
import { long, useLinks } from '../../../support/links.ts'

describe('the rules of a link', () => {
  const { app, key, add, update, api, clicks, clicksSoFar } = useLinks()
  const visit = (path: string, headers = {}) => app().visit(path, headers)
  const location = async (path: string) => (await visit(path)).headers.get('Location')

  it('answers as for an unknown address before a link starts, and does not count', async () => {
    const { id, path } = await add({ starts: inSeconds(3600), notes: 'secret', title: 'Launch' })
    const [early, unknown] = [await visit(path), await visit('/no-such-link')]
    expect(early.status).to.equal(404)
    expect(early.text.replaceAll(path.slice(1), '')).to.equal(unknown.text.replaceAll('no-such-link', ''))
    await update(id, { starts: null })
    expect(await location(path)).to.equal(long)
    expect(await clicksSoFar(id, path)).to.equal(1)
  })

  it('leads from a link that has ended to its other place, without a click', async () => {
    const { id, path } = await add({ max_clicks: 1, expired_url: 'https://example.com/over' })
    expect(await location(path)).to.equal(long)
    await until(
      () => visit(path),
      ({ headers }) => headers.get('Location') === 'https://example.com/over',
    )
    await update(id, { expired_url: null })
    const page = await visit(path)
    expect(page.status).to.equal(410)
    expect(page.text).to.include('This link has reached its limit')
    await update(id, { max_clicks: 1000 })
    expect(await location(path)).to.equal(long)
  })

  it('lets exactly as many people through as a link allows, however many come at once, and no bot uses it up', async () => {
    for (const most of [1, 7]) {
      const { id, path } = await add({ max_clicks: most })
      const bots = Array.from({ length: 20 }, () => visit(path, { 'User-Agent': 'Googlebot/2.1' }))
      const statuses = async (people: readonly ReturnType<typeof visit>[]) =>
        (await Promise.all(people)).map(({ status }) => status)
      const first = await statuses(Array.from({ length: 100 }, () => visit(path)))
      await Promise.all(bots)
      expect(first.filter((status) => status === 302)).to.have.length(most)
      expect(first.filter((status) => status === 410)).to.have.length(100 - most)
      expect(
        await until(
          () => clicks(id),
          (n) => n === most,
        ),
      ).to.equal(most)
      expect(new Set(await statuses(Array.from({ length: 20 }, () => visit(path))))).to.deep.equal(new Set([410]))
    }
  })

  it('does not end a link by visits of bots, previewers and assistants, nor by those of a page that is loaded ahead', async () => {
    const { id, path } = await add({ max_clicks: 2 })
    const programs = [
      'Googlebot/2.1',
      'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
      'SummalyBot/5.1.0',
      'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)',
    ]
    for (const agent of programs) expect((await visit(path, { 'User-Agent': agent })).status).to.equal(200)
    expect((await visit(path, { 'X-Purpose': 'preview' })).status).to.equal(503)
    expect(await clicksSoFar(id, path)).to.equal(0)
    expect(await location(path)).to.equal(long)
  })

  it('passes the query on when the link says so, and records none of it', async () => {
    const { id, path } = await add({
      url: 'https://example.com/a?b=c#d',
      forward: true,
      parameters: [{ name: 'p', value: '1' }],
    })
    expect(await location(`${path}?ref=ann%40example.com&b=x`)).to.equal(
      'https://example.com/a?b=c&p=1&ref=ann%40example.com#d',
    )
    expect(await clicksSoFar(id, `${path}?ref=bob%40example.com`)).to.equal(1)
    const { rows } = await app().app.ledger.db.raw<{ rows: object[] }>(
      `select * from log.events where type = 'LinkClicked'`,
    )
    const recorded = JSON.stringify(rows)
    expect(recorded).to.include('https://example.com/a?b=c&p=1#d').and.not.include('example.com&')
    for (const name of ['ann%40', 'bob%40', 'ref=']) expect(recorded).not.to.include(name)
    await update(id, { url: 'https://example.com/a', forward: false })
    expect(await location(`${path}?ref=1`)).to.equal('https://example.com/a?p=1')
  })

  it('passes the rest of the path on when the link says so, and records none of it', async () => {
    const { id, path } = await add({
      url: 'https://example.com/shop/?b=c#d',
      forward: 'path',
      parameters: [{ name: 'p', value: '1' }],
    })
    expect(await location(`${path}/men/shoes?x=1`)).to.equal('https://example.com/shop/men/shoes?b=c&p=1&x=1#d')
    expect(await location(`${path}/7/`)).to.equal('https://example.com/shop/7/?b=c&p=1#d')
    expect(await location(path)).to.equal('https://example.com/shop/?b=c&p=1#d')
    expect((await visit(`${path}/a%2f..%2fb`)).status).to.equal(404)
    const details = async (at = '') => (await app().get(`/api/url/${id}${at}`, { key: key() })).json['details']
    expect(await details()).to.include({ forward: 'path' })
    const { headers } = await app().get(`/api/url/${id}`, { key: key() })
    await update(id, { url: 'https://example.com/{path}?from={path}' })
    expect(await location(`${path}/ann/x`)).to.equal('https://example.com/ann/x?from=ann%2Fx&p=1')
    expect(await details()).to.include({ forward: 'path', longurl: 'https://example.com/{path}?from={path}' })
    expect(await clicksSoFar(id, `${path}/secret`)).to.equal(4)
    const { rows } = await app().app.ledger.db.raw<{ rows: object[] }>(
      `select data from log.events where type = 'LinkClicked'`,
    )
    for (const rest of ['shoes', 'ann/x', 'secret']) expect(JSON.stringify(rows)).not.to.include(rest)
    await update(id, { forward: true })
    expect((await visit(`${path}/men`)).status).to.equal(404)
    expect(await location(`${path}?x=1`)).to.include('x=1')
    const moment = headers.get('Linkledger-At')
    expect(moment).to.be.a('string')
    expect(await details(`?at=event:${/domain=(\d+)/.exec(moment ?? '')?.[1]}`)).to.include({ forward: 'path' })
    for (const wrong of ['host', 7, ['path']])
      expect(
        (await app().put(`/api/url/${id}/update`, { key: key(), body: { url: long, forward: wrong } })).json['message'],
      ).to.contain('`forward` must be')
    expect(
      (await app().put(`/api/url/${id}/update`, { key: key(), body: { url: 'https://{path}.example.com/' } })).status,
    ).to.equal(400)
  })

  it('keeps a visitor at the same variant, in clicks too, also when its URL changes', async () => {
    const urls = ['https://example.com/v1', 'https://example.com/v2']
    const { id, path } = await add({ variants: urls.map((url) => ({ url })) })
    const first = await location(path)
    expect(urls).to.include(first)
    for (let i = 0; i < 3; i++) expect(await location(path)).to.equal(first)
    const chosen = urls.indexOf(String(first)) + 1
    await update(id, { variants: [1, 2].map((n) => ({ id: n, url: `https://example.com/w${n}` })) })
    expect(await location(path)).to.equal(`https://example.com/w${chosen}`)
    expect(await clicksSoFar(id, path)).to.equal(5)
    const { rows } = await app().app.ledger.db.raw<{ rows: { data: { clicks: { link: number; rule: string }[] } }[] }>(
      `select data from log.events where type = 'LinkClicked'`,
    )
    const rules = rows.flatMap(({ data }) => data.clicks.filter(({ link }) => link === id).map(({ rule }) => rule))
    expect([...new Set(rules)]).to.deep.equal([`variant:${chosen}`])
    await update(id, { variants: null })
    expect(await clicksSoFar(id, path)).to.equal(6)
    const get = async (path: string) => (await app().get(path, { key: key() })).json
    expect((await get(`/api/url/${id}`))['data'].topVariants).to.deep.equal({ [chosen]: '6' })
    const { by } = (await get(`/api/url/${id}/stats?by=variant`))['data']
    expect(by).to.deep.equal({ variant: { [chosen]: 6, None: 1 } })
    expect((await get('/api/account/stats?by=variant'))['message'])
      .to.include('`by` must be any of country')
      .and.not.include('variant')
  })

  it('shows a campaign only those of its links that lead somewhere', async () => {
    const { id } = await api('/api/campaign/add', { name: 'Rules', slug: 'rules', public: true })
    await add({ campaign: id, starts: inSeconds(3600), title: 'Not yet' })
    const open = await add({ campaign: id, title: 'Open' })
    expect(await location('/r/rules')).to.equal(long)
    const { json } = await app().get('/api/campaigns', { key: key() })
    const list = new URL(json['data'].campaigns[0].list).pathname
    expect((await visit(list)).text)
      .to.include('Open')
      .and.not.include('Not yet')
    await update(open.id, { starts: inSeconds(3600) })
    expect((await visit('/r/rules')).status).to.equal(404)
  })

  it('refuses values that are not right with a message that names the field', async () => {
    const { id } = await add()
    const own = app().app.baseUrl
    const wrong: [string, unknown, string][] = [
      ['starts', 'tomorrow', '`starts` must be a date and time'],
      ['expired_url', 'ftp://example.com/', '`expired_url` must be a web address'],
      ['expired_url', `${own}/x`, '`expired_url` must not lead to one of'],
      ['max_clicks', 0, '`max_clicks` must be between 1 and'],
      ['max_clicks', 1.5, '`max_clicks` must be a whole number'],
      ['forward', 'yes', '`forward` must be true or false'],
      ['variants', [{ url: long }], '`variants` must have at least 2'],
      ['variants', Array.from({ length: 11 }, () => ({ url: long })), '`variants` must have at most 10'],
      [
        'variants',
        [
          { url: long, weight: 0 },
          { url: long, weight: 0 },
        ],
        '`variants` must have a weight above 0',
      ],
      ['variants', [{ url: long, weight: -1 }, { url: long }], '`variants.0.weight` must be at least 0'],
      ['variants', [{ url: long }, { url: `${own}/x` }], '`variants` must not lead to one of'],
      ['variants', [{ id: 9, url: long }, { url: long }], '`variants.0.id` must be the id of another variant'],
    ]
    for (const [field, value, message] of wrong) {
      const { status, json } = await app().put(`/api/url/${id}/update`, {
        key: key(),
        body: { url: long, [field]: value },
      })
      expect(status, message).to.equal(400)
      expect(json['message']).to.include(message)
    }
    const { json } = await app().put(`/api/url/${id}/update`, {
      key: key(),
      body: { url: long, starts: '2090-01-02', expiry: '2090-01-01' },
    })
    expect(json['message']).to.include('`starts` must be before `expiry`')
  })
})
