import { expect } from 'chai'
import { createFairQueue } from '../../../src/lib/async/fairqueue.ts'

describe('a fair queue', () => {
  const taken = <T>(queue: { readonly shift: () => T | undefined }) => {
    const all: T[] = []
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) all.push(item)
    return all
  }

  it('lets sources take turns, each in its own order', () => {
    const queue = createFairQueue<string>({ total: 10, perSource: 10 })
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item)
    expect(taken(queue)).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    expect([queue.size(), queue.shift()]).to.deep.equal([0, undefined])
  })

  it('refuses more items than one source, or all together, may have', () => {
    const queue = createFairQueue<number>({ total: 3, perSource: 2 })
    expect([queue.push('a', 1), queue.push('a', 2), queue.push('a', 3)]).to.deep.equal([true, true, false])
    expect([queue.push('b', 4), queue.push('b', 5)]).to.deep.equal([true, false])
    expect(queue.shift()).to.equal(1)
    expect(queue.push('b', 5)).to.equal(true)
    expect(taken(queue)).to.deep.equal([4, 2, 5])
  })
})
