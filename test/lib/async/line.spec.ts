import { expect } from 'chai'
import { createLines } from '../../../src/lib/async/line.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'

describe('work in a line', () => {
  const told = (work: Promise<unknown>) => work.catch(({ message }: Error) => message)

  it('is done one after another where it is on the same thing, also after one that failed', async () => {
    const inLine = createLines()
    const [log, open]: [string[], (() => void)[]] = [[], []]
    const work = (name: string) => async () => {
      log.push(name)
      await new Promise<void>((done) => open.push(done))
      if (name === 'a1') throw new Error('no')
      return name
    }
    const all = [inLine('a', work('a1')), inLine('a', work('a2')), inLine('b', work('b1'))].map(told)
    await new Promise(setImmediate)
    expect(log).to.deep.equal(['a1', 'b1'])
    open.forEach((done) => done())
    await all[0]
    await new Promise(setImmediate)
    expect(log).to.deep.equal(['a1', 'b1', 'a2'])
    open.forEach((done) => done())
    expect(await Promise.all(all)).to.deep.equal(['no', 'a2', 'b1'])
  })

  it('gets the result of the work that it has waited for, unless that failed', async () => {
    const inLine = createLines<string>()
    const work = (name: string) => async (before?: string) => {
      if (name === 'c') throw new Error('no')
      return `${name} after ${before}`
    }
    const all = ['a', 'b', 'c', 'd'].map((name) => told(inLine('x', work(name))))
    expect(await Promise.all(all)).to.deep.equal([
      'a after undefined',
      'b after a after undefined',
      'no',
      'd after undefined',
    ])
    expect(await inLine('x', work('e'))).to.equal('e after undefined')
  })

  it('is not begun behind work for which a store was away, and again afterwards', async () => {
    const inLine = createLines()
    const away = inLine('a', async () => {
      throw new Unavailable('away')
    })
    let begun = 0
    const waiting = [1, 2].map(() => inLine('a', async () => ++begun))
    expect(await Promise.all([away, ...waiting].map(told))).to.deep.equal(['away', 'away', 'away'])
    expect(await inLine('a', async () => ++begun)).to.equal(1)
  })
})
