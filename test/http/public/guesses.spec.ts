import { expect } from 'chai'
import type { Limiter } from '../../../src/http/api/limiter.ts'
import { countGuess } from '../../../src/http/public/guesses.ts'

/** Returns a limiter whose windows never end. */
const memoryLimiter = (): Limiter => {
  const counts = new Map<string, number>()
  const add = (key: string, n: number) => counts.set(key, (counts.get(key) ?? 0) + n).get(key)!
  return {
    count: async (key, limit) => {
      const count = add(key, 1)
      return { limit, remaining: limit - count, reset: 0, over: count > limit, wait: 60 }
    },
    uncount: async (key) => void add(key, -1),
  }
}

describe('guesses of a password (threat 68)', () => {
  const guesser = () => {
    const limiter = memoryLimiter()
    return async (link: number, address: string, right = false) => {
      const { wait, takeBack } = await countGuess(limiter, link, address)
      if (right && wait === undefined) await takeBack()
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

  it('are not counted when they are right', async () => {
    const guess = guesser()
    expect(await count(300, () => guess(1, 'a', true))).to.equal(300)
  })
})
