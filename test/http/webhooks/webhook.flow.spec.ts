import { expect } from 'chai'
import { sendMessage } from '../../../src/app/jobs/webhooks/send.ts'
import { openDatabase } from '../../../src/postgres/database.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { copyState, readState } from '../../../src/postgres/state.ts'
import { deleteOldAttempts, settleAttempts } from '../../../src/postgres/webhooks.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { freshDatabase } from '../../support/database.ts'
import { query } from '../../support/faults.ts'
import { signIn } from '../../support/session.ts'
import { accept, type Received, type Receiver, respond, startReceiver, verify } from '../../support/receiver.ts'

describe('the webhook API', () => {
  let app: TestApp
  let receiver: Receiver
  let account: { readonly key: string; readonly id: number }
  before(async () => {
    receiver = await startReceiver()
    app = await startTestApp({ QUOTA_WEBHOOKS: '12' }, undefined, {
      webhooks: { post: receiver.post, firstPause: 10 },
    })
  })
  after(async () => {
    await app.close()
    await receiver.close()
  })
  beforeEach(async () => {
    receiver.behave(accept)
    receiver.received.length = 0
    account = await app.register()
  })

  /** Each test has an account, and a path, of its own. */
  const own = (path = 'hook') => `/${account.id}/${path}`
  /** What has arrived for the account of the test: the webhook of an earlier test may still try. */
  const arrived = () => receiver.received.filter(({ path }) => path.startsWith(own('')))
  const hook = (path?: string) => receiver.url(own(path))
  const add = async (body: object = {}, key = account.key) => {
    const { json, text } = await app.post('/api/webhook/add', { key, body: { url: hook(), ...body } })
    expect(json['error'], text).to.equal(0)
    return { id: Number(json['id']), secret: String(json['secret']), from: Number(json['from']) }
  }
  const details = async (id: number) => (await app.get(`/api/webhook/${id}`, { key: account.key })).json['details']
  const addLink = async (title: string, key = account.key) => {
    const { json } = await app.post('/api/url/add', { key, body: { url: 'https://example.com/', title } })
    return Number(json['id'])
  }
  const isCreated = (id: number) => (message: Received) =>
    message.type === 'LinkCreated' && (message.data['data'] as { id: number }).id === id
  const update = (id: number, body: object) => app.put(`/api/webhook/${id}/update`, { key: account.key, body })

  it('sends events as signed messages that the library of Standard Webhooks verifies', async () => {
    const { id, secret } = await add({ events: ['LinkCreated', 'LinkDeleted'] })
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const link = await addLink('Spring')
    await app.put(`/api/url/${link}/update`, { key: account.key, body: { url: 'https://example.com/2' } })
    await app.del(`/api/url/${link}/delete`, { key: account.key })
    const messages = await receiver.arrives(({ type }) => type === 'LinkDeleted')
    expect(messages.map(({ type }) => type)).to.deep.equal(['LinkCreated', 'LinkDeleted'])
    for (const message of messages) verify(secret, message)
    const [first] = messages
    expect(first!.id).to.equal(`evt_${String(first!.data['event'])}`)
    expect(first!.data).to.include({ type: 'LinkCreated', stream: `link-${link}` })
    expect(JSON.parse(first!.body)).to.include({ type: 'LinkCreated', timestamp: first!.data['at'] })
    expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', first!)).to.throw('No matching signature')
    expect(() => verify(secret, { ...first!, body: first!.body.replace('Spring', 'Winter') })).to.throw()
    expect(await details(id)).to.include({ status: 'active', url: hook(), reason: '', tries: 0 })
    expect(JSON.stringify(await details(id))).not.to.include(secret)
  })

  it('signs with the old and the new secret while it is replaced, and only with the new one afterwards', async () => {
    const { id, secret } = await add({ events: ['LinkCreated'] })
    const rotated = await app.post(`/api/webhook/${id}/rotate`, { key: account.key, body: { overlap: 3600 } })
    const next = String(rotated.json['secret'])
    expect(next).not.to.equal(secret)
    const one = await addLink('one')
    const both = (await receiver.arrives(isCreated(one))).at(-1)!
    expect(String(both.headers['webhook-signature']).split(' ')).to.have.length(2)
    verify(secret, both)
    verify(next, both)

    await app.post(`/api/webhook/${id}/rotate`, { key: account.key, body: { overlap: 0 } })
    const two = await addLink('two')
    const only = (await receiver.arrives(isCreated(two))).at(-1)!
    expect(() => verify(next, only)).to.throw('No matching signature')
  })

  it('waits while its receiver fails and leaves nothing out, while another one is not held up', async () => {
    const failing = await add({ url: hook('failing'), events: ['LinkCreated'] })
    await add({ url: hook('other'), events: ['LinkCreated'] })
    receiver.behave((res, message) =>
      message.path === own('failing') ? respond(500)(res, message) : accept(res, message),
    )
    const { json } = await app.post('/api/urls/bulk?op=create', {
      key: account.key,
      body: { rows: Array.from({ length: 20 }, (_, n) => ({ url: `https://example.com/${n}` })) },
    })
    expect(json).to.include({ succeeded: 20 })
    await until(
      async () => receiver.ids(own('other')),
      (ids) => ids.length === 20,
    )
    expect(receiver.ids(own('other'))).to.have.length(20)
    const shown = await until(
      () => details(failing.id),
      ({ tries }) => tries > 1,
    )
    expect(shown).to.include({ status: 'failing' })
    expect(receiver.ids(own('failing'))).to.deep.equal([])
    receiver.behave(accept)
    await until(
      async () => receiver.ids(own('failing')),
      (ids) => ids.length === 20,
    )
    expect(receiver.ids(own('failing'))).to.deep.equal(receiver.ids(own('other')))
    const attempts = async () =>
      (await app.get(`/api/webhook/${failing.id}/deliveries?limit=1000&order=oldest`, { key: account.key })).json[
        'data'
      ].deliveries as readonly { readonly delivered: boolean }[]
    const log = await until(attempts, (all) => all.filter((one) => one.delivered).length === 20)
    const [first] = log
    expect(first).to.include({
      try: 1,
      delivered: false,
      status: 500,
      answer: 'no',
      problem: 'the server responded with status 500',
    })
    expect(log.filter((one) => one.delivered)).to.have.length(20)
  })

  it('sends clicks and events in one order, and again with the same ids after a replay', async () => {
    const made = await app.post('/api/url/add', { key: account.key, body: { url: 'https://example.com/' } })
    const path = new URL(String(made.json['short'])).pathname
    const { id, from } = await add({ events: ['*', 'clicks'] })
    for (let n = 0; n < 3; n++) {
      await app.visit(path)
      await app.visit(path, { 'User-Agent': 'Googlebot/2.1' })
      await addLink(`between ${n}`)
    }
    const clicks = () => receiver.accepted(own()).flatMap(({ data }) => (data['clicks'] as object[] | undefined) ?? [])
    await until(
      async () => clicks(),
      (found) => found.length === 3,
    )
    const last = await addLink('last')
    await receiver.arrives(isCreated(last))
    const first = receiver.ids(own())
    const places = receiver.accepted(own()).map(({ data }) => Number(data['event']))
    expect(places).to.deep.equal(places.toSorted((a, b) => a - b))
    expect(clicks()[0]).to.include({ class: 'human', destination: 'https://example.com/', link: made.json['id'] })

    receiver.received.length = 0
    const replayed = await app.post(`/api/webhook/${id}/replay`, { key: account.key, body: { from } })
    expect(replayed.json).to.include({ error: 0, from })
    await receiver.arrives(isCreated(last))
    expect(receiver.ids(own()).slice(0, first.length)).to.deep.equal(first)
    const history = await add({ url: hook('history'), from: 0 })
    expect(history.from).to.equal(0)
    await until(
      async () => receiver.ids(own('history')),
      (ids) => first.filter((one) => !one.includes('_', 4)).every((one) => ids.includes(one)),
    )
    expect(receiver.ids(own('history'))).to.include.members(first.filter((one) => !one.includes('_', 4)))
  })

  it('is disabled by 410, says why, and continues where it was once it is enabled', async () => {
    const { id } = await add({ events: ['LinkCreated'] })
    receiver.behave(respond(410))
    const missed = await addLink('missed')
    const gone = await until(
      () => details(id),
      ({ status }) => status === 'disabled',
    )
    expect(gone).to.include({ reason: 'gone', failing: '' })
    receiver.behave(accept)
    const later = await addLink('later')
    expect((await update(id, { enabled: true })).json['error']).to.equal(0)
    await receiver.arrives(isCreated(later))
    expect(receiver.accepted(own()).map(({ data }) => (data['data'] as { id: number }).id)).to.deep.equal([
      missed,
      later,
    ])
    expect(await details(id)).to.include({ status: 'active', reason: '' })
  })

  it('stops while it is disabled by its owner, and is disabled after three days of failures', async () => {
    const { id } = await add({ events: ['LinkCreated'] })
    receiver.behave(respond(503))
    await addLink('x')
    await until(
      () => details(id),
      ({ tries }) => tries > 0,
    )
    await query(
      app.connection,
      `update state.webhooks set failing_since = now() - interval '4 days' where webhook = $1`,
      [id],
    )
    expect((await update(id, { enabled: false })).json['error']).to.equal(0)
    expect(await details(id)).to.include({ status: 'disabled', reason: 'owner' })
  })

  it('tests a receiver, and takes a redirect for a failure', async () => {
    const { id, secret } = await add({ events: ['LinkDeleted'] })
    const test = () => app.post(`/api/webhook/${id}/test`, { key: account.key })
    expect((await test()).json).to.include({ delivered: true, status: 204, problem: '', answer: '' })
    const [message] = arrived()
    verify(secret, message!)
    expect([message!.type, message!.data]).to.deep.equal(['test', { webhook: id }])
    receiver.behave(respond(302, { Location: hook('elsewhere') }))
    const { json } = await test()
    expect(json).to.include({ delivered: false, status: 302, message: 'The test message was not delivered.' })
    expect(json['problem']).to.match(/^the server redirects/)
    expect(arrived().map(({ path }) => path)).to.deep.equal([own(), own()])
    const { json: log } = await app.get(`/api/webhook/${id}/deliveries?fields=type,delivered`, { key: account.key })
    expect(log['data'].deliveries).to.have.length(2)
  })

  it('tests one host twenty times a minute for an account', async () => {
    const { id } = await add()
    let delivered = 0
    const test = async () => {
      const { json } = await app.post(`/api/webhook/${id}/test`, { key: account.key })
      if (json['delivered']) delivered++
      return json
    }
    const problem = 'nothing was sent, because this host has got many messages at once: try again in a minute'
    await until(test, (answer) => answer['problem'] === problem)
    expect(arrived()).to.have.length(delivered)
    expect(delivered).to.be.at.least(20)
  })

  it('sends one message again, also while it is disabled, and lists attempts by their result', async () => {
    const { id } = await add({ events: ['LinkCreated', 'clicks'] })
    const made = await addLink('again')
    const messages = await receiver.arrives(isCreated(await addLink('later')))
    const first = messages.find(isCreated(made))!
    await update(id, { enabled: false })
    const resend = (message: string, key = account.key) =>
      app.post(`/api/webhook/${id}/resend`, { key, body: { message } })
    receiver.behave(respond(500))
    expect((await resend(first.id)).json).to.include({ delivered: false, status: 500, id: first.id })
    receiver.behave(accept)
    const { json } = await resend(first.id)
    expect(json).to.include({ error: 0, delivered: true, message: 'The message was delivered.' })
    const again = receiver.accepted(own()).at(-1)!
    expect([again.id, again.body]).to.deep.equal([first.id, first.body])
    const listed = async (query: string) =>
      (await app.get(`/api/webhook/${id}/deliveries?${query}`, { key: account.key })).json['data'].deliveries as {
        message: string
      }[]
    expect((await listed('delivered=false')).map(({ message }) => message)).to.deep.equal([first.id])
    expect((await listed('delivered=true')).filter(({ message }) => message === first.id)).to.have.length(2)
    // an event that it does not send, a part that is none, an event that is yet to come, and no id
    const event = Number(first.data['event'])
    const statuses = [`evt_${event - 1}`, `evt_${event}_0`, 'evt_99999999', 'evt_x'].map((one) => resend(one))
    expect((await Promise.all(statuses)).map(({ status }) => status)).to.deep.equal([404, 404, 404, 400])
    const other = await app.register()
    expect((await resend(first.id, other.key)).status).to.equal(404)
  })

  it('returns a webhook as of an earlier moment, without its progress', async () => {
    const { id } = await add({ name: 'before' })
    const before = await app.get(`/api/webhook/${id}`, { key: account.key })
    await update(id, { name: 'after' })
    const at = encodeURIComponent(before.headers.get('Linkledger-At') ?? '')
    const past = await app.get(`/api/webhook/${id}?at=${at}`, { key: account.key })
    expect(past.json['details']).to.include({ id, name: 'before', status: 'active', next: null })
    const listed = await app.get(`/api/webhooks?at=${at}`, { key: account.key })
    expect(listed.json['data'].webhooks).to.deep.equal([past.json['details']])
    const log = await app.get(`/api/webhook/${id}/deliveries?at=${at}`, { key: account.key })
    expect([log.status, log.json['message']]).to.deep.equal([
      400,
      '`at` must not be sent here: deliveries are not in the log.',
    ])
  })

  it('refuses addresses, types and links that it cannot send to or about', async () => {
    const { key } = account
    const other = await app.register()
    const foreign = await addLink('theirs', other.key)
    const refusal = async (body: object, as = key) => {
      const { status, json } = await app.post('/api/webhook/add', { key: as, body: { url: receiver.url(), ...body } })
      return [status, json['message']]
    }
    expect(await refusal({ url: 'https://example.com:8443/' })).to.deep.equal([400, '`url` must be on port 80 or 443.'])
    expect((await refusal({ url: 'ftp://example.com/' }))[0]).to.equal(400)
    expect((await refusal({ events: [] }))[0]).to.equal(400)
    expect((await refusal({ events: ['LinkDreamt'] }))[1]).to.match(/^`events.0` must be/)
    expect(await refusal({ links: [foreign] })).to.deep.equal([
      400,
      `\`links\` must be ids of your links: there is no link ${foreign}.`,
    ])
    expect((await refusal({ from: '2999-01-01' }))[1]).to.equal('`from` must not be in the future.')
    expect((await refusal({ from: 999_999 }))[1]).to.match(/^`from` must be at most \d+/)
    const narrow = await app.post('/api/key/add', { key, body: { name: 'hooks', scopes: ['webhooks'] } })
    const scoped = String(narrow.json['key'])
    expect((await refusal({ events: ['ApiKeyAdded'] }, scoped))[0]).to.equal(403)
    expect((await app.get('/api/urls', { key: scoped })).status).to.equal(403)
    await add({ events: ['*'] }, scoped)
    for (let n = 0; n < 11; n++) await add()
    expect((await refusal({}))[0]).to.equal(403)
  })

  it('sends nothing of another account, and nothing of the account itself unless it is named', async () => {
    await add({ events: ['*', 'clicks'] })
    const named = await add({ url: hook('named'), events: ['ApiKeyAdded'] })
    expect(named.id).to.be.greaterThan(0)
    const other = await app.register()
    await addLink('theirs', other.key)
    await app.post('/api/key/add', { key: account.key, body: { name: 'x', scopes: ['read'] } })
    const ours = await addLink('ours')
    await receiver.arrives(isCreated(ours))
    await receiver.arrives(({ type }) => type === 'ApiKeyAdded')
    const types = receiver.accepted(own()).map(({ type }) => type)
    expect(types).to.deep.equal(['LinkCreated'])
    const bodies = receiver.received.map(({ body }) => body).join()
    expect(bodies).not.to.include('theirs')
    expect(bodies).not.to.include('whsec_')
    expect(bodies).not.to.match(/"hash"/)
  })

  it('sends events of the account nowhere else for a key that may not read them, but for a session', async () => {
    const { id } = await add({ events: ['ApiKeyAdded'] })
    const narrow = await app.post('/api/key/add', { key: account.key, body: { name: 'hooks', scopes: ['webhooks'] } })
    const key = String(narrow.json['key'])
    const change = async (body: object, as = key) =>
      (await app.put(`/api/webhook/${id}/update`, { key: as, body })).status
    expect(await change({ url: hook('elsewhere') })).to.equal(403)
    expect(await change({ url: hook('elsewhere'), events: ['ApiKeyAdded'] })).to.equal(403)
    expect(await change({ name: 'mine', url: hook() })).to.equal(200)
    expect(await change({ url: hook('elsewhere') }, account.key)).to.equal(200)
    expect(await change({ url: hook('else'), events: ['LinkCreated'] })).to.equal(200)
    const { email } = (await app.get('/api/account', { key: account.key })).json['data'] as { email: string }
    const session = await signIn(app, email)
    const named = { url: hook('session'), events: ['ApiKeyAdded'] }
    expect((await session.ask('POST', '/api/webhook/add', named)).status).to.equal(200)
  })

  it('gives the secret of a webhook with events of the account to no key that may not read them', async () => {
    const { id } = await add({ events: ['ApiKeyAdded'] })
    const narrow = await app.post('/api/key/add', { key: account.key, body: { name: 'hooks', scopes: ['webhooks'] } })
    const rotate = (key: string) => app.post(`/api/webhook/${id}/rotate`, { key, body: { overlap: 0 } })
    const refused = await rotate(String(narrow.json['key']))
    expect([refused.status, refused.json['code'], refused.json['field']]).to.deep.equal([403, 'lacks_scope', 'secret'])
    expect(refused.text).not.to.include('whsec_')
    expect((await rotate(account.key)).status).to.equal(200)
  })

  it('switches no webhook with events of the account on, and sends none of them again, for a key that may not read them', async () => {
    const { id } = await add({ events: ['ApiKeyAdded'] })
    const body = { name: 'hooks', scopes: ['webhooks'] }
    const narrow = String((await app.post('/api/key/add', { key: account.key, body })).json['key'])
    const change = (changes: object, key: string) => app.put(`/api/webhook/${id}/update`, { key, body: changes })
    const doors = (key: string) => [
      change({ enabled: true }, key),
      app.post(`/api/webhook/${id}/replay`, { key, body: { from: 0 } }),
      app.post(`/api/webhook/${id}/resend`, { key, body: { message: 'evt_999999999' } }),
    ]
    expect((await change({ enabled: true, name: 'it is on' }, narrow)).status).to.equal(200)
    expect((await change({ enabled: false }, narrow)).status).to.equal(200)
    const refused = await Promise.all(doors(narrow))
    expect(refused.map(({ status, json }) => [status, json['code'], json['field']])).to.deep.equal([
      [403, 'lacks_scope', 'enabled'],
      [403, 'lacks_scope', 'from'],
      [403, 'lacks_scope', 'message'],
    ])
    const statuses = []
    for (const door of doors(account.key)) statuses.push((await door).status)
    expect(statuses).to.deep.equal([200, 200, 404])
    expect((await change({ enabled: true, events: ['LinkCreated'] }, narrow)).status).to.equal(200)
  })

  it('keeps the newest attempts only, also of tests', async () => {
    const { id } = await add({ events: ['LinkDeleted'] })
    const rows = `select ${id}, ${account.id}, 'test_' || n, 'test', 1, 200, 1, true, '', '' from generate_series(1, 1005) n`
    await query(
      app.connection,
      `insert into state.webhook_deliveries (webhook, account, message, type, try, status, ms, delivered, problem, excerpt) ${rows}`,
    )
    await app.post(`/api/webhook/${id}/test`, { key: account.key })
    const { json } = await app.get(`/api/webhook/${id}/deliveries?limit=1`, { key: account.key })
    expect(json['data'].result).to.equal(1000)
  })

  const rowsOf = (id: number) =>
    query(
      app.connection,
      `select webhook from state.webhooks where webhook = $1 union all select webhook from state.webhook_deliveries where webhook = $1`,
      [id],
    )

  it('leaves no row of a deleted webhook or an erased account', async () => {
    const { id } = await add({ events: ['LinkCreated'] })
    await receiver.arrives(isCreated(await addLink('x')))
    await until(
      () => rowsOf(id),
      (rows) => rows.length > 1,
    )
    await app.del(`/api/webhook/${id}/delete`, { key: account.key })
    await addLink('after')
    expect(
      await until(
        () => rowsOf(id),
        (rows) => rows.length === 0,
      ),
    ).to.deep.equal([])
    const erased = await add({ events: ['LinkCreated'] })
    await receiver.arrives(isCreated(await addLink('y')))
    await app.app.ledger.keys.destroy([account.id])
    expect(await rowsOf(erased.id)).to.deep.equal([])
  })

  it('leaves no row of an attempt that is stored while its webhook is erased', async () => {
    const { id } = await add({ events: ['LinkDeleted'] })
    await until(
      () => rowsOf(id),
      (rows) => rows.length === 1,
    )
    const { db } = app.app.ledger
    const [tail] = await query<{ leader: string }>(app.connection, 'select leader from state.webhook_tail')
    const outcome = { try: 1, status: 200, ms: 1, delivered: true, problem: '', excerpt: '' }
    const attempt = { webhook: id, account: account.id, message: 'evt_1', type: 'LinkDeleted', ordinal: 1, ...outcome }
    const cursor = { starts: 1, next: 2, part: 0, failingSince: null, tries: 0, dueAt: null, replay: undefined }
    let stored: Promise<void> | undefined
    await db.transaction(async (tx) => {
      await tx('state.webhooks').where({ webhook: id }).delete()
      stored = settleAttempts(db, tail!.leader, [{ ...attempt, cursor }])
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%state.webhooks%for update%'`
      await until(
        () => query(app.connection, `${waits} and datname = current_database()`),
        (found) => found.length > 0,
      )
    })
    await stored
    expect(await rowsOf(id)).to.deep.equal([])
  })

  it('leaves no row of a test whose answer comes after the webhook was deleted', async () => {
    const { id } = await add({ events: ['LinkDeleted'] })
    await until(
      () => rowsOf(id),
      (rows) => rows.length === 1,
    )
    let answer = () => {}
    receiver.behave((res) => {
      answer = () => void res.writeHead(200).end('late')
      return true
    })
    const test = app.post(`/api/webhook/${id}/test`, { key: account.key })
    await receiver.arrives(({ type }) => type === 'test')
    await app.del(`/api/webhook/${id}/delete`, { key: account.key })
    await until(
      () => rowsOf(id),
      (rows) => rows.length === 0,
    )
    answer()
    expect((await test).json).to.include({ delivered: true, answer: 'late' })
    expect(await rowsOf(id)).to.deep.equal([])
  })

  it('keeps no response of a receiver that may repeat the text of a visitor', async () => {
    receiver.behave((res) => {
      res.writeHead(200).end('thanks, Bea')
      return true
    })
    const target = { url: receiver.url(own()), secret: `whsec_${'a'.repeat(43)}=`, old: null }
    const message = (type: string) => ({ id: 'evt_1', type, body: JSON.stringify({ type, data: {} }) })
    const excerptOf = async (type: string) => (await sendMessage(receiver.post, target, message(type))).excerpt
    expect(await excerptOf('LinkCreated')).to.equal('thanks, Bea')
    expect(await excerptOf('AnswerGiven')).to.equal('')
    // an earlier release has kept it
    const row = `${account.id}, ${account.id}, 'evt_1', 'AnswerGiven', 1, 200, 1, true, '', 'thanks, Bea'`
    await query(
      app.connection,
      `insert into state.webhook_deliveries (webhook, account, message, type, try, status, ms, delivered, problem, excerpt) values (${row})`,
    )
    await deleteOldAttempts(app.app.ledger.db, 30)
    const kept = await query(app.connection, `select excerpt from state.webhook_deliveries where type = 'AnswerGiven'`)
    expect(kept).to.deep.equal([{ excerpt: '' }])
  })

  it('is in a backup and a copy with its place, also when it has nothing left to send', async () => {
    const { id } = await add({ events: ['LinkCreated'] })
    const message = (await receiver.arrives(isCreated(await addLink('sent')))).at(-1)!
    const { db } = app.app.ledger
    const placeOf = async (of: typeof db) => (await readState(of)).webhooks.find(({ webhook }) => webhook === id)
    const place = await until(
      () => placeOf(db),
      (found) => (found?.next ?? 0) > Number(message.data['event']),
    )
    expect(place).to.include({ account: account.id, starts: 1, part: 0 })
    await update(id, { enabled: false })
    const copy = openDatabase(await freshDatabase(), { name: 'spec', max: 1, timeout: 30_000, onError: () => {} })
    try {
      await migrate(copy)
      await copyState(db, copy)
      expect((await placeOf(copy))!.next).to.be.at.least(place!.next)
    } finally {
      await copy.destroy()
    }
  })

  it('keeps its address and secret sealed in the log', async () => {
    const { id, secret } = await add({ url: hook('with-a-token') })
    await app.post(`/api/webhook/${id}/rotate`, { key: account.key, body: {} })
    const rows = await query<{ data: string }>(app.connection, `select data::text from log.events where stream = $1`, [
      `webhook-${id}`,
    ])
    expect(rows).to.have.length(2)
    expect(JSON.stringify(rows)).not.to.include('with-a-token')
    const tables = await query(app.connection, `select to_jsonb(w)::text as row from state.webhooks w`)
    expect(JSON.stringify([...rows, ...tables])).not.to.include(secret.slice(6, 20))
  })
})
