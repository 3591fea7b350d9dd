import { expect } from 'chai'
import { account as accounts } from '../../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { hashPassword } from '../../../src/security/passwords.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { cookieIn, samePage, signIn } from '../../support/session.ts'

const cheap = { N: 16, r: 8, p: 1 }
/** takes long enough that others wait for their turn */
const slow = { N: 2 ** 14, r: 8, p: 1 }

describe('requests that the owner overtakes with another password', () => {
  let app: TestApp
  /** passwords that are being hashed, with what lets them go on */
  const held = new Map<string, () => void>()
  const hashNewPassword = async (password: string) => {
    if (password.startsWith('evil')) await new Promise<void>((done) => held.set(password, done))
    return hashPassword(password, undefined, cheap)
  }
  before(async () => {
    app = await startTestApp({ TRUST_PROXY: '1' }, undefined, { hashNewPassword })
  })
  after(() => app.close())

  const tryToSignIn = (email: string, password: string) =>
    app.post('/api/session', { body: { email, password }, headers: samePage(app.address) })
  const setHash = async (id: number, given: string, cost: typeof cheap) => {
    const password = await hashPassword(given, undefined, cost)
    await app.app.ledger.handler.handle(accounts, { type: 'UpdateAccount', id, password }, systemMetadata(id))
  }

  it('set no password, address or key', async () => {
    const { email, id } = await app.register()
    const [owner, thief] = [await signIn(app, email), await signIn(app, email)]
    const old = 'correct horse 1'
    const evil = { password: 'evil password 1', current_password: old }
    const overtaken = thief.ask('PUT', '/api/account/update', evil)
    await until(async () => held.has(evil.password), Boolean)
    const changed = { password: 'correct horse 2', current_password: old }
    expect((await owner.ask('PUT', '/api/account/update', changed)).status).to.equal(200)
    held.get(evil.password)?.()
    const { status, json } = await overtaken
    expect([status, json['code']]).to.deep.equal([400, 'wrong_password'])
    expect((await tryToSignIn(email, evil.password)).status).to.equal(400)
    expect((await tryToSignIn(email, changed.password)).status).to.equal(200)
    const { state } = await app.app.ledger.handler.load(accounts, id)
    expect([state.email, state.keys.keys.length]).to.deep.equal([email, 1])
  })

  it('have no account erased', async () => {
    const { handler } = app.app.ledger
    const { handle } = handler
    const { id, key } = await app.register()
    // by a key, which no password binds: the one that it sends does
    const schedule = () => app.post('/api/account/erase', { key, body: { current_password: 'correct horse 1' } })
    const erases = async () => (await handler.load(accounts, id)).state.erases
    expect((await schedule()).status).to.equal(200)
    expect(await erases()).to.be.a('string')
    // between the comparison and the command, the owner sets another one, which cancels what was asked for before
    Object.assign(handler, {
      handle: async (...given: Parameters<typeof handle>) => {
        const [, command] = given as unknown as [unknown, { readonly type: string }]
        if (command.type === 'ScheduleErasure') await setHash(id, 'correct horse 5', cheap)
        return handle(...given)
      },
    })
    try {
      const { status, json } = await schedule()
      expect([status, json['code']]).to.deep.equal([400, 'wrong_password'])
    } finally {
      Object.assign(handler, { handle })
    }
    expect(await erases()).to.equal(null)
  })

  it('open no session that the new one has not opened', async () => {
    const { email, id } = await app.register()
    await setHash(id, 'correct horse 3', slow)
    const tries = Array.from({ length: 10 }, () => tryToSignIn(email, 'correct horse 3'))
    // the others have been read, and wait for their turn
    await Promise.race(tries)
    await setHash(id, 'correct horse 4', cheap)
    for (const answer of await Promise.all(tries)) {
      const headers = { Cookie: cookieIn(answer) ?? '', ...samePage(app.address) }
      expect((await app.get('/api/account', { headers })).status, answer.text).to.equal(401)
    }
  })
})
