import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { run } from '../../src/cli/run.ts'
import { block, type BlockCommand } from '../../src/commands/operator/block.ts'
import { operatorContext } from '../../src/app/operator/caller.ts'
import type { GuardedPost } from '../../src/lib/post.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { inSeconds, secondsLater } from '../support/clock.ts'
import { query } from '../support/faults.ts'
import { visitAt } from '../support/host.ts'

describe('abuse of links', function () {
  this.timeout(300_000)
  let app: TestApp
  let key: string
  let id: number
  let username: string
  before(async () => {
    app = await startTestApp()
    ;({ key, id, username } = await app.register())
  })
  after(() => app.close())

  /** Runs a command in this process, next to the service. */
  const command = async (...args: string[]) => {
    const lines: string[] = []
    const print = (line: string) => void lines.push(line)
    const variables = { DATABASE_URL: urlOf(app.connection), DATA_DIR: app.dir, SECRET: 'a secret for tests only' }
    const code = await run(args, { variables, print, printError: print })
    expect(code, lines.join('\n')).to.equal(0)
    return lines
  }
  /** Blocks or unblocks as the command does, without its start. */
  const change = (what: BlockCommand) =>
    app.app.ledger.handler.handle(block, what, operatorContext({ OPERATOR: 'ann' }, null))
  const blockHost = (value: string) => change({ type: 'Block', kind: 'host', value, reason: 'it steals passwords' })
  const add = async (path: string, body: object) => {
    const { json, text } = await app.post(path, { key, body })
    expect(json['error'], text).to.equal(0)
    return json
  }
  const shorten = async (body: { readonly custom: string; readonly url: string }) => add('/api/url/add', body)
  const statusSoon = async (path: string, status: number) => {
    const answer = await until(
      () => app.visit(path),
      (now) => now.status === status,
    )
    expect(answer.status, path).to.equal(status)
    return answer
  }

  it('ends where the operator blocks a host: links, rotators, scans, bio pages and files that pages load', async () => {
    const evil = 'https://www.evil.example/login'
    await shorten({ custom: 'plain', url: evil })
    await add('/api/url/add', {
      custom: 'targeted',
      url: 'https://good.example/',
      devicetarget: [{ device: 'desktop', link: 'https://evil.example/' }],
    })
    const { id: link } = await shorten({ custom: 'rotated', url: evil })
    const { campaign, id: campaignId } = await add('/api/campaign/add', { name: 'Sale', slug: 'sale' })
    expect(campaign).to.equal('Sale')
    await app.post(`/api/campaign/${campaignId}/assign/${link}`, { key })
    const qr = String((await add('/api/qr/add', { type: 'link', data: evil }))['link'])
    const contents: readonly object[] = [
      { type: 'text', data: 'Read www.evil.example/t today' },
      { type: 'sms', data: { phone: '+15550100', message: evil } },
      { type: 'vcard', data: { fname: 'Ann', site: evil } },
      { type: 'email', data: `mailto:ann@good.example?body=${encodeURIComponent(evil)}` },
    ]
    const drawn = []
    for (const content of contents) drawn.push(new URL(String((await add('/api/qr/add', content))['link'])).pathname)
    for (const path of drawn) expect((await app.visit(path)).headers.get('Content-Type'), path).to.equal('image/png')
    const entries = [{ title: 'Evil', url: evil }]
    await add('/api/bio/add', { name: 'Ann', alias: 'ann', links: entries, avatar: 'https://evil.example/me.png' })
    const splash = await add('/api/splash/add', { name: 'S', product: evil, banner: 'https://evil.example/b.png' })
    await add('/api/url/add', { custom: 'splashed', url: 'https://good.example/', type: `splash-${splash['id']}` })

    const before = await app.domainHead()
    await blockHost('evil.example')
    const page = await statusSoon('/plain', 403)
    expect(page.text).to.include('This link is blocked for your safety').and.not.include('steals passwords')
    expect(page.text).to.include('/report?link=')
    for (const path of ['/targeted', '/r/sale', `${new URL(qr).pathname}/go`, '/ann/1', ...drawn])
      expect((await app.visit(path)).status, path).to.equal(403)
    for (const path of ['/ann', '/splashed', `/u/${username}/sale-${campaignId}`]) {
      const shown = await app.visit(path)
      expect(shown.status, path).to.equal(200)
      expect(shown.text, path).not.to.include('evil.example')
      expect(shown.headers.get('Content-Security-Policy'), path).not.to.include('evil.example')
    }
    const json = await app.visit('/plain', { Accept: 'application/json' })
    expect(json.json).to.include({ error: 1, blocked: true })
    expect(await app.domainEventsAfter(before)).to.equal(1)

    await change({ type: 'Unblock', kind: 'host', value: 'evil.example' })
    expect((await statusSoon('/plain', 302)).headers.get('Location')).to.equal(evil)
  })

  it('is refused with the reason in every field that takes a destination', async () => {
    await blockHost('bad.example')
    const bad = 'https://x.bad.example/'
    const ok = 'https://good.example/'
    const first = await until(
      () => app.post('/api/url/add', { key, body: { url: bad } }),
      ({ status }) => status === 400,
    )
    expect(first.json['message']).to.equal(
      '`url` must not lead to bad.example, which the operator of this service blocks: it steals passwords.',
    )
    const { id: link } = await shorten({ custom: 'fine', url: ok })
    const bio = await add('/api/bio/add', { name: 'B', links: [] })
    const hook = await add('/api/webhook/add', { url: 'https://hooks.example.com/' })
    const requests: readonly [method: string, path: string, body: object, field: string][] = [
      ['POST', '/api/url/add', { url: ok, geotarget: [{ location: 'Canada', link: bad }] }, 'geotarget'],
      ['POST', '/api/url/add', { url: ok, languagetarget: [{ language: 'fr', link: bad }] }, 'languagetarget'],
      ['POST', '/api/url/add', { url: ok, metaimage: bad }, 'metaimage'],
      ['PUT', `/api/url/${link}/update`, { url: bad }, 'url'],
      ['POST', '/api/bio/add', { name: 'B', links: [{ title: 'x', url: bad }] }, 'links'],
      ['PUT', `/api/bio/${bio['id']}/update`, { links: [{ title: 'x', url: bad }] }, 'links'],
      ['POST', '/api/splash/add', { name: 'S', product: bad }, 'product'],
      ['POST', '/api/overlay/add', { type: 'message', name: 'O', message: 'm', link: bad }, 'link'],
      ['POST', '/api/qr/add', { type: 'link', data: bad }, 'data'],
      ['POST', '/api/qr/add', { type: 'text', data: bad }, 'data'],
      ['POST', '/api/qr/add', { type: 'vcard', data: { fname: 'A', site: bad } }, 'data'],
      ['POST', '/api/qr/add', { type: 'text', data: `Your prize: ${bad}` }, 'data'],
      ['POST', '/api/qr/add', { type: 'text', data: 'prizes at X.bad.example/win!' }, 'data'],
      ['POST', '/api/qr/add', { type: 'text', data: '(https://bad.example).' }, 'data'],
      ['POST', '/api/qr/add', { type: 'sms', data: { phone: '+491', message: `Pay at ${bad}` } }, 'data'],
      ['POST', '/api/qr/add', { type: 'sms', data: `SMSTO:+491:${bad}` }, 'data'],
      ['POST', '/api/qr/add', { type: 'email', data: 'mailto:a@b.example?body=see%20bad.example%2Fx' }, 'data'],
      // an escape that cannot be read hides no other
      ['POST', '/api/qr/add', { type: 'email', data: 'mailto:a@b.example?body=5%%20off%20bad.example' }, 'data'],
      ['POST', '/api/webhook/add', { url: bad }, 'url'],
      ['PUT', `/api/webhook/${hook['id']}/update`, { url: bad }, 'url'],
      ['POST', '/api/domain/add', { domain: 'https://a.example.com', redirectroot: bad }, 'redirectroot'],
      ['POST', '/api/domain/add', { domain: 'https://a.example.com', redirect404: bad }, 'redirect404'],
    ]
    for (const [method, path, body, field] of requests) {
      const { status, json } = await app.ask(method, path, { key, body })
      expect(status, `${path} ${field}`).to.equal(400)
      expect(json['message'], path).to.match(new RegExp(`^\`${field}\` must not lead to bad.example`))
    }
  })

  it('is not sent to a webhook whose host was blocked since', async () => {
    const { id: hook } = await add('/api/webhook/add', { url: 'https://receiver.example/' })
    await blockHost('receiver.example')
    const test = () => app.post(`/api/webhook/${hook}/test`, { key })
    const { json } = await until(test, (now) => String(now.json['problem']).includes('blocks this address'))
    expect(json).to.include({ delivered: false, problem: 'the operator of this service blocks this address' })
  })

  it('is not sent to a webhook at a start before the list of blocked hosts is read', async () => {
    const sent: string[] = []
    const post: GuardedPost = {
      send: async ({ url }) => {
        sent.push(url)
        return { status: 500, excerpt: '', retryAfter: undefined }
      },
      problemOf: () => undefined,
    }
    const webhooks = { post, firstPause: 10 }
    const before = await startTestApp({}, undefined, { webhooks })
    const owner = await before.register()
    const made = await before.post('/api/webhook/add', { key: owner.key, body: { url: 'https://receiver.example/' } })
    await before.post('/api/url/add', { key: owner.key, body: { url: 'https://example.com/' } })
    await until(async () => sent.length, Boolean)
    await before.close()
    sent.length = 0

    const dir = await mkdtemp(join(tmpdir(), 'linkledger-list-'))
    const BLOCKLIST_FILE = join(dir, 'blocked')
    // reading a list of this size takes longer than a delivery
    const hosts = Array.from({ length: 300_000 }, (_, n) => `h${n}.example`)
    await writeFile(BLOCKLIST_FILE, [...hosts, 'receiver.example', ''].join('\n'))
    const after = await startTestApp({ BLOCKLIST_FILE }, before.connection, { webhooks })
    try {
      const problem = async () => {
        const { json } = await after.get(`/api/webhook/${made.json['id']}/deliveries`, { key: owner.key })
        return json['data']?.deliveries?.[0]?.problem as string | undefined
      }
      expect(await until(problem, (text) => text?.includes('blocks this address') === true)).to.include('blocks')
      expect(sent).to.deep.equal([])
    } finally {
      await after.close()
      await rm(dir, { recursive: true })
    }
  })

  it('ends where the operator blocks a link, a bio page or a branded domain by a command', async () => {
    await shorten({ custom: 'single', url: 'https://good.example/' })
    await add('/api/domain/add', { domain: 'https://go.branded.example', redirectroot: 'https://good.example/' })
    const onHost = (path: string) => visitAt(app.address, 'go.branded.example', path, {})
    expect((await onHost('/')).status).to.equal(302)

    const printed = await command('block', 'link', `${app.app.baseUrl}/Single`, '--reason', 'spam', '--yes')
    expect(printed).to.deep.equal([`The link /single of account ${id} will be blocked. Reason: spam`, 'Blocked.'])
    await statusSoon('/single', 403)
    await change({ type: 'Block', kind: 'domain', value: 'go.branded.example', reason: 'phishing' })
    await until(
      () => onHost('/'),
      ({ status }) => status === 403,
    )
    for (const path of ['/', '/any', '/qr/any']) expect((await onHost(path)).status, path).to.equal(403)
    expect((await onHost('/report?link=x')).status).to.equal(200)
    const again = await app.post('/api/domain/add', { key, body: { domain: 'https://go.branded.example' } })
    expect(again.json['message']).to.equal('`domain` is blocked by the operator of this service.')

    const list = await command('block', 'list')
    expect(list[1]).to.match(/domain go\.branded\.example +phishing$/)
    expect(list[2]).to.match(/link id:\d+ +spam$/)
  })

  it('ends at a blocked domain also after its owner has deleted it, and by way of a bio page', async () => {
    const host = 'go.phish.example'
    const url = 'https://good.example/'
    const { id: domain } = await add('/api/domain/add', { domain: `https://${host}` })
    await add('/api/url/add', { custom: 'offer', url, domain: host })
    await shorten({ custom: 'offer', url })
    await add('/api/bio/add', { name: 'B', alias: 'way', links: [{ title: 'x', url: `https://${host}/offer` }] })
    const atHost = (written = host) => visitAt(app.address, written, '/offer', {})
    expect([(await atHost()).status, (await app.visit('/way/1')).status]).to.deep.equal([302, 302])

    await change({ type: 'Block', kind: 'domain', value: host, reason: 'phishing' })
    await until(atHost, ({ status }) => status === 403)
    expect((await app.visit('/way/1')).status).to.equal(403)
    await app.del(`/api/domain/${domain}/delete`, { key })
    const again = await until(
      () => app.post('/api/url/add', { key, body: { url, domain: host } }),
      ({ status }) => status === 400,
    )
    expect(again.json['message']).to.equal('`domain` must be a domain of your account.')
    for (const written of [host, 'GO.Phish.example.:8080'])
      expect((await atHost(written)).status, written).to.equal(403)
    expect((await app.visit('/offer')).status).to.equal(302)
  })

  it('does not lead from an expired link to a blocked site of its domain', async () => {
    const host = 'go.over.example'
    await add('/api/domain/add', { domain: `https://${host}`, redirectroot: 'https://site.example/' })
    const expiry = inSeconds(60)
    await add('/api/url/add', { custom: 'over', url: 'https://good.example/', domain: host, expiry })
    const page = async () => (await secondsLater(61, () => visitAt(app.address, host, '/over', {}))).body
    const site = 'href="https://site.example/"'
    expect(await until(page, (text) => text.includes(site))).to.include(site)
    await blockHost('site.example')
    expect(await until(page, (text) => !text.includes('site.example'))).not.to.include('site.example')
  })

  it('ends at once in a process whose tables do not know the block yet', async () => {
    await shorten({ custom: 'late', url: 'https://late.example/' })
    // nothing projects: the tables stay as they are
    const late = await startTestApp({ ROLES: 'http,relay,recorder' }, app.connection)
    try {
      await app.close()
      expect((await late.visit('/late')).status).to.equal(302)
      const { handler, notify } = late.app.ledger
      const what: BlockCommand = { type: 'Block', kind: 'host', value: 'late.example', reason: 'phishing' }
      const { position } = await handler.handle(block, what, operatorContext({ OPERATOR: 'ann' }, null))
      await notify({ kind: 'pending', from: 'a-command', stream: 'block-host-late.example', position })
      const answer = await until(
        () => late.visit('/late'),
        ({ status }) => status === 403,
      )
      expect(answer.status).to.equal(403)
      expect(late.app.ledger.tables.complete()).to.equal(true)
    } finally {
      await late.close()
      app = await startTestApp({}, app.connection)
    }
  })

  it('ends where a campaign is blocked: its list, its rotator, and the next campaign with its slug', async () => {
    const { id: campaign, list, rotator } = await add('/api/campaign/add', { name: 'Call us', slug: 'call-us' })
    await add('/api/url/add', { url: 'https://good.example/', campaign })
    const paths = [list, rotator].map((address: string) => new URL(address).pathname)
    await statusSoon(paths[1]!, 302)
    await command('block', 'link', list, '--reason', 'spam', '--yes')
    for (const path of paths) await statusSoon(path, 403)
    expect((await command('block', 'list')).join('\n')).to.include(`link campaign:${campaign}`)
    await app.del(`/api/campaign/${campaign}/delete`, { key })
    const next = await add('/api/campaign/add', { name: 'Call us', slug: 'call-us' })
    await add('/api/url/add', { url: 'https://good.example/', campaign: next['id'] })
    await statusSoon(new URL(next['rotator']).pathname, 403)
    await command('unblock', 'link', `campaign:${campaign}`, '--yes')
    await statusSoon(new URL(next['rotator']).pathname, 302)
  })

  it('is reported by visitors, and the operator reads and closes the reports', async () => {
    await shorten({ custom: 'Reported', url: 'https://good.example/' })
    const send = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
      app.post('/report', {
        body: new URLSearchParams({ link: 'reported', reason: 'phishing', ...fields }).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      })
    const form = await app.visit('/report?link="><script>')
    expect(form.status).to.equal(200)
    expect(form.text).to.include('value="&quot;&gt;&lt;script&gt;"')
    const review = await app.visit('/report/?link=x&reason=unblock')
    expect(review.text).to.match(/value="unblock" required +checked/)
    const token = /name="token" value="([^"]+)"/.exec(form.text)?.[1] ?? ''

    const escape = String.fromCharCode(27)
    const sent = await send({ details: `It asks${escape}[2J for my canary63`, email: 'bea@canary63.example' })
    const reference = /class="reference">([\dA-Z]{4}-[\dA-Z]{4})</.exec(sent.text)?.[1] ?? ''
    expect([sent.status, reference]).to.deep.equal([200, reference || 'a reference'])

    const browsers: readonly [headers: Record<string, string>, token: string, status: number][] = [
      [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }, token, 403],
      [{ Origin: 'https://evil.example' }, '', 403],
      [{ Origin: 'null' }, token, 200],
    ]
    for (const [headers, signed, status] of browsers)
      expect((await send({ token: signed }, headers)).status, JSON.stringify(headers)).to.equal(status)
    const wrong: readonly [fields: Record<string, string>, problem: string][] = [
      [{ link: 'none' }, 'There is no short link at this address.'],
      [{ link: 'https://elsewhere.example/reported' }, 'There is no short link at this address.'],
      [{ reason: 'fun' }, 'Choose what is wrong with the link.'],
      [{ email: 'bea' }, 'Enter a complete e-mail address'],
    ]
    for (const [fields, problem] of wrong) {
      const answer = await send(fields)
      expect(answer.status, problem).to.equal(400)
      expect(answer.text).to.include(problem)
    }
    // every path below a link belongs to it
    const campaign = await add('/api/campaign/add', { name: 'Listed', slug: 'listed' })
    const { pathname } = new URL(campaign['list'])
    for (const path of ['/reported/login/paypal', pathname])
      expect((await send({ link: app.address + path, website: 'https://spam.example' })).status, path).to.equal(200)

    const stored = await query<{ n: number }>(
      app.connection,
      `select count(*)::int as n from log.events e where e::text like '%canary63%'`,
    )
    expect(stored[0]?.n).to.equal(0)
    const list = await command('report', 'list')
    expect(list).to.have.length(5)
    expect(list[2]).to.match(new RegExp(`^${reference}  .* phishing +2 +${id}  .*/reported$`))
    expect(list.slice(3)).to.deep.equal([
      '           It asks [2J for my canary63',
      '           from bea@canary63.example',
    ])
    expect(await command('report', 'close', reference.toLowerCase())).to.deep.equal([`Report ${reference} is closed.`])
  })

  it('limits the reports of one address', async () => {
    let last = await app.post('/report')
    for (let n = 0; n < 10 && last.status !== 429; n++) last = await app.post('/report')
    expect(last.status).to.equal(429)
    expect(Number(last.headers.get('Retry-After'))).to.be.within(1, 600)
  })

  it('leaves a link that has the alias `report` since before the form, and lists it', async () => {
    const held = linkCreated({ id: 90_001, account: id, alias: 'report', url: 'https://good.example/held' })
    const { store } = app.app.ledger
    await store.append([{ stream: 'link-90001', expected: 'no_stream', events: [fresh(held, id)] }])
    const answer = await until(
      () => app.visit('/report'),
      ({ status }) => status === 302,
      15_000,
    )
    expect(answer.headers.get('Location')).to.equal('https://good.example/held')
    expect((await app.visit('/report?link=')).status).to.equal(200)
    expect((await command('aliases', 'reserved'))[1]).to.match(/^link +90001 +\d+ +.*\/report$/)
  })
})
