import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { visitAt } from '../../support/host.ts'

const url = 'https://example.com/a'
const host = 'exact.example'
const domain = `https://${host}`

describe('a domain with exact aliases', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp({ DOMAIN_CHECK: 'off' })
    ;({ key } = await app.register())
    await ok('POST', '/api/domain/add', { domain, aliases: 'exact' })
    await ok('POST', '/api/domain/add', { domain: 'https://folded.example' })
  })
  after(() => app.close())

  const ask = (method: string, path: string, body?: object) => app.ask(method, path, { key, ...(body && { body }) })
  const ok = async (method: string, path: string, body?: object) => {
    const { json, text, status } = await ask(method, path, body)
    expect(status, `${method} ${path} ${text}`).to.equal(200)
    return json
  }
  const create = (custom: string, more: object = {}) => ok('POST', '/api/url/add', { url, custom, domain, ...more })
  const leadsTo = async (path: string, at = host) => {
    const { status, location } = await visitAt(app.address, at, path, { 'User-Agent': browser })
    return location ?? status
  }
  const details = async (id: number) => (await ok('GET', `/api/url/${id}`))['details']

  it('says so in its details and in the list of domains, and others do not', async () => {
    const { domains } = (await ok('GET', '/api/domains'))['data']
    expect(
      (domains as { domain: string; aliases: string }[]).map((one) => `${one.domain} ${one.aliases}`),
    ).to.have.members([`${domain} exact`, 'https://folded.example folded'])
  })

  it('tells links apart by letter case alone', async () => {
    await create('Spring', { url: 'https://example.com/upper' })
    await create('spring', { url: 'https://example.com/lower' })
    expect(await leadsTo('/Spring')).to.equal('https://example.com/upper')
    expect(await leadsTo('/spring')).to.equal('https://example.com/lower')
    expect(await leadsTo('/SPRING')).to.equal(404)
    expect((await ask('POST', '/api/url/add', { url, custom: 'Spring', domain })).json).to.include({ error: 1 })
  })

  it('has links at paths with dots, slashes and letters of any language, shown as they are and linked by escapes', async () => {
    const paths = {
      'Sale/2026.html': '/Sale/2026.html',
      'a b': '/a%20b',
      'été/東京': '/%C3%A9t%C3%A9/%E6%9D%B1%E4%BA%AC',
      '50%': '/50%25',
      'a?b#c': '/a%3Fb%23c',
      'api/urls': '/api/urls',
      healthz: '/healthz',
      'qr/menu': '/qr/menu',
      '1.': '/1.',
    }
    for (const [alias, path] of Object.entries(paths)) {
      const { id, shorturl } = await create(alias)
      expect(shorturl).to.equal(domain + path)
      expect(await leadsTo(path), path).to.equal(url)
      expect(await details(id as number)).to.include({ alias, shorturl, domain })
    }
  })

  it('finds an address in the other form of its letters, with pasted characters behind it, and not with another slash', async () => {
    await create('caf\u00e9/one')
    expect(await leadsTo(`/${encodeURIComponent('cafe\u0301')}/one`)).to.equal(url)
    expect(await leadsTo('/caf%C3%A9/one).')).to.equal(url)
    expect(await leadsTo('/caf%C3%A9/one/')).to.equal(url)
    expect(await leadsTo('/caf%C3%A9%2Fone')).to.equal(404)
    expect(await leadsTo('/caf%C3%A9//one')).to.equal(404)
    expect(await leadsTo('/caf%C3%A9/one?utm=1')).to.equal(url)
    // what is decoded once is not decoded again
    await create('80%')
    await create('80', { url: 'https://example.com/other' })
    expect(await leadsTo('/80%25).')).to.equal(url)
  })

  it('refuses what no path can be, with 400 for the field', async () => {
    for (const custom of ['/a', 'a//b', 'a/', './a', 'a/../b', 'a\\b', 'a\u0007', 'x'.repeat(256), 'é'.repeat(128)]) {
      const { status, json } = await ask('POST', '/api/url/add', { url, custom, domain })
      expect([status, json['field']], custom).to.deep.equal([400, 'custom'])
    }
    expect((await create('y'.repeat(255)))['error']).to.equal(0)
  })

  it('keeps the paths of the service for the service: reports, answers to forms and well-known files', async () => {
    for (const custom of ['report', '.well-known/x', 'o/1', 'favicon.ico'])
      expect((await ask('POST', '/api/url/add', { url, custom, domain })).status, custom).to.equal(400)
    expect(await leadsTo('/report')).to.equal(200)
    for (const path of ['/favicon.ico?v=1', '/report?link=x', '/report/?link=x'])
      expect(await leadsTo(path), path).to.equal(200)
    expect(await leadsTo('/.well-known/security.txt')).to.be.oneOf([200, 404])
    expect(await leadsTo('/register')).to.equal(404)
  })

  it('has the alias o: services that number their aliases have come to it, and answers to forms are below it', async () => {
    await create('o')
    expect(await leadsTo('/o')).to.equal(url)
    expect(await leadsTo('/o?utm=1')).to.equal(url)
    expect(await leadsTo('/o/1')).to.not.equal(url)
  })

  it('gives a path to the link with the longest alias, and what follows it to a link that forwards paths', async () => {
    await create('docs', { url: 'https://example.com/docs', forward: 'path' })
    await create('docs/api', { url: 'https://example.com/api', forward: 'path' })
    await create('docs/api/old', { url: 'https://example.com/old' })
    expect(await leadsTo('/docs/guide/a.html?x=1')).to.equal('https://example.com/docs/guide/a.html?x=1')
    expect(await leadsTo('/docs/api/v2')).to.equal('https://example.com/api/v2')
    expect(await leadsTo('/docs/api/old')).to.equal('https://example.com/old')
    expect(await leadsTo('/docs/api/old/more')).to.equal(404)
  })

  it('stops programs that guess, also below a link that forwards nothing', async () => {
    await create('shut')
    const path = (n: number) => `/shut/${n}${'/x'.repeat(10)}`
    const met = new Set<number | string>()
    for (let n = 0; n < 200 && !met.has(429); n++) met.add(await leadsTo(path(n)))
    expect([...met]).to.deep.equal([404, 429])
  })

  it('follows an entry of a bio page to a link of the account, at each spelling of its address', async () => {
    await create('From/bio')
    const body = { name: 'x', links: [{ title: 'x', url: `${domain}/From/bio/` }] }
    const { link } = await ok('POST', '/api/bio/add', body)
    const { headers } = await app.visit(`${new URL(link as string).pathname}/1`)
    expect(headers.get('Location')).to.equal(url)
  })

  it('counts its visits for the links, and finds a link by its short address', async () => {
    const { id } = await create('Count/me')
    await leadsTo('/Count/me')
    await until(
      () => details(id as number).then(() => ok('GET', `/api/url/${id}`)),
      (answer) => answer['data'].clicks === 1,
    )
    const found = async (short: string) => {
      const { json } = await ask('GET', `/api/urls?short=${encodeURIComponent(short)}`)
      return json['data']?.urls[0].id
    }
    expect(await found(`${domain}/Count/me`)).to.equal(id)
    expect(await found(`${host}/Count/me?x=1`)).to.equal(id)
    expect(await found(`${domain}/Count/me/`)).to.equal(id)
    for (const alone of ['Count/me', '/Count/me']) expect(await found(alone), alone).to.equal(id)
    expect(await found(`${domain}/count/me`)).to.equal(undefined)
    const long = '東'.repeat(85)
    const { id: longest, shorturl } = await create(long)
    expect(await found(shorturl as string)).to.equal(longest)
  })

  it('spells the alias of a link that moves as the other domain does, where that is possible', async () => {
    const { id } = await create('Move')
    await ok('PUT', `/api/url/${id}/update`, { url, domain: 'https://folded.example' })
    expect(await leadsTo('/MOVE', 'folded.example')).to.equal(url)
    expect(await leadsTo('/Move')).to.equal(url)
    await ok('PUT', `/api/url/${id}/update`, { url, domain, custom: 'Moved/back' })
    expect(await leadsTo('/Moved/back')).to.equal(url)
    const { status, json } = await ask('PUT', `/api/url/${id}/update`, { url, domain: 'https://folded.example' })
    expect([status, json['field']]).to.deep.equal([400, 'custom'])
    await ok('PUT', `/api/url/${id}/update`, { url, custom: 'Again/and.again', keep_old: false })
    expect(await leadsTo('/Again/and.again')).to.equal(url)
    const { events } = (await ok('GET', `/api/url/${id}/history?q=Again`))['data']
    expect(events[0].changes).to.deep.include({ field: 'alias', old: 'Moved/back', new: 'Again/and.again' })
    await ok('POST', `/api/url/${id}/restore`, { revision: 0 })
    expect(await details(id as number)).to.include({ alias: 'Move', shorturl: `${domain}/Move` })
    await ok('POST', `/api/url/${id}/addresses`, { custom: 'Second/one', domain })
    expect(await leadsTo('/Second/one')).to.equal(url)
    const { addresses } = await details(id as number)
    expect((addresses as { alias: string }[]).map(({ alias }) => alias)).to.include.members(['Move', 'Second/one'])
  })

  it('takes rows of a bulk request that differ in letter case alone, and a random alias', async () => {
    const rows = ['Bulk', 'bulk', 'BULK'].map((custom) => ({ url, custom, domain }))
    const { rows: results } = await ok('POST', '/api/urls/bulk?op=create', { rows: [...rows, { url, domain }] })
    expect((results as { error: number }[]).map(({ error }) => error)).to.deep.equal([0, 0, 0, 0])
    const { shorturl } = await ok('POST', '/api/url/add', { url, domain })
    expect(await leadsTo(new URL(shorturl as string).pathname)).to.equal(url)
  })

  it('comes back with the aliases that it had, and refuses others', async () => {
    const { id } = await ok('POST', '/api/domain/add', { domain: 'https://again.example', aliases: 'exact' })
    await ok('DELETE', `/api/domain/${id}/delete`)
    const { status, json } = await ask('POST', '/api/domain/add', {
      domain: 'https://again.example',
      aliases: 'folded',
    })
    expect([status, json['field']]).to.deep.equal([400, 'aliases'])
    await ok('POST', '/api/domain/add', { domain: 'https://again.example' })
    expect((await ok('GET', `/api/domain/${id}`))['details']).to.include({ aliases: 'exact', status: 'active' })
    expect((await ask('POST', '/api/domain/add', { domain: 'https://x.example', aliases: 'both' })).status).to.equal(
      400,
    )
  })
})
