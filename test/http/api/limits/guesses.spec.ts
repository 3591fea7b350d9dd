import { expect } from 'chai'
import { openGuesses } from '../../../../src/http/api/limits/guesses.ts'
import { memoryLimiter } from '../../../support/limiter.ts'

describe('guesses of a password', () => {
  const guesser = () => {
    const countGuess = openGuesses(memoryLimiter())
    return async (link: number, block: string, right = false) => {
      const { wait, end } = await countGuess({ link, block, password: right ? 'right' : 'wrong' })
      await end(!right)
      return wait === undefined
    }
  }
  const count = async (n: number, guess: (i: number) => Promise<boolean>) => {
    let allowed = 0
    for (let i = 0; i < n; i++) if (await guess(i)) allowed++
    return allowed
  }

  it('are limited for a link, however many addresses they come from', async () => {
    const guess = guesser()
    expect(await count(300, (i) => guess(1, `address ${i}`))).to.equal(100)
    expect(await guess(2, 'address 1')).to.equal(true)
  })

  it('of one address do not spend the budget of a link', async () => {
    const guess = guesser()
    expect(await count(300, () => guess(1, 'a'))).to.equal(10)
    expect(await count(95, (i) => guess(1, `address ${i}`))).to.equal(90)
  })

  it('are limited for an address, however many links it tries', async () => {
    const guess = guesser()
    expect(await count(300, (i) => guess(i, 'a'))).to.equal(50)
    expect(await guess(1, 'b')).to.equal(true)
  })

  it('of browsers that are known are limited for each, and for all of an account, apart from those of strangers', async () => {
    const countGuess = openGuesses(memoryLimiter(), 'account password')
    const guess = async (browser: string | undefined, block = 'a') => {
      const holder = browser === undefined ? undefined : ({ kind: 'browser', id: browser } as const)
      const { wait, end } = await countGuess({ link: 'ann', block, password: 'wrong', holder })
      await end(true)
      return wait === undefined
    }
    expect(await count(30, () => guess('mine'))).to.equal(10)
    expect(await count(300, (i) => guess(`browser ${i}`))).to.equal(90)
    expect(await count(300, (i) => guess(undefined, `address ${i}`))).to.equal(100)
  })

  it('are not counted when they are right', async () => {
    const guess = guesser()
    expect(await count(300, () => guess(1, 'a', true))).to.equal(300)
  })

  it('count once while many enter the right password together', async () => {
    const countGuess = openGuesses(memoryLimiter())
    const enter = (block: string, password = 'right') => countGuess({ link: 1, block, password })
    const together = await Promise.all([
      ...Array.from({ length: 30 }, () => enter('a school')),
      ...Array.from({ length: 200 }, (_, i) => enter(`address ${i}`)),
    ])
    expect(together.filter(({ wait }) => wait !== undefined)).to.have.length(0)
    await Promise.all(together.map(({ end }) => end(false)))
    const wrong = await Promise.all(Array.from({ length: 30 }, (_, i) => enter('a school', `wrong ${i}`)))
    expect(wrong.filter(({ wait }) => wait === undefined)).to.have.length(10)
  })

  it('of the same wrong password at the same time stay counted', async () => {
    const countGuess = openGuesses(memoryLimiter())
    for (let n = 0; n < 10; n++) {
      const guesses = await Promise.all([1, 2].map(() => countGuess({ link: 1, block: 'a', password: `wrong ${n}` })))
      expect(guesses.map(({ wait }) => wait)).to.deep.equal([undefined, undefined])
      await Promise.all(guesses.map(({ end }) => end(true)))
    }
    expect((await countGuess({ link: 1, block: 'a', password: 'right' })).wait).to.equal(60)
  })
})
