import { expect } from 'chai'
import { createTurns } from '../../../src/lib/async/turns.ts'
import { isUnavailable } from '../../../src/lib/unavailable.ts'

describe('turns', () => {
  it('are taken by each key on its own, at most so many at once, in the order of asking', async () => {
    const take = createTurns<string>(2, 10)
    const order: string[] = []
    const ask = async (key: string, name: string) => {
      const end = await take(key)
      order.push(name)
      return end
    }
    const first = await ask('a', 'a1')
    await ask('a', 'a2')
    const later = [ask('a', 'a3'), ask('a', 'a4')]
    await ask('b', 'b1')
    expect(order).to.deep.equal(['a1', 'a2', 'b1'])
    first()
    // a turn that has ended cannot end the turn of another
    first()
    const third = await later[0]!
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'a3'])
    third()
    await later[1]
    expect(order.at(-1)).to.equal('a4')
  })

  it('are refused to a key for which too many wait, and not to others', async () => {
    const take = createTurns<number>(1, 1)
    await take(7)
    void take(7)
    const refused = await take(7).catch((error: unknown) => error)
    expect(isUnavailable(refused)).to.equal(true)
    await take(8)
  })
})
