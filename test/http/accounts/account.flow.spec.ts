import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'

const password = 'correct horse 1'
const time = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)

describe('the account API', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())
  const register = (body: unknown) => app.post('/register', { body })
  const registered = async (body: object) => {
    const { status, json, text } = await register({ password, ...body })
    expect(status, text).to.equal(200)
    return json as { id: number; username: string; api_key: string }
  }
  const account = async (key: string) => (await app.get('/api/account', { key })).json['data']
  const head = () => app.domainHead()

  describe('POST /register', () => {
    it('returns the id, the username and an API key that works at once', async () => {
      const { status, json } = await register({ email: 'ann@example.com', password, username: 'ann_1' })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'id', 'username', 'api_key')
      expect(json).to.include({ error: 0, username: 'ann_1' })
      expect(json['id']).to.be.a('number')
      expect(await account(json['api_key'])).to.include({ id: json['id'], email: 'ann@example.com' })
    })

    it('makes a username when none is given, unique for each account, which says nothing of the e-mail', async () => {
      const usernames = []
      for (const host of ['a', 'b', 'c'])
        usernames.push((await registered({ email: `Bob.B+x@${host}.example` })).username)
      expect(new Set(usernames).size).to.equal(3)
      for (const username of usernames) expect(username).to.match(/^[a-z][a-z0-9]{7}$/)
      for (const email of ['x@example.com', 'ééé@example.com', `${'long'.repeat(16)}@example.com`])
        expect((await registered({ email })).username).to.match(/^[a-z0-9_-]{3,32}$/)
    })

    it('stores and compares e-mails in lower case', async () => {
      const { api_key } = await registered({ email: ' Carl@Example.COM ' })
      expect(await account(api_key)).to.include({ email: 'carl@example.com' })
      const { status, json } = await register({ email: 'CARL@example.com', password })
      expect([status, json['error']]).to.deep.equal([400, 1])
      expect(json['message']).to.match(/^`email` belongs to another account/)
    })

    it('rejects a username that is taken', async () => {
      await registered({ email: 'dora@example.com', username: 'dora' })
      const { status, json } = await register({ email: 'dora@example.org', password, username: 'dora' })
      expect([status, json['error']]).to.deep.equal([400, 1])
      expect(json['message']).to.match(/^`username` belongs to another account/)
      // the rejected request has not claimed its e-mail
      expect((await register({ email: 'dora@example.org', password })).status).to.equal(200)
    })

    it('names each invalid field and stores nothing', async () => {
      const written = await head()
      const email = 'eve@example.com'
      for (const [body, message] of [
        [{}, '`email` is required.'],
        [{ password }, '`email` is required.'],
        [{ email }, '`password` is required.'],
        [{ email: 5, password }, '`email` must be a string.'],
        [{ email: 'eve', password }, '`email` must be an e-mail address, for example ann@example.com.'],
        [{ email: 'eve@host', password }, '`email` must be an e-mail address, for example ann@example.com.'],
        [{ email: 'e v@example.com', password }, '`email` must be an e-mail address, for example ann@example.com.'],
        [{ email: `${'e'.repeat(250)}@example.com`, password }, '`email` must be at most 254 characters long.'],
        [{ email, password: 'seven 7' }, '`password` must be at least 8 characters long.'],
        [{ email, password: 'p'.repeat(1025) }, '`password` must be at most 1,024 characters long.'],
        [{ email, password: null }, '`password` must be a string.'],
        [{ email, password, username: 'ab' }, '`username` must be 3 to 32 lower-case letters'],
        [{ email, password, username: 'Eve' }, '`username` must be 3 to 32 lower-case letters'],
        [{ email, password, username: 'e'.repeat(33) }, '`username` must be 3 to 32 lower-case letters'],
        [{ email, password, username: 5 }, '`username` must be a string.'],
      ] as const) {
        const { status, json } = await register(body)
        expect([status, json['error']], message).to.deep.equal([400, 1])
        expect(json['message']).to.include(message)
      }
      expect(await head()).to.equal(written)
      expect((await register({ email, password })).status).to.equal(200)
    })
  })

  describe('GET /api/account', () => {
    it('returns the fields of the contract', async () => {
      const { id, username, api_key } = await registered({ email: 'fred@example.com' })
      const { status, json } = await app.get('/api/account', { key: api_key })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'data')
      expect(json['error']).to.equal(0)
      const { registered: since, expires, ...rest } = json['data']
      const digest = createHash('sha256').update('fred@example.com').digest('hex')
      expect(rest).to.deep.equal({
        id,
        email: 'fred@example.com',
        timezone: 'UTC',
        username,
        avatar: `https://www.gravatar.com/avatar/${digest}?d=identicon`,
        status: 'pro',
        erases: '',
        revision: 1,
      })
      expect(since).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      expect(Math.abs(time(since) - Date.now())).to.be.below(60_000)
      const later = new Date(time(since))
      // the year after February 29 ends on March 1
      later.setUTCFullYear(later.getUTCFullYear() + 1)
      expect(time(expires)).to.equal(later.getTime())
    })
  })

  describe('PUT /api/account/update', () => {
    let key: string
    const update = (body: object, by = key) => app.put('/api/account/update', { key: by, body })
    before(async () => (key = (await registered({ email: 'gina@example.com' })).api_key))

    it('changes the e-mail, the password, or both', async () => {
      for (const [body, revision] of [
        [{ email: 'Gina@example.org' }, 2],
        [{ password: 'another word' }, 3],
        [{ email: 'gina@example.net', password }, 5],
      ] as const) {
        const { status, json } = await update(body)
        expect([status, json]).to.deep.equal([200, { error: 0, message: 'Account has been updated.', revision }])
      }
      expect(await account(key)).to.include({ email: 'gina@example.net' })
    })

    it('changes the time zone, which needs no password, and keeps it in the history', async () => {
      const { id, api_key: own } = await registered({ email: 'zoe@example.com', timezone: 'Asia/Kathmandu' })
      expect(await account(own)).to.include({ timezone: 'Asia/Kathmandu' })
      expect(await account(key)).to.include({ timezone: 'UTC' })
      const change = (body: object) => app.put('/api/account/update', { key: own, body })
      expect((await change({ timezone: 'Pacific/Chatham' })).json).to.deep.include({ error: 0, revision: 3 })
      expect(await account(own)).to.include({ timezone: 'Pacific/Chatham' })
      for (const timezone of ['Europe/Atlantis', '', '+01:00', 7]) {
        const { status, json } = await change({ timezone })
        expect([status, json['field']], String(timezone)).to.deep.equal([400, 'timezone'])
      }
      const { json } = await app.get('/api/account/history', { key: own })
      expect(json['data'].events[0]).to.deep.include({
        type: 'AccountTimezoneSet',
        changes: [{ field: 'timezone', old: 'Asia/Kathmandu', new: 'Pacific/Chatham' }],
      })
      // the registration has set it with its last event: an account without it never was
      const back = { key: own, body: { revision: 1 } }
      expect((await app.post('/api/account/restore', back)).json).to.deep.include({ error: 0 })
      expect(await account(own), `account ${String(id)}`).to.include({ timezone: 'Asia/Kathmandu' })
    })

    it('signs up in UTC where the zone of the browser is not known here', async () => {
      const { api_key: own } = await registered({ email: 'zack@example.com', timezone: 'Europe/Atlantis' })
      expect(await account(own)).to.include({ timezone: 'UTC' })
    })

    it('requires at least one field', async () => {
      for (const body of [{}, { username: 'gina' }]) {
        const { status, json } = await update(body)
        expect([status, json]).to.deep.equal([
          400,
          {
            error: 1,
            message: 'At least one of `email`, `password` and `timezone` is required.',
            code: 'required_here',
            params: { what: 'email_or_password' },
          },
        ])
      }
    })

    it('names each invalid field and changes nothing', async () => {
      const [before, written] = [await account(key), await head()]
      await registered({ email: 'taken@example.com' })
      for (const [body, message] of [
        [{ email: 'gina' }, '`email` must be an e-mail address'],
        [{ email: '' }, '`email` must be an e-mail address'],
        [{ email: null }, '`email` must be a string'],
        [{ password: 'short' }, '`password` must be at least 8'],
        [{ password: null }, '`password` must be a string'],
        [{ email: 'TAKEN@example.com', password: 'long enough' }, '`email` belongs to another account'],
      ] as const) {
        const { status, json } = await update(body)
        expect([status, json['error']], message).to.deep.equal([400, 1])
        expect(json['message']).to.include(message)
      }
      expect(await account(key)).to.deep.equal(before)
      // the other account: two claims, itself and its key
      expect(await app.domainEventsAfter(written)).to.equal(4)
    })

    it('checks `current_password` when it is sent, and changes nothing when it is wrong', async () => {
      const before = await account(key)
      const guess = (current_password: string) => update({ email: 'gina@example.info', current_password })
      const { status, json } = await guess('wrong horse 1')
      expect([status, json['message']]).to.deep.equal([400, '`current_password` is not the password of the account.'])
      expect(await account(key)).to.deep.equal(before)
      // a new password counts at once
      expect((await update({ password: 'correct horse 2', current_password: password })).status).to.equal(200)
      expect((await guess(password)).status).to.equal(400)
      expect((await guess('correct horse 2')).status).to.equal(200)
    })

    it('needs the password of every key but that of the registration, which nothing limits', async () => {
      const { key: main, email, id } = await app.register()
      const add = async (body: object) =>
        String((await app.post('/api/key/add', { key: main, body: { name: 'x', ...body } })).json['key'])
      const narrow = await add({ scopes: ['account'], expires: '2040-01-31', addresses: ['127.0.0.0/8', '::1'] })
      const other = await add({ scopes: ['read', 'write', 'account'] })
      for (const by of [narrow, other]) {
        for (const body of [{ password: 'stolen horse 1' }, { email: `x${email}` }]) {
          const { status, json } = await update(body, by)
          expect([status, json['message']]).to.deep.equal([400, '`current_password` is required.'])
        }
        const restored = await app.post('/api/account/restore', { key: by, body: { revision: 1 } })
        expect(restored.status).to.equal(200) // nothing differs
      }
      await update({ password: 'another word' }, main)
      const back = (by: string, body: object = {}) =>
        app.post('/api/account/restore', { key: by, body: { revision: 1, ...body } })
      expect([(await back(narrow)).status, (await back(narrow, { dryRun: true })).status]).to.deep.equal([400, 200])
      expect((await back(narrow, { current_password: 'another word' })).status).to.equal(200)
      expect((await update({ password: 'another word', current_password: password }, narrow)).status).to.equal(200)
      // of an operator, it does not lead to the password either
      await app.app.ledger.handler.handle(accounts, { type: 'MarkOperator', id }, systemMetadata(id))
      expect((await update({ password: 'stolen horse 1' }, main)).status).to.equal(400)
      await app.app.ledger.handler.handle(accounts, { type: 'UnmarkOperator', id }, systemMetadata(id))
      expect((await update({ password: 'my own horse 1' }, main)).status).to.equal(200)
      await app.put('/api/key/1/update', { key: main, body: { expires: '2040-01-31' } })
      expect((await update({ password: 'stolen horse 1' }, main)).status).to.equal(400)
    })

    it('needs a code, too, where the account has a second factor', async () => {
      const { key: main } = await app.register()
      const { secret } = (await app.post('/api/account/totp/secret', { key: main })).json as { secret: string }
      const given = { current_password: password }
      const body = { secret, code: new TOTP({ secret }).generate(), ...given }
      const codes = (await app.post('/api/account/totp', { key: main, body })).json['recovery_codes'] as string[]
      const change = { password: 'another word' }
      expect((await update(change, main)).json['field']).to.equal('current_password')
      const without = await update({ ...change, ...given }, main)
      expect([without.status, without.json['second_factor']]).to.deep.equal([400, true])
      expect((await update({ ...change, ...given, code: 'zzzzz-zzzzz' }, main)).status).to.equal(400)
      expect((await update({ ...change, ...given, code: codes[0] }, main)).status).to.equal(200)
    })

    it('succeeds without an event when the e-mail does not change', async () => {
      const { email } = await account(key)
      const written = await head()
      expect((await update({ email: email.toUpperCase() })).status).to.equal(200)
      expect(await head()).to.equal(written)
    })

    it('frees the old e-mail for other accounts', async () => {
      const { api_key } = await registered({ email: 'hugo@example.com' })
      expect((await update({ email: 'hugo@example.org' }, api_key)).status).to.equal(200)
      expect((await register({ email: 'hugo@example.com', password })).status).to.equal(200)
    })

    it('is visible to the next request', async () => {
      for (let i = 0; i < 10; i++) {
        await update({ email: `gina${i}@example.com` })
        expect(await account(key)).to.include({ email: `gina${i}@example.com` })
      }
    })
  })

  describe('an API key', () => {
    let key: string
    before(async () => (key = (await registered({ email: 'ida@example.com' })).api_key))
    const as = (header?: string) =>
      app.get('/api/account', header === undefined ? {} : { headers: { Authorization: header } })

    it('is accepted as Bearer and in the forms of older clients', async () => {
      for (const header of [`Bearer ${key}`, `bearer ${key}`, `BEARER  ${key}`, `Token ${key}`, `token ${key}`, key])
        expect((await as(header)).status, header.replace(key, 'KEY')).to.equal(200)
    })

    it('returns the same 401 whether it is missing, malformed or unknown', async () => {
      const letters = (text: string) => (text.endsWith('0') ? `${text.slice(0, -1)}1` : `${text.slice(0, -1)}0`)
      const answers = []
      for (const header of [
        undefined,
        'Bearer',
        'Bearer x',
        `Basic ${key}`,
        `Bearer ${key} x`,
        `Bearer ${letters(key)}`,
        `${key}x`,
      ])
        answers.push(await as(header))
      // well-formed with a valid checksum, but unknown
      const [id, secret] = ['A'.repeat(12), 'B'.repeat(32)]
      const checksum = createHash('sha256')
        .update(id + secret)
        .digest('hex')
        .slice(0, 6)
      answers.push(await as(`Bearer ll_${id}_${secret}${checksum}`))
      for (const { status, headers, text, json } of answers) {
        expect(status).to.equal(401)
        expect(headers.get('WWW-Authenticate')).to.equal('Bearer')
        expect(json).to.have.all.keys('error', 'message', 'code', 'params')
        expect(text).to.equal(answers[0]!.text)
      }
    })
  })

  describe('when registration is closed', () => {
    it('returns 404 for POST /register while existing accounts keep working', async () => {
      const { api_key } = await registered({ email: 'jane@example.com' })
      const closed = await startTestApp({ REGISTRATION: 'closed' }, app.connection)
      try {
        const { status, json } = await closed.post('/register', { body: { email: 'kim@example.com', password } })
        const unknown = await closed.post('/api/nothing')
        expect([status, json]).to.deep.equal([404, unknown.json])
        expect((await closed.get('/api/account', { key: api_key })).status).to.equal(200)
      } finally {
        await closed.close()
      }
    })
  })
})
