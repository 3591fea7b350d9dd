import { expect } from 'chai'
import { checkDomains } from '../../src/jobs/domaincheck.ts'
import type { Resolver } from '../../src/lib/dns.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { browser, until } from '../support/client.ts'
import { visitAt } from '../support/host.ts'

const none = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))

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
    expect(made.json).to.deep.equal({ error: 0, id: made.json['id'] })
    const updated = await app.put(`/api/domain/${made.json['id']}/update`, {
      key,
      body: { redirect404: 'https://example.com/missing', domain: 'https://ignored.example' },
    })
    expect(updated.json).to.deep.equal({ error: 0, message: 'Domain has been updated.' })
    const { json } = await app.get('/api/domains', { key })
    expect(json['data'].domains).to.deep.equal([
      {
        id: made.json['id'],
        domain: 'https://go.example.com',
        redirectroot: 'https://example.com/',
        redirect404: 'https://example.com/missing',
        status: 'active',
      },
    ])
  })

  it('redirects visitors of the root and of unknown aliases as the owner configured', async () => {
    expect(await visit('go.example.com', '/')).to.include({ status: 302, location: 'https://example.com/' })
    expect(await visit('GO.example.com.:8080', '/none')).to.include({
      status: 302,
      location: 'https://example.com/missing',
    })
    expect(await visit('other.example', '/none')).to.include({ status: 404 })
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

  it('stores hosts in punycode (threat 33)', async () => {
    await add({ domain: 'https://bücher.example.org' })
    const { json } = await app.get('/api/domains?limit=1', { key })
    expect(json['data'].domains[0].domain).to.equal('https://xn--bcher-kva.example.org')
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
    expect((await add({ domain: 'https://back.example.com' })).json).to.deep.equal({ error: 0, id })
    expect((await visit('back.example.com', '/e')).location).to.equal('https://e.example/')
  })
})

describe('branded domains with DOMAIN_CHECK=dns', () => {
  let app: TestApp
  let key: string
  const a = new Map<string, string[]>([['links.service.example', ['198.51.100.7']]])
  const cname = new Map<string, string[]>()
  const resolver: Resolver = {
    resolve4: (host) => Promise.resolve(a.get(host) ?? []),
    resolve6: none,
    resolveCname: (host) => (cname.has(host) ? Promise.resolve(cname.get(host)!) : none()),
  }
  const settings = { DOMAIN_TARGETS: 'links.service.example, 203.0.113.9' }

  before(async () => {
    app = await startTestApp(settings, undefined, { resolver })
    ;({ key } = await app.register())
  })
  after(() => app.close())
  const add = (domain: string) => app.post('/api/domain/add', { key, body: { domain } })

  it('are accepted when a CNAME or an address points to a target', async () => {
    cname.set('by-name.example.com', ['links.service.example.'])
    a.set('by-address.example.com', ['203.0.113.9'])
    a.set('by-same-address.example.com', ['198.51.100.7'])
    for (const name of ['by-name', 'by-address', 'by-same-address'])
      expect((await add(`https://${name}.example.com`)).json).to.include({ error: 0 })
  })

  it('are rejected when neither points to a target, without any HTTP request (threat 7)', async () => {
    a.set('metadata.example.com', ['169.254.169.254'])
    for (const name of ['metadata', 'unknown'])
      expect((await add(`https://${name}.example.com`)).json['message']).to.equal(
        '`domain` must already point to this service: set its DNS to links.service.example or 203.0.113.9.',
      )
  })

  it('stop serving when DNS points elsewhere on three days, and serve again once it is right (threat 34)', async () => {
    await app.post('/api/url/add', {
      key,
      body: { url: 'https://f.example/', custom: 'f', domain: 'by-address.example.com' },
    })
    const { db, reader, handler } = app.app.ledger
    const aDayLater = () => db('state.domain_checks').update({ checked_at: db.raw(`now() - interval '25 hours'`) })
    const pointsToUs = async (host: string) =>
      (a.get(host) ?? []).includes('203.0.113.9') || host !== 'by-address.example.com'
    const look = async () => {
      await checkDomains({
        reader,
        handler,
        pointsToUs,
        onProblem: (error) => {
          throw error
        },
      })
      await aDayLater()
    }
    const status = async () => {
      const { json } = await app.get('/api/domains', { key })
      return json['data'].domains.find((d: { domain: string }) => d.domain === 'https://by-address.example.com')
        .status as string
    }
    const follow = () => visitAt(app.address, 'by-address.example.com', '/f', {})
    const eventually = async (expected: string) => {
      for (let n = 0; n < 200 && (await status()) !== expected; n++) await new Promise((done) => setTimeout(done, 20))
      return status()
    }

    a.set('by-address.example.com', ['192.0.2.1'])
    await look()
    await look()
    expect([await status(), (await follow()).status]).to.deep.equal(['active', 302])
    await look()
    expect(await eventually('unverified')).to.equal('unverified')
    // caches of domains are updated shortly after the tables
    const followed = async (expected: number) => (await until(follow, ({ status }) => status === expected)).status
    expect(await followed(404)).to.equal(404)
    a.set('by-address.example.com', ['203.0.113.9'])
    await look()
    expect(await eventually('active')).to.equal('active')
    expect(await followed(302)).to.equal(302)
  })
})
