import { expect } from 'chai'
import {
  checkAccountPassword,
  checkPassword,
  createLane,
  hashPassword,
  rememberRight,
  TooManyPasswords,
} from '../../src/security/passwords.ts'

describe('hashes of passwords', () => {
  it('are computed one after the other in each lane, and refused when too many wait', async () => {
    const lane = createLane(3)
    let running = 0
    let most = 0
    const hash = async () => {
      most = Math.max(most, ++running)
      await new Promise((done) => setTimeout(done, 1))
      running--
    }
    const first = lane(hash)
    await Promise.resolve()
    const outcomes = await Promise.allSettled([first, ...Array.from({ length: 5 }, () => lane(hash))])
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect(most).to.equal(1)
    expect(refused).to.have.length(2)
    for (const reason of refused) expect(reason).to.be.instanceOf(TooManyPasswords)
    await lane(hash)
  })

  it('of accounts do not wait for guesses by visitors', async () => {
    const cheap = 'scrypt$2$8$1$c2FsdA$a2V5'
    const guesses = Promise.allSettled(Array.from({ length: 40 }, () => checkPassword('guess', cheap)))
    expect(await hashPassword('a new password')).to.match(/^scrypt\$16384\$/)
    const outcomes = await guesses
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(16, 17)
  })

  it('that owners set do not wait for sign-ins and registrations of strangers', async () => {
    const cheap = 'scrypt$2$8$1$c2FsdA$a2V5'
    const signIns = Promise.allSettled(Array.from({ length: 70 }, () => checkAccountPassword('guess', cheap)))
    const registration = hashPassword('of a stranger', false).catch((error: unknown) => error)
    expect(await hashPassword('a new password')).to.match(/^scrypt\$16384\$/)
    expect(await registration).to.be.instanceOf(TooManyPasswords)
    const outcomes = await signIns
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(50, 51)
  })

  it('are computed for an account without a readable one, and match nothing', async () => {
    const hash = await hashPassword('right')
    expect(await checkAccountPassword('right', hash)).to.equal(true)
    for (const none of [null, 'unreadable']) expect(await checkAccountPassword('right', none)).to.equal(false)
  })

  it('are computed once for a right password, and for each wrong one', async () => {
    const checked: string[] = []
    const check = rememberRight(async (password, hash) => {
      checked.push(`${password} ${hash}`)
      await new Promise((done) => setTimeout(done, 1))
      return password === 'right'
    })
    expect(await Promise.all([1, 2, 3].map(() => check('right', 'h1')))).to.deep.equal([true, true, true])
    expect(await check('right', 'h1')).to.equal(true)
    expect(checked).to.deep.equal(['right h1'])
    expect([await check('wrong', 'h1'), await check('wrong', 'h1')]).to.deep.equal([false, false])
    expect(await check('right', 'h2')).to.equal(true)
    expect(checked).to.deep.equal(['right h1', 'wrong h1', 'wrong h1', 'right h2'])
  })

  it('are not remembered as failed when the check fails', async () => {
    let fails = true
    const check = rememberRight(async () => {
      if (fails) throw new TooManyPasswords()
      return true
    })
    expect(await check('right', 'h').catch((error: unknown) => error)).to.be.instanceOf(TooManyPasswords)
    fails = false
    expect(await check('right', 'h')).to.equal(true)
  })
})
