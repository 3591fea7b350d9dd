import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser } from '../../support/client.ts'
import { visitAt } from '../../support/host.ts'

describe('the domain API', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
  })
  after(() => app.close())

  const add = (body: object, as = key) => app.post('/api/domain/add', { key: as, body })
  const visit = (host: string, path: string) => visitAt(app.address, host, path, { 'User-Agent': browser })

  it('adds, lists and updates domains', async () => {
    const made = await add({ domain: 'https://GO.Example.com/', redirectroot: 'https://example.com/' })
    expect(made.json).to.deep.equal({ error: 0, id: made.json['id'], revision: 1, status: 'active' })
    const updated = await app.put(`/api/domain/${made.json['id']}/update`, {
      key,
      body: { redirect404: 'https://example.com/missing', domain: 'https://ignored.example' },
    })
    expect(updated.json).to.deep.equal({ error: 0, message: 'Domain has been updated.', revision: 2 })
    const { json } = await app.get('/api/domains', { key })
    const row = {
      id: made.json['id'],
      domain: 'https://go.example.com',
      redirectroot: 'https://example.com/',
      redirect404: 'https://example.com/missing',
      aliases: 'folded',
      revision: 2,
      status: 'active',
    }
    expect(json['data'].domains).to.deep.equal([row])
    const { details } = (await app.get(`/api/domain/${row.id}`, { key })).json
    expect(details).to.deep.equal({ ...row, apple: { details: [] }, android: [] })
  })

  it('redirects visitors of the root and of unknown aliases as the owner configured', async () => {
    expect(await visit('go.example.com', '/')).to.include({ status: 302, location: 'https://example.com/' })
    expect(await visit('GO.example.com.:8080', '/none')).to.include({
      status: 302,
      location: 'https://example.com/missing',
    })
    expect(await visit('other.example', '/none')).to.include({ status: 404 })
  })

  it('hands path, host and query on where the owner has written them, and never leads up a folder', async () => {
    const fields = {
      redirect404: 'https://example.com/old/{path}?from={host}&q={query}',
      redirectroot: 'https://example.com/{path}#{host}',
    }
    const { id } = (await add({ domain: 'https://old.example.com', ...fields })).json
    expect((await app.get(`/api/domain/${id}`, { key })).json['details']).to.include(fields)
    for (const [path, to] of [
      ['/a/b%20c?x=1&y', 'https://example.com/old/a/b%20c?from=old.example.com&q=x%3D1%26y'],
      ['/none', 'https://example.com/old/none?from=old.example.com&q='],
      ['/a%2F..%2Fb', 'https://example.com/old/?from=old.example.com&q='],
      ['/', 'https://example.com/#old.example.com'],
    ] as const)
      expect(await visit('old.example.com', path), path).to.include({ status: 302, location: to })
  })

  it('keeps aliases separate per domain', async () => {
    await add({ domain: 'http://two.example.com' })
    const link = (domain: string, url: string) =>
      app.post('/api/url/add', { key, body: { url, custom: 'same', domain } })
    expect((await link('https://go.example.com', 'https://a.example/')).json['shorturl']).to.equal(
      'https://go.example.com/same',
    )
    expect((await link('two.example.com', 'https://b.example/')).json['shorturl']).to.equal(
      'http://two.example.com/same',
    )
    expect((await link('', 'https://c.example/')).json['error']).to.equal(0)
    expect((await link('go.example.com', 'https://d.example/')).json['message']).to.include('alias is taken')
    expect((await visit('go.example.com', '/same')).location).to.equal('https://a.example/')
    expect((await visit('two.example.com', '/same')).location).to.equal('https://b.example/')
    expect((await visit('localhost', '/same')).location).to.equal('https://c.example/')
  })

  it('rejects anything but scheme and host of a name that can be owned', async () => {
    const wrong = [
      'go.example.com',
      'ftp://x.example.com',
      'https://x.example.com:8443',
      'https://x.example.com/path',
      'https://x.example.com/?',
      'https://u:p@x.example.com',
      'https://127.0.0.1',
      'https://[::1]',
      'http://2130706433',
      'https://localhost',
      'https://co.uk',
      'https://github.io',
      'https://example',
      '',
      7,
    ]
    for (const domain of wrong) expect((await add({ domain })).json['message'], String(domain)).to.match(/^`domain` /)
    expect((await add({})).json['message']).to.equal('`domain` is required.')
  })

  it('stores hosts in punycode', async () => {
    await add({ domain: 'https://bücher.example.org' })
    const { json } = await app.get('/api/domains?limit=1', { key })
    expect(json['data'].domains[0].domain).to.equal('https://xn--bcher-kva.example.org')
  })

  it('is the same domain in every spelling of its host, wherever a domain is named', async () => {
    await add({ domain: 'https://bücher-x.example.org' })
    const spellings = [
      'https://bücher-x.example.org',
      'BÜCHER-X.example.org',
      'xn--bcher-x-n2a.example.org',
      'http://xn--BCHER-X-n2a.example.org/',
      ' bu\u0308cher-x.example.org\n',
    ]
    const query = (name: string, value: string) => app.get(`/api/urls?${name}=${encodeURIComponent(value)}`, { key })
    for (const [n, domain] of spellings.entries()) {
      const body = { url: 'https://x.example/', domain, custom: `spelled-${n}` }
      const { status, json } = await app.post('/api/url/add', { key, body })
      expect([status, json['shorturl']], domain).to.deep.equal([
        200,
        `https://xn--bcher-x-n2a.example.org/spelled-${n}`,
      ])
    }
    for (const domain of spellings) {
      expect((await query('domain', domain)).json['data'].result, domain).to.equal(spellings.length)
      const short = `${domain.trim().replace(/\/$/, '')}/spelled-0`
      expect((await query('short', short)).json['details']?.alias, short).to.equal('spelled-0')
    }
    const rows = spellings.map((domain, n) => ({ url: 'https://x.example/', domain, custom: `row-${n}` }))
    const made = await app.post('/api/urls/bulk?op=create', { key, body: { rows } })
    expect((made.json['rows'] as { shorturl: string }[]).map(({ shorturl }) => shorturl)).to.deep.equal(
      rows.map(({ custom }) => `https://xn--bcher-x-n2a.example.org/${custom}`),
    )
  })

  it('gives a host to one account, in any spelling', async () => {
    const other = await app.register()
    for (const domain of ['https://go.example.com', 'http://GO.EXAMPLE.COM.'])
      expect((await add({ domain }, other.key)).json['message']).to.equal('`domain` belongs to another account.')
    expect((await app.del('/api/domain/1/delete', { key: other.key })).status).to.equal(404)
    const foreign = await app.post('/api/url/add', {
      key: other.key,
      body: { url: 'https://x.example/', domain: 'go.example.com' },
    })
    expect(foreign.json['message']).to.match(/^`domain` must be a domain of your account/)
  })

  it('rejects own domains as destinations of links and domains', async () => {
    expect(
      (await app.post('/api/url/add', { key, body: { url: 'https://go.example.com/same' } })).json['message'],
    ).to.match(/^`url` /)
    expect(
      (await add({ domain: 'https://three.example.com', redirect404: 'https://go.example.com/x' })).json['message'],
    ).to.match(/^`redirect404` /)
  })

  it('stops serving links of a deleted domain, and serves them again when it returns under its old id', async () => {
    const { id } = (await add({ domain: 'https://back.example.com' })).json
    const made = await app.post('/api/url/add', {
      key,
      body: { url: 'https://e.example/', custom: 'e', domain: 'back.example.com' },
    })
    expect((await visit('back.example.com', '/e')).status).to.equal(302)

    expect((await app.del(`/api/domain/${id}/delete`, { key })).json).to.deep.equal({
      error: 0,
      message: 'Domain has been deleted.',
      undo: { method: 'POST', path: `/api/domain/${id}/restore` },
    })
    expect((await visit('back.example.com', '/e')).status).to.equal(404)
    expect((await app.get(`/api/url/${made.json['id']}`, { key })).json['details'].shorturl).to.equal(
      'https://back.example.com/e',
    )
    expect((await app.del(`/api/domain/${id}/delete`, { key })).status).to.equal(404)

    const other = await app.register()
    expect((await add({ domain: 'https://back.example.com' }, other.key)).json['message']).to.equal(
      '`domain` belongs to another account.',
    )
    expect((await add({ domain: 'https://back.example.com' })).json).to.deep.equal({
      error: 0,
      id,
      revision: 4,
      status: 'active',
    })
    expect((await visit('back.example.com', '/e')).location).to.equal('https://e.example/')
  })
})
