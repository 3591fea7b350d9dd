import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { domain } from '../../../src/commands/domains/domain.ts'
import { createDomainCheck } from '../../../src/commands/domains/check.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { checkDomains } from '../../../src/app/jobs/domaincheck.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { fakeDns } from '../../support/dns.ts'
import { visitAt } from '../../support/host.ts'

type Registered = Awaited<ReturnType<TestApp['register']>>

/** Returns the requests of the specs to a service that checks domains. */
const clientOf = (app: TestApp) => {
  const detail = async (key: string, id: number) => (await app.get(`/api/domain/${id}`, { key })).json['details']
  return {
    detail,
    add: (key: string, host: string, more: object = {}) =>
      app.post('/api/domain/add', { key, body: { domain: `https://${host}`, ...more } }),
    verify: (key: string, id: number) => app.post(`/api/domain/${id}/verify`, { key }),
    link: (key: string, body: object) => app.post('/api/url/add', { key, body }),
    visit: (host: string, path: string) => visitAt(app.address, host, path, { 'User-Agent': browser }),
    ask: async (host: string) => (await fetch(`${app.app.operatorAddress}/internal/ask?domain=${host}`)).status,
    /** Waits until the detail of a domain has a status; returns it. */
    eventually: async (key: string, id: number, status: string) =>
      (await until(
        () => detail(key, id),
        (now) => now.status === status,
      )) as { status: string; verification: { problem: string; failures: number } },
  }
}

describe('branded domains with DOMAIN_CHECK=txt', () => {
  let app: TestApp
  let ann: Registered
  let bob: Registered
  let http: ReturnType<typeof clientOf>
  const dns = fakeDns()
  before(async () => {
    const settings = { BASE_URL: 'https://go.example', OWN_HOSTS: 'Www.Company.example' }
    app = await startTestApp(settings, undefined, { resolver: dns.resolver })
    http = clientOf(app)
    ;[ann, bob] = [await app.register(), await app.register()]
  })
  after(() => app.close())
  /** Creates the record that the service asks an account for. */
  const createRecord = async (key: string, id: number) => {
    const { name, value } = (await http.detail(key, id)).verification.record
    dns.txt.set(name, ['v=spf1 -all', value])
  }

  it('are pending when they are added, and the response says which record to create', async () => {
    const { status, json } = await http.add(ann.key, 'brand.example', { redirectroot: 'https://evil.example/' })
    expect([status, json['error'], json['status']]).to.deep.equal([200, 0, 'pending'])
    const { record, problem } = json['verification']
    expect(record).to.include({ type: 'TXT', name: '_linkledger.brand.example', ok: false })
    expect(record.value).to.match(/^linkledger-[0-9a-f]{32}$/)
    expect(problem).to.equal(`There is no TXT record ${record.name}: create it with the value ${record.value}.`)
    const { json: listed } = await app.get('/api/domains', { key: ann.key })
    expect(listed['data'].domains[0]).to.include({ id: json['id'], status: 'pending', domain: 'https://brand.example' })
  })

  it('do not serve, block links or claim the host while they are pending', async () => {
    const { json } = await http.link(bob.key, { url: 'https://brand.example/page', custom: 'tobrand' })
    expect(json['error'], json['message']).to.equal(0)
    expect(await http.visit('go.example', '/tobrand')).to.include({
      status: 302,
      location: 'https://brand.example/page',
    })
    expect((await http.visit('brand.example', '/')).location).to.equal(undefined)
    expect(await http.ask('brand.example')).to.equal(404)
    expect((await http.add(bob.key, 'brand.example')).json).to.include({ error: 0, status: 'pending' })
  })

  it('may get links while they are pending, which answer 404', async () => {
    const { json } = await http.link(ann.key, { url: 'https://x.example/', custom: 'later', domain: 'brand.example' })
    expect(json).to.include({ error: 0, shorturl: 'https://brand.example/later' })
    expect((await http.visit('brand.example', '/later')).status).to.equal(404)
    expect((await app.get('/api/urls?domain=brand.example', { key: ann.key })).json['data'].result).to.equal(1)
  })

  it('serve once the record is found, and only for the account whose record it is', async () => {
    const [mine] = (await app.get('/api/domains', { key: ann.key })).json['data'].domains
    const [theirs] = (await app.get('/api/domains', { key: bob.key })).json['data'].domains
    const before = await http.verify(ann.key, mine.id)
    expect(before.json).to.include({ error: 0, status: 'pending', message: 'Domain is not verified yet.' })
    await createRecord(ann.key, mine.id)
    const foreign = await http.verify(bob.key, theirs.id)
    expect(foreign.json).to.include({ status: 'pending' })
    expect(foreign.json['verification'].problem).to.match(/^The TXT record \S+ does not have the value linkledger-/)
    expect(foreign.json['verification'].record.found).to.include('v=spf1 -all')
    expect((await http.verify(bob.key, mine.id)).status).to.equal(404)

    const { json } = await http.verify(ann.key, mine.id)
    expect(json).to.include({ error: 0, status: 'active', message: 'Domain is verified.' })
    expect(json['verification']).to.deep.include({ problem: '', failures: 0 })
    expect((await http.visit('brand.example', '/later')).location).to.equal('https://x.example/')
    expect((await http.visit('brand.example', '/')).location).to.equal('https://evil.example/')
    expect([await http.ask('brand.example'), await http.ask('BRAND.example.')]).to.deep.equal([200, 200])
    expect((await http.link(bob.key, { url: 'https://brand.example/other' })).json['message']).to.match(/^`url` /)

    dns.txt.set('_linkledger.brand.example', [(await http.detail(bob.key, theirs.id)).verification.record.value])
    const late = await http.verify(bob.key, theirs.id)
    expect([late.status, late.json['message']]).to.deep.equal([400, '`domain` belongs to another account.'])
    await createRecord(ann.key, mine.id)
  })

  it('are pending, and checked later, while a record has bytes that no table can keep', async () => {
    const { key } = await app.register()
    dns.txt.set('_linkledger.bytes.example', ['v=\u0000\u0007spf1\ud800', '\u0000'])
    const { status, json } = await http.add(key, 'bytes.example')
    expect([status, json['status']]).to.deep.equal([200, 'pending'])
    const { status: verified, json: seen } = await http.verify(key, json['id'])
    expect([verified, seen['verification'].record.found]).to.deep.equal([200, ['v= spf1', '']])
    await createRecord(key, json['id'])
    expect((await http.verify(key, json['id'])).json).to.include({ status: 'active' })
  })

  it('get a certificate from a proxy that asks, as no other host does but the own one', async () => {
    const hosts = ['brand.example', 'go.example', 'other.example', 'www.brand.example', '', 'brand.example/x']
    expect(await Promise.all(hosts.map(http.ask))).to.deep.equal([200, 200, 404, 404, 404, 404])
    const publicly = await fetch(`${app.address}/internal/ask?domain=brand.example`)
    expect(publicly.status).to.equal(404)
  })

  it('are verified when they are added while the record is there already', async () => {
    const [mine] = (await app.get('/api/domains', { key: ann.key })).json['data'].domains
    dns.txt.set('_linkledger.two.example', dns.txt.get('_linkledger.brand.example')!)
    const { json } = await http.add(ann.key, 'two.example')
    expect(json).to.include({ error: 0, status: 'active' })
    const again = await http.add(ann.key, 'brand.example')
    expect([again.status, again.json['message']]).to.deep.equal([
      400,
      `\`domain\` is one of your domains already, with the id ${mine.id}.`,
    ])
  })

  it('cannot be hosts of the operator, in any spelling', async () => {
    for (const host of ['www.company.example', 'company.example', 'GO.example', 'www.go.example'])
      expect((await http.add(ann.key, host)).json['message'], host).to.equal(
        "`domain` must not be one of this service's own.",
      )
  })

  it('say that the name servers did not answer', async () => {
    dns.silent.add('_linkledger.slow.example')
    const { json } = await http.add(ann.key, 'slow.example')
    expect(json).to.include({ error: 0, status: 'pending' })
    expect(json['verification'].problem).to.equal('The name servers did not answer for _linkledger.slow.example.')
  })

  it('serve and stop in every process', async () => {
    const other = await startTestApp({ BASE_URL: 'https://go.example' }, app.connection, { resolver: dns.resolver })
    try {
      const dora = await app.register()
      const { id } = (await http.add(dora.key, 'dora.example', { redirectroot: 'https://d.example/' })).json
      await createRecord(dora.key, id)
      await http.verify(dora.key, id)
      const root = (wanted: string | undefined) =>
        until(
          async () => (await visitAt(other.app.address, 'dora.example', '/', { 'User-Agent': browser })).location,
          (found) => found === wanted,
        )
      expect(await root('https://d.example/')).to.equal('https://d.example/')
      const { handler } = app.app.ledger
      await handler.handle(accounts, { type: 'DisableAccount', id: dora.id }, systemMetadata(dora.id))
      expect(await root(undefined)).to.equal(undefined)
    } finally {
      await other.close()
    }
  })

  it('stop with their account when it is disabled, and count as our own no longer', async () => {
    const carl = await app.register()
    const { id } = (await http.add(carl.key, 'carl.example', { redirectroot: 'https://evil.example/' })).json
    await createRecord(carl.key, id)
    expect((await http.verify(carl.key, id)).json['status']).to.equal('active')
    await http.link(bob.key, { url: 'https://other.example/', custom: 'own' })
    expect((await http.visit('carl.example', '/')).location).to.equal('https://evil.example/')
    const { handler } = app.app.ledger
    const change = (type: 'DisableAccount' | 'EnableAccount' | 'EraseAccount') =>
      handler.handle(accounts, { type, id: carl.id }, systemMetadata(carl.id))
    const root = (wanted: string | undefined) =>
      until(
        async () => (await http.visit('carl.example', '/')).location,
        (found) => found === wanted,
      )
    await change('DisableAccount')
    expect(await root(undefined)).to.equal(undefined)
    expect((await http.visit('carl.example', '/none')).status).to.equal(404)
    expect(await http.ask('carl.example')).to.equal(404)
    expect((await http.link(bob.key, { url: 'https://carl.example/x' })).json['error']).to.equal(0)
    expect((await http.add(bob.key, 'carl.example')).json['message']).to.equal('`domain` belongs to another account.')
    await change('EnableAccount')
    expect(await root('https://evil.example/')).to.equal('https://evil.example/')
    await change('EraseAccount')
    expect(await root(undefined)).to.equal(undefined)
    const theirs = (await http.add(bob.key, 'carl.example')).json
    await createRecord(bob.key, theirs['id'])
    expect((await http.verify(bob.key, theirs['id'])).json['status']).to.equal('active')
  })
})

describe('branded domains with DOMAIN_CHECK=dns', () => {
  let app: TestApp
  let key: string
  let http: ReturnType<typeof clientOf>
  let value: string
  const dns = fakeDns()
  before(async () => {
    const settings = { DOMAIN_TARGETS: 'links.service.example, 203.0.113.9' }
    app = await startTestApp(settings, undefined, { resolver: dns.resolver })
    http = clientOf(app)
    ;({ key } = await app.register())
    dns.a.set('links.service.example', ['198.51.100.7'])
    value = (await http.add(key, 'first.example')).json['verification'].record.value
  })
  after(() => app.close())
  const add = (host: string) => {
    dns.txt.set(`_linkledger.${host}`, [value])
    return http.add(key, host)
  }

  it('are verified when a CNAME or an address points to a target', async () => {
    dns.cname.set('by-name.example.com', ['links.service.example.'])
    dns.a.set('by-address.example.com', ['203.0.113.9'])
    dns.a.set('by-same-address.example.com', ['198.51.100.7'])
    for (const name of ['by-name', 'by-address', 'by-same-address'])
      expect((await add(`${name}.example.com`)).json).to.include({ error: 0, status: 'active' })
  })

  it('stay pending when neither points to a target, without any HTTP request', async () => {
    dns.a.set('metadata.example.com', ['169.254.169.254'])
    for (const name of ['metadata', 'unknown']) {
      const { json } = await add(`${name}.example.com`)
      expect(json).to.include({ error: 0, status: 'pending' })
      expect(json['verification'].problem).to.equal(
        `${name}.example.com does not point to this service: set its DNS to links.service.example or 203.0.113.9.`,
      )
    }
  })

  it('stay pending without the record, although they point here', async () => {
    dns.a.set('unproven.example.com', ['203.0.113.9'])
    const { json } = await http.add(key, 'unproven.example.com')
    expect(json).to.include({ status: 'pending' })
    expect(json['verification'].dns).to.deep.include({ ok: true, found: ['203.0.113.9'] })
  })

  describe('are checked once a day', () => {
    const host = 'by-address.example.com'
    let id: number
    before(async () => {
      const { json } = await app.get('/api/domains', { key })
      id = json['data'].domains.find(({ domain }: { domain: string }) => domain === `https://${host}`).id
      await http.link(key, { url: 'https://f.example/', custom: 'f', domain: host })
    })
    const aDayLater = () => {
      const { db } = app.app.ledger
      return db('state.domain_checks').update({ checked_at: db.raw(`now() - interval '25 hours'`) })
    }
    const failed: string[] = []
    const look = async () => {
      await aDayLater()
      const { reader, handler, keys } = app.app.ledger
      await checkDomains({
        reader,
        handler,
        check: createDomainCheck({
          proof: 'dns',
          targets: ['203.0.113.9', 'links.service.example'],
          resolver: dns.resolver,
          pepper: keys.service,
        }),
        onFailed: ({ domain, failures }) => failed.push(`${domain} ${failures}`),
        onProblem: (error) => {
          throw error
        },
      })
    }
    const follow = async (expected: number) =>
      (
        await until(
          () => http.visit(host, '/f'),
          ({ status }) => status === expected,
        )
      ).status

    it('and keep serving while the name servers do not answer', async () => {
      dns.silent.add(`_linkledger.${host}`)
      dns.silent.add(host)
      for (let n = 0; n < 4; n++) await look()
      dns.silent.clear()
      expect((await http.detail(key, id)).verification).to.include({ failures: 0 })
      expect(await follow(302)).to.equal(302)
    })

    it('stop when DNS points elsewhere on three days, which the owner sees from the first one on, and serve again once it is right', async () => {
      dns.a.set(host, ['192.0.2.1'])
      await look()
      const warned = await http.detail(key, id)
      expect(warned.status).to.equal('active')
      expect(warned.verification.problem).to.equal(
        `${host} does not point to this service: set its DNS to links.service.example or 203.0.113.9. ` +
          'The domain stops after 3 daily checks in a row that fail; so far 1.',
      )
      expect(warned.verification.dns).to.deep.include({ found: ['192.0.2.1'], ok: false })
      await look()
      expect([(await http.detail(key, id)).status, await follow(302)]).to.deep.equal(['active', 302])
      await look()
      const stopped = await http.eventually(key, id, 'unverified')
      expect(stopped.verification.problem).to.match(
        /Its links return 404 until this is corrected\. The host is reserved for you until 20\d\d-/,
      )
      expect(await follow(404)).to.equal(404)
      expect(failed).to.deep.equal([1, 2, 3].map((n) => `https://${host} ${n}`))
      dns.a.set(host, ['203.0.113.9'])
      await look()
      expect((await http.eventually(key, id, 'active')).status).to.equal('active')
      expect(await follow(302)).to.equal(302)
    })

    it('keep the way in which they were verified while they have not proven more', async () => {
      const { db, reader, handler } = app.app.ledger
      const unproven = 'older.example.com'
      dns.a.set(unproven, ['203.0.113.9'])
      const { id: older } = (await http.add(key, unproven)).json
      const command = { type: 'VerifyDomain', id: older, host: unproven, token: 't', proof: 'off' } as const
      await handler.handle(domain, command, systemMetadata(1))
      await http.eventually(key, older, 'active')
      const proofAfterLook = async () => {
        await look()
        return (await handler.load(domain, older)).state.proof
      }
      expect(await proofAfterLook()).to.equal('off')
      dns.txt.set(`_linkledger.${unproven}`, [value])
      expect(await proofAfterLook()).to.equal('dns')
      await until(
        () => db(reader.table('domains')).where({ id: older, proof: 'dns' }),
        (rows) => rows.length === 1,
      )
    })

    it('stop when the record is gone, and come back at once when the owner verifies them', async () => {
      dns.txt.delete(`_linkledger.${host}`)
      for (let n = 0; n < 3; n++) await look()
      expect((await http.eventually(key, id, 'unverified')).verification.problem).to.include('There is no TXT record')
      dns.txt.set(`_linkledger.${host}`, [value])
      expect((await http.verify(key, id)).json).to.include({ status: 'active' })
      expect(await follow(302)).to.equal(302)
    })
  })
})
