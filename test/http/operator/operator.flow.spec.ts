import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { run } from '../../../src/cli/run.ts'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { domain as domains } from '../../../src/commands/domains/domain.ts'
import { report } from '../../../src/commands/operator/report.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { routes } from '../../../src/http/routes.ts'
import { startTestApp, type TestApp, urlOf } from '../../support/app.ts'
import { visitAt } from '../../support/host.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { samePage, signIn } from '../../support/session.ts'

type Session = Awaited<ReturnType<typeof signIn>>
type Registered = Awaited<ReturnType<TestApp['register']>>

describe("the operator's view", () => {
  let app: TestApp
  let ann: Registered
  let bob: Registered
  let operator: Session
  before(async () => {
    app = await startTestApp()
    ;[ann, bob] = [await app.register(), await app.register()]
    await command('account', 'operator', `id:${ann.id}`, '--yes')
    operator = await signIn(app, ann.email)
  })
  after(() => app.close())

  /** Runs a command next to the service. */
  const command = async (...args: string[]) => {
    const printed: string[] = []
    const print = (line: string) => void printed.push(line)
    const variables = { DATABASE_URL: urlOf(app.connection), SECRET: 'a secret for tests only', DATA_DIR: app.dir }
    const code = await run(args, { variables, print, printError: print })
    expect(code, printed.join('\n')).to.equal(0)
    return printed.join('\n')
  }
  const addLink = async ({ key }: Registered, body: object = {}) =>
    (await app.post('/api/url/add', { key, body: { url: 'https://example.com/', ...body } })).json['id'] as number
  const send = async (id: string, subject: number, { id: owner }: Registered) => {
    const command = { type: 'SendReport', id, account: owner, kind: 'link', subject } as const
    const words = {
      address: 'go.example/evil',
      reason: 'phishing',
      message: 'It asks for my bank.',
      email: '',
    } as const
    await app.app.ledger.handler.handle(report, { ...command, ...words }, systemMetadata(owner))
  }
  const eventually = async (ask: () => Promise<boolean>) => expect(await until(ask, Boolean)).to.equal(true)
  const listed = async (path: string, name: string) => {
    const { status, text, json } = await operator.ask('GET', path)
    expect(status, text).to.equal(200)
    return json['data'][name] as Record<string, unknown>[]
  }
  const operated = routes.filter(({ path }) => path.startsWith('/api/operator/'))
  const statuses = async (ask: (method: string, path: string) => Promise<{ status: number; text: string }>) => {
    const answers = await Promise.all(operated.map(({ method, path }) => ask(method.toUpperCase(), path)))
    return [...new Set(answers.map(({ status, text }) => `${status} ${text}`))]
  }

  it('is refused to every key and to sessions of other accounts, with the same words on every route', async () => {
    expect(operated.length).to.equal(13)
    const refused =
      '403 {"error":1,"message":"Only an operator who is signed in on the dashboard may do this.","code":"lacks_scope","params":{"what":"operator"}}'
    const stranger = await signIn(app, bob.email)
    expect(await statuses((method, path) => stranger.ask(method, path))).to.deep.equal([refused])
    // also the key of the operator's account, which has all scopes
    for (const { key } of [ann, bob])
      expect(await statuses((method, path) => app.ask(method, path, { key }))).to.deep.equal([refused])
    // and a scope of this name cannot be had
    const asked = await app.post('/api/key/add', { key: ann.key, body: { name: 'x', scopes: ['operator'] } })
    expect(asked.status).to.equal(400)
    for (const who of [await stranger.ask('GET', '/api/account'), await app.get('/api/account', { key: ann.key })])
      expect(who.json['data']).not.to.have.property('operator')
    expect((await operator.ask('GET', '/api/account')).json['data'].operator).to.equal(true)
  })

  it('takes no request of another site, and none about the past', async () => {
    const headers = { ...samePage('https://evil.example', operator.cookie), 'Sec-Fetch-Site': 'cross-site' }
    const unknown = await statuses((method, path) => app.ask(method, path, { headers }))
    expect(unknown.map((one) => one.slice(0, 3))).to.deep.equal(['401'])
    for (const { path } of operated.filter(({ method }) => method === 'get')) {
      const { status, json } = await operator.ask('GET', `${path}?at=event:1`)
      expect([status, json['message']]).to.deep.equal([400, '`at` must not be sent here: operators see the present.'])
    }
  })

  it('ends at once when the mark is taken away, or the account is disabled or erased', async () => {
    const other = await app.register()
    const session = await signIn(app, other.email)
    const status = async () => (await session.ask('GET', '/api/operator/blocks')).status
    const { handler } = app.app.ledger
    const change = (type: 'MarkOperator' | 'UnmarkOperator' | 'DisableAccount' | 'EraseAccount') =>
      handler.handle(accounts, { type, id: other.id }, systemMetadata(other.id))
    expect(await status()).to.equal(403)
    await change('MarkOperator')
    expect(await status()).to.equal(200)
    await change('UnmarkOperator')
    expect(await status()).to.equal(403)
    await change('MarkOperator')
    await change('DisableAccount')
    expect(await status()).to.equal(403)
    await change('EraseAccount')
    expect(await status()).to.equal(401)
    expect((await handler.load(accounts, other.id)).state.operator).to.equal(false)
    expect(await command('account', 'operator', `id:${bob.id}`, '--remove', '--yes')).to.match(/no operator any more/)
  })

  it('shows of an account who it is and how many links it has, and of an erased one that it is erased', async () => {
    await addLink(bob, { custom: 'secret-alias' })
    const gone = await app.register()
    await command('account', 'erase', `id:${gone.id}`, '--yes')
    const rows = await listed('/api/operator/accounts?limit=100', 'accounts')
    const rowOf = ({ id }: Registered) => rows.find((row) => row['id'] === id)
    expect(rowOf(bob)).to.deep.include({ email: bob.email, username: bob.username, status: 'active', links: 1 })
    expect(rowOf(gone)).to.deep.include({ email: '', username: '', status: 'erased', links: 0 })
    expect(Object.keys(rows[0]!)).to.deep.equal(['id', 'email', 'username', 'status', 'registered', 'links'])
    const found = await listed(`/api/operator/accounts?q=${encodeURIComponent(bob.email.slice(1))}`, 'accounts')
    expect(found.map(({ id }) => id)).to.deep.equal([bob.id])
    expect((await listed(`/api/operator/accounts?q=id:${bob.id}`, 'accounts')).map(({ id }) => id)).to.deep.equal([
      bob.id,
    ])
    expect(await listed('/api/operator/accounts?q=secret-alias', 'accounts')).to.deep.equal([])
    expect(await listed('/api/operator/accounts?limit=1&page=2', 'accounts')).to.have.length(1)
  })

  it('disables and enables accounts, never the own, and its history says that an operator did it', async () => {
    const alias = 'of-bob'
    await addLink(bob, { custom: alias })
    const change = (word: string, id: number) => operator.ask('POST', `/api/operator/account/${word}`, { id })
    const visit = async () => (await app.visit(`/${alias}`)).status
    expect((await change('disable', bob.id)).json).to.deep.equal({ error: 0, id: bob.id, status: 'disabled' })
    await eventually(async () => (await visit()) === 404)
    expect((await app.get('/api/account', { key: bob.key })).status).to.equal(403)
    expect((await change('enable', bob.id)).json['status']).to.equal('active')
    await eventually(async () => (await app.get('/api/account', { key: bob.key })).status === 200)
    const own = await change('disable', ann.id)
    expect([own.status, own.json['message']]).to.deep.equal([400, 'Operators cannot disable their own account.'])
    expect((await change('disable', 999_999)).status).to.equal(404)
    // nor another operator, who could not come back
    const { handler } = app.app.ledger
    const mark = (type: 'MarkOperator' | 'UnmarkOperator') =>
      handler.handle(accounts, { type, id: bob.id }, systemMetadata(bob.id))
    await mark('MarkOperator')
    const other = await change('disable', bob.id)
    expect([other.status, other.json['code'], other.json['params']]).to.deep.equal([
      400,
      'account_disabled',
      { what: 'operator' },
    ])
    expect((await app.get('/api/account', { key: bob.key })).status).to.equal(200)
    await mark('UnmarkOperator')

    const history = (await app.get('/api/account/history?limit=3', { key: bob.key })).json['data'].events
    const enabled = history.find(({ type }: { type: string }) => type === 'AccountEnabled')
    expect(enabled.actor).to.deep.equal({ kind: 'operator' })
    // what stays for good is no name that could not be erased
    const [event] = await query<{ metadata: object }>(
      app.connection,
      `select metadata from log.events where stream = 'account-${bob.id}' and type = 'AccountEnabled'`,
    )
    expect(event?.metadata).to.deep.include({ account: bob.id, actor: { kind: 'operator', name: `account ${ann.id}` } })
  })

  it('lists reports, blocks the reported resources, and closes the reports', async () => {
    const link = await addLink(bob, { custom: 'evil' })
    await Promise.all(['7kq2m9xd', '7kq2m9xe'].map((id) => send(id, link, bob)))
    await eventually(async () => (await listed('/api/operator/reports', 'reports')).length === 2)
    const [newest] = await listed('/api/operator/reports?q=go.example', 'reports')
    expect(newest).to.deep.include({
      account: bob.id,
      kind: 'link',
      subject: link,
      reason: 'phishing',
      open: 2,
      blocked: false,
      closed: '',
    })

    const value = `id:${link}`
    const reason = 'Phishing, report 7KQ2-M9XD'
    const blocked = await operator.ask('POST', '/api/operator/block', { kind: 'link', value, reason })
    expect(blocked.json).to.include({ error: 0, kind: 'link', value })
    await eventually(async () => (await app.visit('/evil')).status === 403)
    expect((await listed('/api/operator/reports', 'reports')).map((one) => one['blocked'])).to.deep.equal([true, true])
    const [row] = await listed('/api/operator/blocks', 'blocks')
    expect(row).to.deep.include({
      kind: 'link',
      value,
      alias: 'evil',
      account: bob.id,
      reason,
      operator: `account ${ann.id}`,
    })

    const close = (reference: string) => operator.ask('POST', '/api/operator/report/close', { reference })
    expect((await close('7kq2-m9xd')).status).to.equal(200)
    expect([(await close('nothing')).status, (await close('AAAA-AAAA')).status]).to.deep.equal([404, 404])
    const references = async (path: string) => (await listed(path, 'reports')).map(({ reference }) => reference)
    expect(await references('/api/operator/reports')).to.deep.equal(['7KQ2-M9XE'])
    expect(await references('/api/operator/reports?closed=true')).to.deep.equal(['7KQ2-M9XD'])

    const erase = (reference: string) => operator.ask('POST', '/api/operator/report/erase', { reference })
    expect((await erase('7kq2-m9xd')).json['message']).to.equal('Report 7KQ2-M9XD is erased.')
    const [erased] = await listed('/api/operator/reports?closed=true', 'reports')
    expect([erased!['message'], erased!['email'], erased!['reason']]).to.deep.equal([null, null, 'phishing'])
    expect([(await erase('7KQ2-M9XD')).status, (await erase('nothing')).status]).to.deep.equal([404, 404])

    const unblock = () => operator.ask('POST', '/api/operator/unblock', { kind: 'link', value })
    expect((await unblock()).status).to.equal(200)
    await eventually(async () => (await app.visit('/evil')).status === 302)
    expect(await listed('/api/operator/blocks', 'blocks')).to.deep.equal([])
    expect((await unblock()).status).to.equal(404)
  })

  it('blocks the addresses of a link, now and before, which its owner cannot bring back by another link', async () => {
    const url = 'https://example.com/phish'
    const link = await addLink(bob, { custom: 'phish-first', url })
    const update = (id: number, body: object) =>
      app.put(`/api/url/${id}/update`, { key: bob.key, body: { url, ...body } })
    await update(link, { custom: 'phish' })
    const value = `id:${link}`
    const blocked = await operator.ask('POST', '/api/operator/block', { kind: 'link', value, reason: 'Phishing' })
    expect(blocked.status).to.equal(200)
    const statusOf = async (path: string) => (await app.visit(path)).status
    await eventually(async () => (await statusOf('/phish')) === 403)

    const renamed = await update(link, { custom: 'phish-2' })
    expect(renamed.json).to.deep.include({ error: 1, code: 'blocked', field: 'custom' })
    expect((await update(link, { custom: 'Phish', title: 'the same address' })).status).to.equal(200)
    await app.del(`/api/url/${link}/delete`, { key: bob.key })
    for (const custom of ['phish', 'PHISH', 'phish-first']) {
      const again = await app.post('/api/url/add', { key: bob.key, body: { url, custom } })
      expect(again.json, custom).to.deep.include({ error: 1, code: 'blocked', field: 'custom' })
      const page = await app.post('/api/bio/add', { key: bob.key, body: { name: 'x', alias: custom, links: [] } })
      expect(page.json, custom).to.deep.include({ error: 1, code: 'blocked', field: 'alias' })
    }
    const other = await addLink(bob, { custom: 'other' })
    expect((await update(other, { custom: 'phish' })).json).to.deep.include({ code: 'blocked', field: 'custom' })
    expect([await statusOf('/phish'), await statusOf('/phish-first'), await statusOf('/other')]).to.deep.equal([
      403, 403, 302,
    ])

    const again = await addLink(bob, { url })
    const named = (await listed('/api/operator/blocks', 'blocks')).find((row) => row['value'] === value)
    expect(named?.['again']).to.deep.equal([`id:${again}`])
    await operator.ask('POST', '/api/operator/unblock', { kind: 'link', value })
    await eventually(async () => (await statusOf('/phish')) === 404)
    expect((await update(other, { custom: 'phish' })).status).to.equal(200)
  })

  it('blocks a link on a domain with exact aliases by its address, and no other spelling of it', async () => {
    const domain = 'https://exact.example'
    await app.post('/api/domain/add', { key: bob.key, body: { domain, aliases: 'exact' } })
    const link = await addLink(bob, { custom: 'Bad/One.html', domain })
    const other = await addLink(bob, { custom: 'bad/one.html', domain })
    const value = `${domain}/Bad/One.html`
    await eventually(
      async () =>
        (await operator.ask('POST', '/api/operator/block', { kind: 'link', value, reason: 'Phishing' })).status === 200,
    )
    const named = (await listed('/api/operator/blocks', 'blocks')).find((row) => row['value'] === `id:${link}`)
    expect(named).to.include({ alias: 'Bad/One.html' })
    const statusOf = async (id: number) => (await app.get(`/api/url/${id}`, bob)).json['details'].status as string
    await eventually(async () => (await statusOf(link)) === 'blocked')
    expect(await statusOf(other)).to.not.equal('blocked')
    await app.del(`/api/url/${link}/delete`, bob)
    const again = (custom: string) =>
      app.post('/api/url/add', { key: bob.key, body: { url: 'https://x.example', custom, domain } })
    expect((await again('Bad/One.html')).json).to.deep.include({ code: 'blocked', field: 'custom' })
    expect((await again('BAD/One.html')).status).to.equal(200)
    // paths of the service are aliases there
    await addLink(bob, { custom: 'qr/code', domain })
    const coded = { kind: 'link', value: `${domain}/qr/code/`, reason: 'Phishing' }
    await eventually(async () => (await operator.ask('POST', '/api/operator/block', coded)).status === 200)
  })

  it('keeps an address blocked when its domain is gone, whichever aliases that had', async () => {
    const host = 'gone.example'
    const domain = `https://${host}`
    const { json } = await app.post('/api/domain/add', { key: bob.key, body: { domain, aliases: 'exact' } })
    const link = await addLink(bob, { custom: 'Evil', domain })
    await operator.ask('POST', '/api/operator/block', { kind: 'link', value: `id:${link}`, reason: 'Phishing' })
    const statusAt = async (path: string) => (await visitAt(app.address, host, path, {})).status
    await eventually(async () => (await statusAt('/Evil')) === 403)
    await app.del(`/api/domain/${json['id']}/delete`, bob)
    await addLink(bob, { custom: 'Evil' })
    await eventually(async () => (await app.visit('/Evil')).status === 302)
    expect(await statusAt('/Evil')).to.equal(403)
  })

  it('blocks the address of a bio page, which its owner cannot replace by a link', async () => {
    const added = await app.post('/api/bio/add', { key: bob.key, body: { name: 'x', alias: 'evil-page', links: [] } })
    const id = added.json['id'] as number
    await command('block', 'link', `bio:${id}`, '--reason', 'spam', '--yes')
    await eventually(async () => (await app.visit('/evil-page')).status === 403)
    const renamed = await app.put(`/api/bio/${id}/update`, { key: bob.key, body: { alias: 'evil-page-2' } })
    expect(renamed.json).to.deep.include({ error: 1, code: 'blocked', field: 'alias' })
    await app.del(`/api/bio/${id}/delete`, { key: bob.key })
    const link = { url: 'https://example.com/', custom: 'evil-page' }
    expect((await app.post('/api/url/add', { key: bob.key, body: link })).json).to.deep.include({ code: 'blocked' })
    expect((await app.visit('/evil-page')).status).to.equal(403)
    await command('unblock', 'link', `bio:${id}`, '--yes')
  })

  it('keeps an address of a branded domain blocked when its owner adds the domain again', async () => {
    const body = { domain: 'https://go.blocked.example' }
    const add = async () => (await app.post('/api/domain/add', { key: bob.key, body })).json['id'] as number
    const first = await add()
    const link = await addLink(bob, { custom: 'phish', domain: 'go.blocked.example' })
    await command('block', 'link', `id:${link}`, '--reason', 'phishing', '--yes')
    const visit = async () => (await app.visit('/phish', { Host: 'go.blocked.example' })).status
    await eventually(async () => (await visit()) === 403)
    await app.del(`/api/domain/${first}/delete`, { key: bob.key })
    await add()
    const again = { url: 'https://example.com/', custom: 'phish', domain: 'go.blocked.example' }
    const refused = await app.post('/api/url/add', { key: bob.key, body: again })
    expect(refused.json).to.deep.include({ error: 1, code: 'blocked', field: 'custom' })
    await command('unblock', 'link', `id:${link}`, '--yes')
  })

  it('does not block the addresses of an owner at whose host a blocked link had a domain that was never verified', async () => {
    const host = 'shop.victim.example'
    const fields = { domain: `https://${host}`, redirectroot: '', redirect404: '' }
    const [account, now] = [bob.id, new Date().toISOString()]
    const pending = { type: 'CreateDomain', id: 9001, account, fields, token: randomUUID(), now } as const
    await app.app.ledger.handler.handle(domains, pending, systemMetadata(account))
    const link = await until(() => addLink(bob, { custom: 'sale', domain: host }), Boolean)
    // while it is pending, and once another account has the host
    for (const custom of ['free-money', 'free-money-2']) {
      const update = { url: 'https://example.com/', custom, domain: '' }
      expect((await app.put(`/api/url/${link}/update`, { key: bob.key, body: update })).status).to.equal(200)
      const reason = { kind: 'link', value: `id:${link}`, reason: 'phishing' }
      expect((await operator.ask('POST', '/api/operator/block', reason)).status).to.equal(200)
      await eventually(async () => (await app.visit(`/${custom}`)).status === 403)
      if (custom === 'free-money') {
        expect((await app.post('/api/domain/add', { key: ann.key, body: { domain: fields.domain } })).status).to.equal(
          200,
        )
        await addLink(ann, { custom: 'sale', domain: host })
      }
      expect((await app.visit('/sale', { Host: host })).status).to.equal(302)
      await operator.ask('POST', '/api/operator/unblock', { kind: 'link', value: `id:${link}` })
      await eventually(async () => (await app.visit(`/${custom}`)).status === 302)
    }
  })

  it('keeps an address of a branded domain blocked when the domain is gone and the host leads to our own links', async () => {
    const host = 'gone.blocked.example'
    const body = { domain: `https://${host}` }
    const domain = (await app.post('/api/domain/add', { key: bob.key, body })).json['id'] as number
    const link = await addLink(bob, { custom: 'gone-phish', domain: host })
    await command('block', 'link', `id:${link}`, '--reason', 'phishing', '--yes')
    const visit = async (path: string, Host = host) => (await app.visit(path, { Host })).status
    await eventually(async () => (await visit('/gone-phish')) === 403)
    await app.del(`/api/domain/${domain}/delete`, { key: bob.key })
    await addLink(bob, { custom: 'gone-phish' })
    const links = [{ title: 'x', url: `https://${host}/gone-phish` }]
    await app.post('/api/bio/add', { key: bob.key, body: { name: 'x', alias: 'gone-page', links } })
    const spellings = [host, host.toUpperCase(), `${host}.`, `${host}:8443`]
    for (const one of spellings) expect(await visit('/Gone-Phish', one), one).to.equal(403)
    expect(await visit('/gone-page/1')).to.equal(403)
    expect([await visit('/gone-phish', new URL(app.address).host), await visit('/gone-page')]).to.deep.equal([302, 200])
    await command('unblock', 'link', `id:${link}`, '--yes')
    await eventually(async () => (await visit('/gone-phish')) === 302)
  })

  it('blocks hosts, patterns and branded domains, and names values that cannot be blocked', async () => {
    const subjects = [
      ['host', 'https://evil.example/', 'evil.example'],
      ['pattern', 'sites.example/view/evil*', 'sites.example/view/evil*'],
      ['domain', 'brand.example.org', 'brand.example.org'],
    ]
    for (const [kind, value, spelled] of subjects) {
      const { json } = await operator.ask('POST', '/api/operator/block', { kind, value, reason: 'spam' })
      expect([json['error'], json['kind'], json['value']]).to.deep.equal([0, kind, spelled])
    }
    const rows = await listed('/api/operator/blocks?order=oldest&q=spam', 'blocks')
    expect(rows.map(({ kind, value }) => [kind, value])).to.deep.equal(subjects.map(([kind, , value]) => [kind, value]))
    const wrong: readonly (readonly [body: object, message: RegExp])[] = [
      [{ kind: 'host', value: 'evil.example/x', reason: 'x' }, /^`value` cannot be used: .* is not a host/],
      [
        { kind: 'link', value: 'nothing-here', reason: 'x' },
        /^`value` cannot be used: there is no short link nothing-here/,
      ],
      [{ kind: 'host', value: 'evil.example', reason: ' ' }, /^`reason` must say why/],
      ...['a\u001b[2Jb', 'a\nb', 'a\u202eb', 'a\u2028b', 'a\u009bb'].map(
        (reason) => [{ kind: 'host', value: 'evil.example', reason }, /^`reason` must be a single line/] as const,
      ),
      [{ kind: 'all', value: 'evil.example', reason: 'x' }, /^`kind` must be one of link, host, pattern, domain/],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await operator.ask('POST', '/api/operator/block', body)
      expect(status, JSON.stringify(body)).to.equal(400)
      expect(json['message']).to.match(message)
    }
  })

  it('shows the health of projections, relay, webhooks and storage', async () => {
    const { status, text, json } = await operator.ask('GET', '/api/operator/health')
    expect(status, text).to.equal(200)
    const { ready, problems, projections, webhooks, storage, relay } = json
    // the clicks of the tests before may still be on their way
    expect(relay).to.have.all.keys('clicks', 'seconds')
    expect({ ready, problems, webhooks }).to.deep.equal({
      ready: true,
      problems: [],
      webhooks: { all: 0, stopped: 0, failing: 0 },
    })
    expect(projections).to.deep.include({ name: 'links', halted: null })
    for (const size of ['log', 'read', 'state']) expect(storage[size], size).to.be.above(0)
  })
})
