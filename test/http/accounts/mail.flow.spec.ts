import { expect } from 'chai'
import { TOTP } from 'otpauth'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'
import { oneTimeLink, postForm } from '../../support/forms.ts'
import { accept, type Receiver, respond, startReceiver } from '../../support/receiver.ts'
import { type Smtp, startSmtp } from '../../support/smtp.ts'

const password = 'correct horse 1'

describe('mails to the owners of accounts', () => {
  let smtp: Smtp
  let app: TestApp
  let receiver: Receiver
  before(async () => {
    smtp = await startSmtp()
    receiver = await startReceiver()
    const settings = {
      SMTP_URL: smtp.url,
      SMTP_FROM: 'Short links <links@short.example>',
      BASE_URL: 'https://short.example',
      TRUST_PROXY: '1',
    }
    app = await startTestApp(settings, undefined, { webhooks: { post: receiver.post, firstPause: 10 } })
  })
  after(async () => {
    await app.close()
    await Promise.all([smtp.close(), receiver.close()])
  })
  const mailTo = async (address: string, subject: string) => {
    const find = () => smtp.mails.find(({ to, headers }) => to === address && headers['subject']?.startsWith(subject))
    return (await until(async () => find(), Boolean)) ?? expect.fail(`no mail "${subject}" to ${address}`)
  }
  const linkIn = ({ text }: { readonly text: string }) =>
    oneTimeLink(/https:\/\/short\.example\S+/.exec(text)?.[0] ?? '')
  const send = ({ path, token }: ReturnType<typeof linkIn>, fields: Readonly<Record<string, string>> = {}) =>
    postForm(app.address + path, { t: token, ...fields })
  const register = (email: string, headers: Readonly<Record<string, string>> = {}) =>
    app.post('/register', { body: { email, password }, headers })
  const registered = async (email: string) => {
    await register(email)
    const { text } = await send(linkIn(await mailTo(email, 'Confirm your e-mail address')), { password })
    return { email, key: /ll_\w+/.exec(text)?.[0] ?? expect.fail(text) }
  }
  const account = async (key: string) => (await app.get('/api/account', { key })).json['data']
  const head = () => app.domainHead()

  it('make an account only after its address is confirmed with a button, once', async () => {
    const written = await head()
    const { status, json } = await register('ann@example.com', { 'Accept-Language': 'fr' })
    expect([status, Object.keys(json)]).to.deep.equal([200, ['error', 'message']])
    const mail = await mailTo('ann@example.com', 'Confirmez votre adresse e-mail')
    expect(mail.headers['from']).to.equal('Short links <links@short.example>')
    expect(mail.text).to.include('ouvrez ce lien').and.include('short.example')
    const link = linkIn(mail)
    for (let n = 0; n < 2; n++) {
      const page = await app.visit(`${link.path}?t=${link.token}`)
      expect([page.status, page.text.includes('ann@example.com')]).to.deep.equal([200, true])
    }
    expect(await head()).to.equal(written)
    const answers = await Promise.all([send(link, { password }), send(link, { password })])
    expect(answers.map((one) => one.status)).to.have.members([200, 410])
    const key = /ll_\w+/.exec(answers.map(({ text }) => text).join())?.[0] ?? ''
    const { email, username } = await account(key)
    expect([email, String(username).length]).to.deep.equal(['ann@example.com', 8])
  })

  it('notify the owner of a new and a wider key, a new and a moved webhook, a replaced and a removed second factor, and a sign-in from a new browser', async () => {
    const { email, key } = await registered('owen@example.com')
    const made = await app.post('/api/key/add', { key, body: { name: 'x', scopes: ['read'] } })
    const listed = String(made.json['key']).slice(0, 15)
    expect((await mailTo(email, 'A new API key')).text)
      .to.include(listed)
      .and.not.include(made.json['key'])
    const url = receiver.url('/secret-path')
    const name = 'x\n\nYour account ends today: https://evil.example/'
    expect((await app.post('/api/webhook/add', { key, body: { url, name } })).status).to.equal(200)
    const hook = await mailTo(email, 'A new webhook')
    expect(hook.text).to.include('hooks.example').and.not.include('secret-path').and.not.include('evil.example')

    const narrow = { scopes: ['stats:read'] }
    const change = (path: string, changes: object) => app.put(path, { key, body: changes })
    expect((await change(`/api/key/${made.json['id']}/update`, narrow)).status).to.equal(200)
    expect((await change(`/api/key/${made.json['id']}/update`, { scopes: ['read', 'write'] })).status).to.equal(200)
    expect((await mailTo(email, 'An API key may do more')).text).to.include(listed)
    const hookId = (await app.get('/api/webhooks', { key })).json['data'].webhooks[0].id
    expect((await change(`/api/webhook/${hookId}/update`, { name: 'y' })).status).to.equal(200)
    const moved = await change(`/api/webhook/${hookId}/update`, { url: receiver.url('/other-path') })
    expect(moved.status, moved.text).to.equal(200)
    expect((await mailTo(email, 'A webhook was moved')).text)
      .to.include('hooks.example')
      .and.not.include('other-path')

    await change('/api/account/update', { email: 'thief@example.org', current_password: password })
    const asked = linkIn(await mailTo('thief@example.org', 'Confirm your new e-mail address'))
    const addFactor = async (current?: string) => {
      const { secret } = (await app.post('/api/account/totp/secret', { key })).json as { secret: string }
      const code = new TOTP({ secret }).generate()
      const body = { secret, code, current_password: password, ...(current && { current_code: current }) }
      const added = await app.post('/api/account/totp', { key, body })
      expect(added.status, added.text).to.equal(200)
      return added.json['recovery_codes'] as string[]
    }
    const first = await addFactor()
    expect((await send(asked, { password })).status, 'asked for with the password alone').to.equal(410)
    expect(await account(key)).to.include({ email })
    const codes = await addFactor(first[0])
    await mailTo(email, 'The second factor was replaced')
    const removed = await app.post('/api/account/totp/delete', {
      key,
      body: { current_password: password, code: codes[0] },
    })
    expect(removed.status, removed.text).to.equal(200)
    await mailTo(email, 'The second factor was removed')

    const page = { Host: 'short.example', Origin: 'https://short.example', 'Sec-Fetch-Site': 'same-origin' }
    const enter = (headers: Readonly<Record<string, string>> = {}) =>
      app.post('/api/session', { body: { email, password }, headers: { ...page, 'User-Agent': browser, ...headers } })
    const entered = await enter()
    expect((await mailTo(email, 'A sign-in from a new browser')).text).to.include('Chrome, Windows')
    const mark = entered.headers
      .getSetCookie()
      .find((one) => one.includes('browser_'))!
      .split(';')[0]!
    expect((await enter({ Cookie: mark })).status).to.equal(200)
    await app.post('/api/key/add', { key, body: { name: 'y', scopes: ['read'] } })
    const sent = (subject: string) =>
      smtp.mails.filter(({ to, headers }) => to === email && headers['subject']?.startsWith(subject))
    await until(
      async () => sent('A new API key'),
      ({ length }) => length === 2,
    )
    expect(sent('A sign-in from a new browser')).to.have.length(1)
    expect(sent('The second factor was replaced'), 'and not the first one').to.have.length(1)
  })

  it('give a new account the password of the person who opens its mail, and not that of the registration', async () => {
    const email = 'bea@example.com'
    expect((await app.post('/register', { body: { email, password: 'attacker horse 1' } })).status).to.equal(200)
    const link = linkIn(await mailTo(email, 'Confirm your e-mail address'))
    expect((await app.visit(`${link.path}?t=${link.token}`)).text).to.include('name="password"')
    for (const fields of [{}, { password: 'short' }]) expect((await send(link, fields)).status).to.equal(400)
    expect((await send(link, { password: 'bea own horse 2' })).status).to.equal(200)
    const page = { Host: 'short.example', Origin: 'https://short.example', 'Sec-Fetch-Site': 'same-origin' }
    const enter = async (entered: string) =>
      (await app.post('/api/session', { body: { email, password: entered }, headers: page })).status
    expect([await enter('attacker horse 1'), await enter('bea own horse 2')]).to.deep.equal([400, 200])
  })

  it('give the same response for an address that is taken, and notify its owner', async () => {
    await registered('bob@example.com')
    const written = await head()
    const [free, taken] = [await register('new@example.com'), await register('bob@example.com')]
    expect([taken.status, taken.json]).to.deep.equal([free.status, free.json])
    expect((await mailTo('bob@example.com', 'You have an account already')).text).not.to.include('?t=')
    expect(await head()).to.equal(written)
    // two links for one address: the second finds it taken
    await register('new@example.com')
    const links = await until(
      async () => smtp.mails.filter(({ to }) => to === 'new@example.com').map(linkIn),
      ({ length }) => length === 2,
    )
    expect((await send(links[0]!, { password })).status).to.equal(200)
    const second = await send(links[1]!, { password })
    expect([second.status, second.text.includes('has an account already')]).to.deep.equal([400, true])
  })

  it('confirm a new address before it counts, and notify the old one', async () => {
    const { key } = await registered('carl@example.com')
    const change = (email: string) => app.put('/api/account/update', { key, body: { email } })
    const [free, taken] = [await change('carl@example.org'), await change('bob@example.com')]
    expect([free.status, free.json]).to.deep.equal([taken.status, taken.json])
    const link = linkIn(await mailTo('carl@example.org', 'Confirm your new e-mail address'))
    expect(await account(key)).to.include({ email: 'carl@example.com' })
    expect((await send(link, { password })).status).to.equal(200)
    expect(await account(key)).to.include({ email: 'carl@example.org' })
    const notice = await mailTo('carl@example.com', 'The e-mail address of your account was changed')
    expect(notice.text).not.to.include('carl@example.org')
  })

  it('leave an account to its owner when its new address is that of another person', async () => {
    const { key } = await registered('mallory@example.com')
    expect((await app.put('/api/account/update', { key, body: { email: 'carol@example.com' } })).status).to.equal(200)
    const link = linkIn(await mailTo('carol@example.com', 'Confirm your new e-mail address'))
    const { text } = await app.visit(`${link.path}?t=${link.token}`)
    expect(text)
      .to.include('name="password"')
      .and.include(`@${(await account(key)).username}`)
    for (const fields of [{}, { password: 'carol own horse 2' }])
      expect((await send(link, fields)).status).to.equal(400)
    const guess = (n: number) =>
      postForm(
        app.address + link.path,
        { t: link.token, password: `a guess ${n}` },
        {
          'X-Forwarded-For': `198.51.100.${n}`,
        },
      )
    const guesses = await Promise.all(Array.from({ length: 11 }, async (_, n) => (await guess(n)).status))
    expect(guesses).to.include(429)
    expect((await send(link, { password })).status, 'after too many guesses').to.equal(429)
    expect(await account(key)).to.include({ email: 'mallory@example.com' })
  })

  it('reset a password once, end other links, and notify the owner', async () => {
    const { key, email } = await registered('dora@example.com')
    await app.put('/api/account/update', { key, body: { email: 'dora@example.org' } })
    const change = linkIn(await mailTo('dora@example.org', 'Confirm your new e-mail address'))
    const ask = (address: string) => app.post('/api/account/reset', { body: { email: address } })
    const [known, unknown] = [await ask(email), await ask('nobody@example.com')]
    expect([known.status, known.json]).to.deep.equal([unknown.status, unknown.json])
    const link = linkIn(await mailTo(email, 'Set a new password'))
    expect((await send(link, { password: 'short' })).status).to.equal(400)
    expect((await send(link, { password: 'correct horse 2' })).status).to.equal(200)
    expect((await send(link, { password: 'correct horse 3' })).status).to.equal(410)
    expect((await send(change, { password })).status).to.equal(410)
    await mailTo(email, 'Your password was changed')
    // the key stays valid, and the new password counts
    const body = { password, current_password: 'correct horse 2' }
    expect((await app.put('/api/account/update', { key, body })).status).to.equal(200)
    expect(smtp.mails.some(({ to }) => to === 'nobody@example.com')).to.equal(false)
  })

  it('reset a password in a browser that then signs in, despite guesses of others meanwhile', async () => {
    const { email } = await registered('gina@example.com')
    await app.post('/api/account/reset', { body: { email } })
    const link = linkIn(await mailTo(email, 'Set a new password'))
    const page = { Host: 'short.example', Origin: 'https://short.example', 'Sec-Fetch-Site': 'same-origin' }
    const enter = async (guessed: string, headers: Readonly<Record<string, string>>) =>
      (await app.post('/api/session', { body: { email, password: guessed }, headers: { ...page, ...headers } })).status
    for (let n = 0; n < 110; n++) await enter('wrong horse 1', { 'X-Forwarded-For': `203.0.113.${n}` })
    const changed = await send(link, { password: 'correct horse 2' })
    const [mark = ''] = changed.headers.getSetCookie().map((one) => one.split(';')[0]!)
    const from = { 'X-Forwarded-For': '198.51.100.5' }
    expect(await enter('correct horse 2', from)).to.equal(429)
    expect(await enter('correct horse 2', { ...from, Cookie: mark })).to.equal(200)
  })

  it('have links that answer with a page while their account is disabled, and work again afterwards', async () => {
    const { key, email } = await registered('hans@example.com')
    await app.put('/api/account/update', { key, body: { email: 'hans@example.org' } })
    const { id } = (await account(key)) as { readonly id: number }
    await app.post('/api/account/reset', { body: { email } })
    const [reset, confirm] = [
      linkIn(await mailTo(email, 'Set a new password')),
      linkIn(await mailTo('hans@example.org', 'Confirm your new e-mail address')),
    ]
    const { handler } = app.app.ledger
    await handler.handle(accounts, { type: 'DisableAccount', id }, systemMetadata(id))
    expect((await send(confirm, { password })).status).to.equal(410)
    expect((await send(reset, { password: 'correct horse 2' })).status).to.equal(410)
    await handler.handle(accounts, { type: 'EnableAccount', id }, systemMetadata(id))
    expect((await send(reset, { password: 'correct horse 2' })).status).to.equal(200)
  })

  it('notify the owner that the receiver of a webhook has disabled it, without the path of its address', async () => {
    const { key, email } = await registered('ida@example.com')
    const body = { name: 'Warehouse', url: receiver.url('/a-token'), events: ['LinkCreated'] }
    const { json } = await app.post('/api/webhook/add', { key, body })
    receiver.behave(respond(410))
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    await until(
      async () => (await app.get(`/api/webhook/${json['id']}`, { key })).json['details'].status,
      (status) => status === 'disabled',
    )
    const { json: history } = await app.get(`/api/webhook/${json['id']}/history`, { key })
    const [newest] = history['data'].events
    expect(newest).to.deep.include({
      type: 'WebhookDisabled',
      actor: { kind: 'service' },
      message: 'Webhook disabled: its receiver wants no more messages (410).',
      changes: [{ field: 'enabled', old: true, new: false }],
    })
    // mails that wait are sent together with one that is ordered now
    await app.post('/api/account/reset', { body: { email } })
    const { text } = await mailTo(email, 'A webhook was disabled')
    expect(text).to.include(`${json['id']}: hooks.example`).and.not.include('a-token')
    receiver.behave(accept)
    await app.put(`/api/webhook/${json['id']}/update`, { key, body: { enabled: false } })
    await app.post('/api/account/reset', { body: { email } })
    expect(smtp.mails.filter(({ headers }) => headers['subject']?.startsWith('A webhook was disabled'))).to.have.length(
      1,
    )
  })

  it('of one address are limited, and so are requests of one network', async () => {
    const from = (n: number) => ({ 'X-Forwarded-For': `198.51.100.${n}` })
    const ask = (email: string, headers: Readonly<Record<string, string>>) =>
      app.post('/api/account/reset', { body: { email }, headers })
    const stored = async () =>
      (
        await query<{ count: string }>(
          app.connection,
          `select count(*) from state.rate_limits where key like 'mail %' and count > 5`,
        )
      )[0]
    // mails of another kind leave the resets to the owner
    for (let n = 0; n < 6; n++) expect((await register('ann@example.com', from(n))).status).to.equal(200)
    for (let n = 0; n < 7; n++) expect((await ask('ann@example.com', from(n))).status).to.equal(200)
    expect((await stored())?.count).to.equal('2')
    const statuses = []
    for (let n = 0; n < 22; n++) statuses.push((await ask(`eve${n}@example.com`, from(99))).status)
    expect(statuses.slice(19)).to.deep.equal([200, 429, 429])
    const mails = () =>
      smtp.mails.filter(({ to, headers }) => to === 'ann@example.com' && headers['subject']?.startsWith('Set'))
    await until(
      async () => mails().length,
      (n) => n === 5,
    )
    expect(mails()).to.have.length(5)
  })

  it('never delay an answer: the mail server may be silent', async () => {
    smtp.greet(false)
    // each of these would wait for the greeting
    expect((await register('frank@example.com')).status).to.equal(200)
    await until(async () => smtp.held.length, Boolean)
    expect((await register('gina@example.com')).status).to.equal(200)
    expect(smtp.mails.some(({ to }) => to === 'frank@example.com')).to.equal(false)
    smtp.greet(true)
    await Promise.all(['frank', 'gina'].map((name) => mailTo(`${name}@example.com`, 'Confirm')))
  })
})
