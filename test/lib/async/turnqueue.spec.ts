import { expect } from 'chai'
import { createTurnQueue } from '../../../src/lib/async/turnqueue.ts'

describe('a queue of items that are of several sources', () => {
  const open = (total = 10, perSource = 10, onLeft: (item: string) => void = () => expect.fail()) => {
    const queue = createTurnQueue<string>({ total, perSource, onLeft })
    /** `a1 b` is of the sources a and b. */
    const push = (item: string) =>
      queue.push(
        item.split(' ').map((word) => word.charAt(0)),
        item,
      )
    const taken = () => Array.from({ length: queue.size() }, () => queue.shift())
    return { queue, push, taken }
  }

  it('lets sources take turns, each in its own order', () => {
    const { queue, push, taken } = open()
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) push(item)
    expect(taken()).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    expect([queue.size(), queue.shift()]).to.deep.equal([0, undefined])
  })

  it('does not delay a source because another one has many items', () => {
    const { push, taken } = open()
    for (const item of ['x1 a', 'x2 b', 'x3 c', 'y1 d']) push(item)
    expect(taken()).to.deep.equal(['x1 a', 'y1 d', 'x2 b', 'x3 c'])
    const other = open()
    for (const item of ['x1 a', 'y1 a', 'z1 a', 'w1 b']) other.push(item)
    expect(other.taken()).to.deep.equal(['x1 a', 'w1 b', 'y1 a', 'z1 a'])
  })

  it('remembers turns of sources that have nothing at the moment', () => {
    const { queue, push, taken } = open()
    push('a1')
    queue.shift()
    for (const item of ['a2', 'b1']) push(item)
    expect(taken()).to.deep.equal(['b1', 'a2'])
  })

  it('refuses more items than one of their sources, or all together, may have', () => {
    const { queue, push } = open(3, 2, () => {})
    const pushed = ['x1 a', 'x2 b', 'x3 c', 'y1 a', 'z1 a', 'x4 d'].map(push)
    expect(pushed).to.deep.equal([true, true, false, true, false, false])
    expect(queue.shift()).to.equal('x1 a')
    expect(push('z1 a')).to.equal(true)
  })

  it('that is full has room for sources with fewer items: the newest of the one with most leaves', () => {
    const left: string[] = []
    const { queue, push } = open(4, 4, (item) => void left.push(item))
    for (const item of ['x1 a', 'x2 b', 'x3 c', 'y1 d']) expect(push(item)).to.equal(true)
    expect([push('z1 e'), push('z2 f')]).to.deep.equal([true, false])
    expect([left, queue.size()]).to.deep.equal([['x3 c'], 4])
  })
})
