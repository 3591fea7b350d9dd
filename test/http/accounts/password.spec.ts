import { expect } from 'chai'
import { account } from '../../../src/commands/accounts/account.ts'
import type { Load } from '../../../src/commands/load.ts'
import { Failure } from '../../../src/http/api/errors.ts'
import { openAccountPasswords } from '../../../src/http/accounts/password.ts'
import { TooManyPasswords } from '../../../src/security/passwords.ts'
import { memoryLimiter } from '../../support/limiter.ts'

describe('the password of an account', () => {
  const open = () => {
    const checked: (string | null)[] = []
    const load = (async () => ({ state: { ...account.initialState, password: 'hash' } })) as unknown as Load
    const check = async (password: string, hash: string | null) => {
      checked.push(hash)
      if (password === 'busy') throw new TooManyPasswords()
      return hash === 'hash' && password === 'right'
    }
    const passwords = openAccountPasswords({ limiter: memoryLimiter(), load, check })
    return { ...passwords, checked }
  }
  const from = '192.0.2.1'

  it('is limited to ten wrong ones of an address and a hundred of all, and right ones are not counted', async () => {
    const { verify, checked } = open()
    for (let n = 0; n < 20; n++)
      expect(await verify({ account: 7, password: 'right', from })).to.deep.equal({ hash: 'hash' })
    for (let n = 0; n < 10; n++) expect(await verify({ account: 7, password: `wrong ${n}`, from })).to.equal('wrong')
    const { length } = checked
    expect(await verify({ account: 7, password: 'right', from })).to.deep.equal({ wait: 60 })
    expect(checked).to.have.length(length)
    expect(await verify({ account: 7, password: 'right', from: '192.0.2.2' })).to.deep.equal({ hash: 'hash' })
    for (let n = 0; n < 90; n++) await verify({ account: 7, password: 'wrong', from: `198.51.100.${n}` })
    expect(await verify({ account: 7, password: 'right', from: '192.0.2.2' })).to.deep.equal({ wait: 60 })
  })

  it('has a budget of its own for each session and each key, which neither strangers nor each other use up', async () => {
    const { require, verify } = open()
    const asking = (session?: number, number?: number) => {
      const key = number === undefined ? undefined : { account: 7, number, key: 'k', scopes: [], rateLimit: null }
      return { account: 7, from: '192.0.2.1', session, key, bindTo: () => {} }
    }
    const refusal = async (password: string, session?: number, number?: number) =>
      require(asking(session, number), password).then(
        () => 200,
        (error: Failure) => error.status,
      )
    for (let n = 0; n < 150; n++) await verify({ account: 7, password: 'wrong', from: `198.51.100.${n}` })
    // a key that has leaked, with any scope
    const leaked = []
    for (let n = 0; n < 20; n++) leaked.push(await refusal('wrong', undefined, 2))
    expect(leaked).to.deep.equal([...Array<number>(10).fill(400), ...Array<number>(10).fill(429)])
    expect(await refusal('right', undefined, 3)).to.equal(200)
    // forty keys, of which all have ten
    for (let n = 0; n < 400; n++) await refusal('wrong', undefined, 10 + (n % 40))
    expect(await refusal('right', undefined, 60)).to.equal(429)
    // a session that was stolen
    for (let n = 0; n < 20; n++) await refusal('wrong', 8)
    expect([await refusal('right', 8), await refusal('right', 9)]).to.deep.equal([429, 200])
  })

  it('costs a hash and a guess where there is no such account', async () => {
    const { verify, checked } = open()
    const guess = () => verify({ account: undefined, name: 'eve', password: `${Math.random()}`, from })
    for (let n = 0; n < 10; n++) expect(await guess()).to.equal('wrong')
    expect(checked).to.deep.equal(Array(10).fill(null))
    expect(await guess()).to.deep.equal({ wait: 60 })
  })

  it('that could not be checked is no guess', async () => {
    const { verify } = open()
    for (let n = 0; n < 12; n++)
      expect(await verify({ account: 7, password: 'busy', from }).catch((error: Error) => error.name)).to.equal(
        'TooManyPasswords',
      )
    expect(await verify({ account: 7, password: 'right', from })).to.deep.equal({ hash: 'hash' })
  })

  it('is required with a message that names the field, and with 429 after too many wrong ones', async () => {
    const { require } = open()
    const bound: unknown[] = []
    const bindTo = (...shown: readonly unknown[]) => void bound.push(shown)
    const refusal = async (password: string | undefined) => {
      const failure = await require({ account: 7, from, key: undefined, session: 1, bindTo }, password).catch(
        (error: unknown) => error,
      )
      return failure instanceof Failure ? [failure.status, failure.message] : failure
    }
    expect(await refusal('right')).to.equal(undefined)
    expect(bound).to.deep.equal([[7, 'hash']])
    expect(await refusal(undefined)).to.deep.equal([400, '`current_password` is required.'])
    for (let n = 0; n < 10; n++)
      expect(await refusal('wrong')).to.deep.equal([400, '`current_password` is not the password of the account.'])
    expect(await refusal('right')).to.deep.equal([429, 'There were too many wrong passwords. Try again in 60 seconds.'])
  })
})
