import { expect } from 'chai'
import { account, type AccountCommand } from '../../../src/commands/accounts/account.ts'
import { register, registerHashed, Registration } from '../../../src/commands/accounts/register.ts'
import { refuseTaken } from '../../../src/commands/claims/taken.ts'
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

  /** Returns the command that registers an account. */
  const commandFor = async (email: string) => {
    const commands: Extract<AccountCommand, { type: 'RegisterAccount' }>[] = []
    await registerHashed(pepper, { email, password: 'hash' }, async (make) => {
      commands.push(make(1))
      return { id: 1 }
    })
    return commands[0]!
  }

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

  it('draws a username that says nothing of its owner, and begins with a letter', async () => {
    const drawn: string[] = []
    for (let n = 0; n < 100; n++) {
      const { username } = await registerHashed(pepper, { email: 'ann@example.com', password: 'hash' }, async (make) =>
        make(1),
      )
      // letters and digits that look alike are left out
      expect(username).to.match(/^[a-hjkmnp-z][a-hjkmnp-z2-9]{7}$/)
      drawn.push(username)
    }
    expect(new Set(drawn)).to.have.property('size', 100)
  })

  it('tries six usernames that it draws itself', async () => {
    const tried: string[] = []
    const create = async (make: (id: number) => { readonly username: string }) => {
      tried.push(make(1).username)
      return refuseTaken('username')
    }
    const refusal = await refusalOf(registerHashed(pepper, { email: 'ann@example.com', password: 'hash' }, create))
    expect([refusal.code, refusal.what]).to.deep.equal(['taken', 'username'])
    expect(new Set(tried)).to.have.property('size', 6)
  })

  it('tries no other username when something else fails', async () => {
    let tries = 0
    const create = async () => {
      tries++
      return refuseTaken('email')
    }
    const refusal = await refusalOf(registerHashed(pepper, { email: 'ann@example.com', password: 'hash' }, create))
    expect([refusal.what, tries]).to.deep.equal(['email', 1])
  })

  it('wants a password of at least 8 characters', () => {
    const parse = (word: string) => Registration.safeParse({ email: 'a@example.com', password: word }).success
    expect(['1234567', '12345678', '123456789'].map(parse)).to.deep.equal([false, true, true])
  })

  it('claims an e-mail and a username of the same text under different names', async () => {
    const { emailKey, usernameKey } = await commandFor('ann@example.com')
    expect(emailKey).to.match(/^[\w-]{43}$/)
    expect(usernameKey).to.match(/^[\w-]{43}$/)
    expect((await commandFor('ann@example.com')).emailKey).to.equal(emailKey)
    expect((await commandFor('bea@example.com')).emailKey).not.to.equal(emailKey)
  })

  it('takes no username of digits, which would look like an id on the command line', () => {
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
