import { expect } from 'chai'
import { createFairQueue } from '../../../src/lib/async/fairqueue.ts'

describe('a fair queue', () => {
  const taken = <T>(queue: { readonly shift: () => T | undefined }) => {
    const all: T[] = []
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) all.push(item)
    return all
  }

  it('lets sources take turns, each in its own order', () => {
    const queue = createFairQueue<string>({ total: 10, perSource: 10, onLeft: () => expect.fail() })
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(item.charAt(0), item)
    expect(taken(queue)).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    expect([queue.size(), queue.shift()]).to.deep.equal([0, undefined])
  })

  it('refuses more items than one source, or all together, may have', () => {
    const queue = createFairQueue<number>({ total: 3, perSource: 2, onLeft: () => expect.fail() })
    expect([queue.push('a', 1), queue.push('a', 2), queue.push('a', 3)]).to.deep.equal([true, true, false])
    expect([queue.push('b', 4), queue.push('b', 5)]).to.deep.equal([true, false])
    expect(queue.shift()).to.equal(1)
    expect(queue.push('b', 5)).to.equal(true)
    expect(taken(queue)).to.deep.equal([4, 2, 5])
  })

  it('that is full has room for a source with fewer items: the newest of the one with most leaves', () => {
    const left: string[] = []
    const queue = createFairQueue<string>({ total: 6, perSource: 4, onLeft: (item) => void left.push(item) })
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) expect(queue.push(item.charAt(0), item)).to.equal(true)
    expect([queue.push('c', 'c1'), queue.push('c', 'c2'), queue.push('c', 'c3')]).to.deep.equal([true, true, false])
    expect([queue.push('d', 'd1'), queue.push('b', 'b3')]).to.deep.equal([true, false])
    expect([left, queue.size()]).to.deep.equal([['a4', 'a3', 'a2'], 6])
    expect(taken(queue)).to.deep.equal(['a1', 'b1', 'c1', 'd1', 'b2', 'c2'])
  })
})
