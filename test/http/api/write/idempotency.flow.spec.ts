import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { routes } from '../../../../src/http/routes.ts'
import { openIdempotencyStore } from '../../../../src/security/idempotency.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { bodies } from '../../../support/bodies.ts'
import type { Answer } from '../../../support/client.ts'
import { cookieIn, samePage } from '../../../support/session.ts'

const kinds = Object.keys(bodies)
const long = 'https://example.com/'

describe('the header Idempotency-Key', () => {
  let app: TestApp
  let key: string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())

  const sql = (text: string, values: readonly (string | number)[] = []) => app.app.ledger.db.raw(text, [...values])
  const send = (method: string, path: string, idempotency: string, body?: unknown, by = key): Promise<Answer> =>
    app.ask(method, path, {
      key: by,
      headers: { 'Idempotency-Key': idempotency },
      ...(body === undefined ? {} : { body }),
    })
  const add = (idempotency: string, body: object = { url: long }, by = key) =>
    send('POST', '/api/url/add', idempotency, body, by)
  const replayed = ({ headers }: Answer) => headers.get('Idempotent-Replayed')
  /** Makes the last request look as if its process had been killed before it could store the answer. */
  const loseAnswer = () =>
    sql(`update state.idempotency set sealed = null, account = null, instance = 'killed'
         where began_at = (select max(began_at) from state.idempotency)`)

  it('gives one link to twenty simultaneous requests, and its answer to all that come later', async () => {
    const id = randomUUID()
    const answers = await Promise.all(Array.from({ length: 20 }, () => add(id)))
    const made = answers.filter(({ status }) => status === 200)
    expect(new Set(made.map(({ text }) => text))).to.have.property('size', 1)
    expect(answers.filter(({ status }) => ![200, 409].includes(status))).to.deep.equal([])
    for (const { headers } of answers.filter(({ status }) => status === 409))
      expect(Number(headers.get('Retry-After'))).to.be.at.least(1)
    const again = await add(id)
    expect([again.text, replayed(again)]).to.deep.equal([made[0]!.text, 'true'])
    expect((await add(id, { url: `${long}other` })).status).to.equal(422)
    expect((await send('PUT', `/api/url/${made[0]!.json['id']}/update`, id, { url: long })).status).to.equal(422)
    const stranger = await app.register()
    expect((await add(id, undefined, stranger.key)).json['id']).not.to.equal(made[0]!.json['id'])
    await sql(`update state.idempotency set began_at = began_at - interval '25 hours'`)
    const tomorrow = await add(id)
    expect([tomorrow.status, replayed(tomorrow)]).to.deep.equal([200, null])
    expect(tomorrow.json['id']).not.to.equal(made[0]!.json['id'])
  })

  it('never lets a stored answer ignore an If-Match', async () => {
    const { id } = (await add(randomUUID())).json
    const idempotency = randomUUID()
    const change = (headers: Record<string, string>) =>
      app.ask('PUT', `/api/url/${id}/update`, {
        key,
        body: { url: long, title: 'changed' },
        headers: { 'Idempotency-Key': idempotency, ...headers },
      })
    const first = await change({ 'If-Match': '"0"' })
    expect(first.status).to.equal(200)
    expect((await change({ 'If-Match': '"0"' })).text).to.equal(first.text)
    for (const headers of [{}, { 'If-Match': '"9"' }])
      expect((await change(headers as Record<string, string>)).status).to.equal(422)
  })

  it('is accepted in quotes, and is a 400 when it cannot be a key', async () => {
    const id = randomUUID()
    const [bare, quoted] = [await add(id), await add(`"${id}"`)]
    expect([quoted.text, replayed(quoted)]).to.deep.equal([bare.text, 'true'])
    for (const wrong of ['', '""', 'x'.repeat(256), 'schl\u00fcssel']) {
      const { status, json } = await add(wrong)
      expect([status, json['message']], wrong).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.startsWith('`Idempotency-Key` must '),
      )
    }
    expect((await app.get('/api/urls', { key, headers: { 'Idempotency-Key': '' } })).status).to.equal(200)
  })

  it('keeps no answer to a request that was refused before it was executed', async () => {
    const id = randomUUID()
    expect((await add(id, { url: 5 })).status).to.equal(400)
    expect((await add(id)).status).to.equal(200)
    const alias = `a-${id}`
    await add(randomUUID(), { url: long, custom: alias })
    const other = randomUUID()
    const [taken, again] = [
      await add(other, { url: long, custom: alias }),
      await add(other, { url: long, custom: alias }),
    ]
    expect([taken.status, replayed(taken)]).to.deep.equal([400, null])
    expect([again.status, again.text, replayed(again)]).to.deep.equal([400, taken.text, 'true'])
  })

  for (const kind of kinds)
    it(`recognises in the log the change of a ${kind} by a killed process`, async () => {
      const steps: [string, (id: number) => string, unknown][] = [
        ['POST', () => `/api/${kind}/add`, bodies[kind]![0]()],
        ['PUT', (id) => `/api/${kind}/${id}/update`, bodies[kind]![1]],
        ['DELETE', (id) => `/api/${kind}/${id}/delete`, undefined],
      ]
      let of = 0
      for (const [method, path, body] of steps) {
        const id = randomUUID()
        const first = await send(method, path(of), id, body)
        expect(first.status, first.text).to.equal(200)
        of ||= Number(first.json['id'])
        const written = await app.domainHead()
        await loseAnswer()
        const resumed = await send(method, path(of), id, body)
        expect([resumed.status, resumed.text, replayed(resumed)], method).to.deep.equal([200, first.text, null])
        const later = await send(method, path(of), id, body)
        expect([later.text, replayed(later)], method).to.deep.equal([first.text, 'true'])
        expect(await app.domainHead(), method).to.equal(written)
      }
    })

  it('resumes a change under If-Match, the channels of a link, and a bulk request', async () => {
    const channel = (await send('POST', '/api/channel/add', randomUUID(), { name: 'c' })).json['id'] as number
    const twice = async (method: string, path: string, body: unknown, headers = {}) => {
      const options = { key, body, headers: { ...headers, 'Idempotency-Key': randomUUID() } }
      const first = await app.ask(method, path, options)
      const written = await app.domainHead()
      await loseAnswer()
      const resumed = await app.ask(method, path, options)
      expect([resumed.status, resumed.text], path).to.deep.equal([200, first.text])
      expect(await app.domainHead(), path).to.equal(written)
      return first.json
    }
    const { id } = await twice('POST', '/api/url/add', { url: long, channel })
    await twice('PUT', `/api/url/${id}/update`, { url: long, title: 'x', channel: null }, { 'If-Match': '"0"' })
    await twice('POST', `/api/channel/${channel}/assign/links/${id}`, undefined)
    await twice('PUT', '/api/account/update', { password: 'another horse 2' })
    const added = await twice('POST', '/api/key/add', { name: 'n', scopes: ['read'] })
    expect((await app.get('/api/urls', { key: added['key'] })).status).to.equal(200)
    await twice('POST', `/api/key/${added['id']}/rotate`, {})
    const rows = Array.from({ length: 5 }, (_, n) => ({ url: `${long}${n}` }))
    await twice('POST', '/api/urls/bulk?op=create', { rows })
    const { rows: made } = await twice('POST', '/api/urls/bulk?op=create&atomic=true', { rows })
    const ids = (made as { id: number }[]).map((row) => ({ id: row.id, title: 'new' }))
    await twice('POST', '/api/urls/bulk?op=update', { rows: ids })
    await twice('POST', '/api/urls/bulk?op=delete', { rows: ids.map((row) => ({ id: row.id })) })
  })

  it('seals answers with the key of the account, and gives an interrupted registration its account', async () => {
    const email = `${randomUUID()}@example.com`
    const body = { email, password: 'correct horse 1' }
    const id = randomUUID()
    const register = () => app.post('/register', { body, headers: { 'Idempotency-Key': id } })
    const first = await register()
    const again = await register()
    expect([again.text, replayed(again)]).to.deep.equal([first.text, 'true'])
    expect(
      (
        await app.post('/register', {
          body: { ...body, password: 'another horse 2' },
          headers: { 'Idempotency-Key': id },
        })
      ).status,
    ).to.equal(422)
    const { rows } = (await sql('select i::text as row from state.idempotency i')) as { rows: { row: string }[] }
    const stored = rows.map(({ row }) => row).join('\n')
    for (const secret of [first.json['api_key'], email, id, Buffer.from(String(first.json['api_key'])).toString('hex')])
      expect(stored).not.to.include(secret)
    await loseAnswer()
    const resumed = await register()
    expect(resumed.json).to.include({ error: 0, id: first.json['id'], username: first.json['username'] })
    expect((await app.get('/api/account', { key: resumed.json['api_key'] })).json['data'].email).to.equal(email)
    await app.app.ledger.keys.destroy([Number(first.json['id'])])
    const gone = (await sql('select 1 from state.idempotency where account = ?', [first.json['id']])) as { rows: [] }
    expect(gone.rows).to.deep.equal([])
  })

  const kept = async (scope: string) => {
    const { rows } = (await sql('select count(*)::int as n from state.idempotency where scope = ?', [scope])) as {
      rows: { n: number }[]
    }
    return rows[0]?.n ?? 0
  }

  it('forgets the oldest requests without an answer, too', async () => {
    const { db, keys, instance } = app.app.ledger
    const store = openIdempotencyStore(db, keys, instance, { answers: 3, bytes: 1e6, every: 5 })
    const running = await store.begin('account 998', 'running', 'r')
    for (let n = 0; n < 5; n++) {
      const begun = await store.begin('account 998', `k${n}`, 'r')
      if (begun.kind === 'execute') await begun.execution.interrupt()
    }
    const end = Date.now() + 30_000
    while ((await kept('account 998')) > 4 && Date.now() < end) await new Promise((done) => setTimeout(done, 20))
    expect(await kept('account 998')).to.equal(4)
    expect([running.kind, (await store.begin('account 998', 'running', 'r')).kind]).to.deep.equal([
      'execute',
      'running',
    ])
  })

  it('forgets the oldest answers of an account that has too many', async () => {
    const { db, keys, instance } = app.app.ledger
    const store = openIdempotencyStore(db, keys, instance, { answers: 3, bytes: 1e6, every: 5 })
    for (let n = 0; n < 5; n++) {
      const begun = await store.begin('account 999', `k${n}`, 'r')
      if (begun.kind === 'execute') await begun.execution.answer(null, { status: 200, body: { n } })
    }
    const end = Date.now() + 30_000
    while ((await kept('account 999')) > 3 && Date.now() < end) await new Promise((done) => setTimeout(done, 20))
    expect(await kept('account 999')).to.equal(3)
    expect((await store.begin('account 999', 'k4', 'r')).kind).to.equal('answered')
  })

  it('repeats no answer about a session: each one is signed in, confirmed and signed out itself', async () => {
    const { email } = await app.register()
    const once = { 'Idempotency-Key': randomUUID() }
    const body = { email, password: 'correct horse 1' }
    const open = () => app.post('/api/session', { body, headers: { ...samePage(app.address), ...once } })
    const cookies = [cookieIn(await open()), cookieIn(await open())]
    expect(cookies[0]).to.match(/=[\w-]{43}$/)
    expect(cookies[1]).to.match(/=[\w-]{43}$/)
    expect(cookies[1]).to.not.equal(cookies[0])
    const as = (cookie: string | undefined, method: string, path: string, sent?: object) =>
      app.ask(method, path, { ...(sent && { body: sent }), headers: { ...samePage(app.address, cookie), ...once } })
    for (const cookie of cookies) {
      const { headers, status } = await as(cookie, 'POST', '/api/session/confirm', { password: body.password })
      expect([status, headers.get('Idempotent-Replayed')]).to.deep.equal([200, null])
    }
    for (const cookie of cookies) {
      expect((await as(cookie, 'DELETE', '/api/session')).status).to.equal(200)
      expect((await as(cookie, 'GET', '/api/account')).status).to.equal(401)
    }
  })

  it('is that of no route that sets a cookie, or is about the session that sends it', () => {
    const isAboutSession = /setCookie|passkeys\.(?:begin|add)|sessions\.(?:open|confirm)|goToIssuer/
    const found = routes.filter(
      ({ method, path, run }) =>
        method !== 'get' && (/^\/api\/session(?!\/:id)/.test(path) || isAboutSession.test(run.toString())),
    )
    expect(found.map(({ path }) => path)).to.include.members(['/api/identity/add', '/api/passkey/add', '/api/session'])
    expect(found.filter(({ ofSession }) => !ofSession).map(({ path }) => path)).to.deep.equal([])
  })

  it('is documented on every route that writes, with its answers', async () => {
    const { json } = await app.get('/openapi.json')
    for (const { method, ofSession, path } of routes.filter((route) => route.method !== 'get')) {
      const operation = json['paths'][path.replaceAll(/:(\w+)/g, '{$1}')][method]
      const names = operation.parameters.map(({ name }: { name: string }) => name)
      expect(names.includes('Idempotency-Key'), path).to.equal(!ofSession)
      if (!ofSession) expect(Object.keys(operation.responses), path).to.include.members(['409', '422'])
    }
  })
})
