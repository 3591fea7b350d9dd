import { expect } from 'chai'
import { account } from '../../../src/commands/accounts/account.ts'
import { register, Registration } from '../../../src/commands/accounts/register.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { hashKey, keyIdOf } from '../../../src/security/apikeys.ts'
import { callerOn, refusalOf } from '../../support/caller.ts'
import { eventsOf, newMemoryStore } from '../../support/writer.ts'
import { says } from '../../../src/lib/fields.ts'

describe('register', () => {
  const pepper = Buffer.alloc(32, 7)
  const password = 'long enough'
  let store: EventStore
  let visitor: ReturnType<typeof callerOn>
  beforeEach(async () => {
    store = await newMemoryStore()
    visitor = callerOn(store, 0)
  })
  const signUp = (email: string, username?: string) =>
    register(pepper, Registration.parse({ email, password, username }), (make) => visitor.create(account, make))

  it('creates an account whose key is stored as a hash only', async () => {
    const { id, username, api_key } = await signUp('ann@example.com', 'ann')
    expect(username).to.equal('ann')
    const { state } = await visitor.load(account, id)
    expect(state).to.include({ status: 'active', email: 'ann@example.com', username: 'ann' })
    expect(state.password).to.match(/^scrypt\$16384\$/)
    expect(state.keys.keys).to.have.length(1)
    expect(state.keys.keys[0]).to.include({
      number: 1,
      key: keyIdOf(api_key),
      hash: hashKey(pepper, api_key).toString('base64url'),
      expires: null,
    })
    expect(JSON.stringify((await eventsOf(store)).map(({ data }) => data))).not.to.include(api_key)
  })

  it('derives a username from the e-mail, and another one when that is taken', async () => {
    expect((await signUp('Bob.B@a.example')).username).to.equal('bob-b')
    expect((await signUp('bob.b@b.example')).username).to.match(/^bob-b-\d+$/)
    expect((await signUp('x@example.com')).username).to.equal('user-x')
  })

  it('gives no username of digits, which would look like an id on the command line', async () => {
    expect((await signUp('219@example.com')).username).to.equal('user-219')
    expect((await signUp('2-1_9@example.com')).username).to.equal('user-2-1_9')
    expect(() => Registration.parse({ email: 'a@example.com', password, username: '219' })).to.throw(
      says('wrong_form', { what: 'letter' })
        .slice(1, -1)
        .replaceAll('"', String.raw`\"`),
    )
  })

  it('refuses a taken e-mail, and a taken username that was requested', async () => {
    await signUp('ann@example.com', 'ann')
    const email = await refusalOf(signUp('ANN@example.com', 'ann2'))
    expect([email.code, email.what]).to.deep.equal(['taken', 'email'])
    const username = await refusalOf(signUp('ann2@example.com', 'ann'))
    expect([username.code, username.what]).to.deep.equal(['taken', 'username'])
  })

  it('does not put the e-mail or the username into the name of a claim', async () => {
    await signUp('ann@example.com', 'ann')
    const streams = (await eventsOf(store)).map(({ stream }) => stream)
    expect(streams.filter((stream) => stream.startsWith('claim-'))).to.have.length(2)
    for (const stream of streams) expect(stream).not.to.match(/ann|example/)
  })
})
