import { expect } from 'chai'
import {
  checkAccountPassword,
  checkPassword,
  createLane,
  hashPassword,
  linkOwner,
  owner,
  rememberRight,
  stranger,
  TooManyPasswords,
} from '../../src/security/passwords.ts'

describe('hashes of passwords', () => {
  it('are computed one after the other in each lane, and refused when too many wait', async () => {
    const lane = createLane({ total: 3, perSource: 3 })
    let running = 0
    let most = 0
    const hash = async () => {
      most = Math.max(most, ++running)
      await new Promise((done) => setTimeout(done, 1))
      running--
    }
    const first = lane(['a'], hash)
    await Promise.resolve()
    const outcomes = await Promise.allSettled([first, ...Array.from({ length: 5 }, () => lane(['a'], hash))])
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect(most).to.equal(1)
    expect(refused).to.have.length(2)
    for (const reason of refused) expect(reason).to.be.instanceOf(TooManyPasswords)
    await lane(['a'], hash)
  })

  it('are computed for each source in turn, and of one source only a few wait', async () => {
    const lane = createLane({ total: 100, perSource: 4 })
    const done: string[] = []
    const hash = (source: string) => lane([source], async () => void done.push(source))
    const many = Array.from({ length: 10 }, () => hash('many'))
    await Promise.all([hash('one'), hash('other')])
    expect(done.slice(0, 4)).to.have.members(['many', 'many', 'one', 'other'])
    const outcomes = await Promise.allSettled(many)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(5)
  })

  it('of links leave room for those of accounts, however many owners set them', async () => {
    const cheap = { N: 2, r: 8, p: 1 }
    const links = Array.from({ length: 2000 }, (_, n) => hashPassword('of a link', linkOwner(n % 500), cheap))
    const settled = Promise.allSettled(links)
    expect(await hashPassword('of an account', owner(501), cheap)).to.match(/^scrypt\$2\$/)
    const refused = (await settled).filter(({ status }) => status === 'rejected')
    expect(refused.length).to.be.within(1499, 1500)
  })

  it('of accounts do not wait for guesses by visitors', async () => {
    const cheap = 'scrypt$2$8$1$c2FsdA$a2V5'
    const guesses = Promise.allSettled(Array.from({ length: 40 }, () => checkPassword('guess', cheap, '192.0.2.1')))
    expect(await hashPassword('a new password')).to.match(/^scrypt\$16384\$/)
    const outcomes = await guesses
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(16, 17)
  })

  it('that owners set do not wait for sign-ins and registrations of strangers', async () => {
    const cheap = 'scrypt$2$8$1$c2FsdA$a2V5'
    const signIns = Promise.allSettled(
      Array.from({ length: 70 }, () => checkAccountPassword('guess', cheap, stranger('192.0.2.1'))),
    )
    const registration = hashPassword('of a stranger', stranger('192.0.2.1')).catch((error: unknown) => error)
    expect(await hashPassword('a new password')).to.match(/^scrypt\$16384\$/)
    expect(await registration).to.be.instanceOf(TooManyPasswords)
    const outcomes = await signIns
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(8, 9)
  })

  it('of strangers do not wait for those of one network, from any of its addresses', async () => {
    const cheap = 'scrypt$2$8$1$c2FsdA$a2V5'
    const from = (n: number) => `2001:db8:1:${n.toString(16)}::/64`
    const many = Array.from({ length: 120 }, (_, n) => hashPassword('of many', stranger(from(n))))
    const settled = Promise.allSettled(many)
    let first = 0
    void settled.then(() => (first ||= 2))
    expect(await checkAccountPassword('guess', cheap, stranger('2001:db8:2:1::/64'))).to.equal(false)
    first ||= 1
    expect(first).to.equal(1)
    const outcomes = await settled
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(8, 9)
  })

  it('of visitors do not wait for those of one network, for any links', async () => {
    const of = (n: number) => `scrypt$${2 ** 12}$8$1$${Buffer.from(`salt ${n}`).toString('base64url')}$a2V5`
    const many = Promise.allSettled(
      Array.from({ length: 300 }, (_, n) => checkPassword('own', of(n), `2001:db8:1:${n.toString(16)}::/64`)),
    )
    expect(await checkPassword('guess', of(1000), '192.0.2.1')).to.equal(false)
    const outcomes = await many
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).to.be.within(16, 17)
  })

  it('are computed for an account without a readable one, and match nothing', async () => {
    const hash = await hashPassword('right')
    expect(await checkAccountPassword('right', hash, owner(1))).to.equal(true)
    for (const none of [null, 'unreadable']) expect(await checkAccountPassword('right', none, owner(1))).to.equal(false)
  })

  it('are computed once for a right password, and for each wrong one', async () => {
    const checked: string[] = []
    const check = rememberRight(async (password, hash) => {
      checked.push(`${password} ${hash}`)
      await new Promise((done) => setTimeout(done, 1))
      return password === 'right'
    })
    expect(await Promise.all([1, 2, 3].map(() => check('right', 'h1', '')))).to.deep.equal([true, true, true])
    expect(await check('right', 'h1', '')).to.equal(true)
    expect(checked).to.deep.equal(['right h1'])
    expect([await check('wrong', 'h1', ''), await check('wrong', 'h1', '')]).to.deep.equal([false, false])
    expect(await check('right', 'h2', '')).to.equal(true)
    expect(checked).to.deep.equal(['right h1', 'wrong h1', 'wrong h1', 'right h2'])
  })

  it('are not remembered as failed when the check fails', async () => {
    let fails = true
    const check = rememberRight(async () => {
      if (fails) throw new TooManyPasswords()
      return true
    })
    expect(await check('right', 'h', '').catch((error: unknown) => error)).to.be.instanceOf(TooManyPasswords)
    fails = false
    expect(await check('right', 'h', '')).to.equal(true)
  })
})
