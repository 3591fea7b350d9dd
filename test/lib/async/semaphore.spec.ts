import { expect } from 'chai'
import { createSemaphore } from '../../../src/lib/async/semaphore.ts'
import { isUnavailable } from '../../../src/lib/unavailable.ts'

describe('permits of a semaphore', () => {
  it('are acquired by each key on its own, at most so many at once, in the order of asking', async () => {
    const acquire = createSemaphore<string>(2, 10)
    const order: string[] = []
    const ask = async (key: string, name: string) => {
      const release = await acquire(key)
      order.push(name)
      return release
    }
    const first = await ask('a', 'a1')
    await ask('a', 'a2')
    const later = [ask('a', 'a3'), ask('a', 'a4')]
    await ask('b', 'b1')
    expect(order).to.deep.equal(['a1', 'a2', 'b1'])
    first()
    // a permit is released once
    first()
    const third = await later[0]!
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'a3'])
    third()
    await later[1]
    expect(order.at(-1)).to.equal('a4')
  })

  it('are refused to a key for which too many wait, and not to others', async () => {
    const acquire = createSemaphore<number>(1, 1)
    await acquire(7)
    void acquire(7)
    const refused = await acquire(7).catch((error: unknown) => error)
    expect(isUnavailable(refused)).to.equal(true)
    await acquire(8)
  })
})
