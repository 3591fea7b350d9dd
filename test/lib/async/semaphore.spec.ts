import { expect } from 'chai'
import { createSemaphore, shared } from '../../../src/lib/async/semaphore.ts'
import { isUnavailable } from '../../../src/lib/unavailable.ts'

describe('permits of a semaphore', () => {
  it('are acquired by each key on its own, at most so many at once, in the order of asking', async () => {
    const acquire = createSemaphore<string>({ total: 100, perKey: 2, kept: 0, waiting: 10 })
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

  it('are kept for keys that have none, and go to the key with the fewest', async () => {
    const acquire = createSemaphore<string>({ total: 6, perKey: 4, kept: 2, waiting: 100 })
    const got: string[] = []
    const held: Record<string, (() => void)[]> = {}
    const ask = (key: string) =>
      void acquire(key).then((release) => {
        got.push(key)
        ;(held[key] ??= []).push(release)
      })
    const settle = () => new Promise(setImmediate)
    for (const key of ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b']) ask(key)
    await settle()
    // b has one: the last is kept for a third
    expect(got).to.deep.equal(['a', 'a', 'a', 'a', 'b'])
    ask('c')
    ask('d')
    await settle()
    expect(got.slice(5)).to.deep.equal(['c'])
    held['a']!.pop()!()
    await settle()
    expect(got.slice(6), 'who has none').to.deep.equal(['d'])
    for (const release of held['a']!.splice(0)) release()
    await settle()
    expect(got.slice(7), 'who has none, or one').to.deep.equal(['a'])
  })

  it('take turns among keys that have as few, for any number of requests of each', async () => {
    const acquire = createSemaphore<string>({ total: 1, perKey: 1, kept: 0, waiting: 100 })
    const got: string[] = []
    const work = async (key: string) => {
      const release = await acquire(key)
      got.push(key)
      await new Promise(setImmediate)
      release()
    }
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(work))
    expect(got.slice(0, 4)).to.have.members(['a', 'a', 'b', 'c'])
  })

  it('are kept for networks that have none, and go to those with the fewest, for any keys', async () => {
    const acquire = createSemaphore<number>({ total: 4, perKey: 2, kept: 1, waiting: 100 })
    const got: string[] = []
    const held: (() => void)[] = []
    const ask = (key: number, network: string) =>
      void acquire(key, network).then((release) => {
        got.push(network)
        held.push(release)
      })
    const settle = () => new Promise(setImmediate)
    for (let key = 1; key <= 6; key++) ask(key, 'evil')
    await settle()
    expect(got).to.deep.equal(['evil', 'evil', 'evil'])
    ask(7, 'a')
    ask(8, 'b')
    await settle()
    expect(got.slice(3)).to.deep.equal(['a'])
    held.shift()!()
    await settle()
    expect(got.slice(4)).to.deep.equal(['b'])
    for (const release of held.splice(0)) release()
    await settle()
    expect(got.slice(5)).to.deep.equal(['evil', 'evil', 'evil'])
  })

  it('are refused to a key for which too many wait, and not to others', async () => {
    const acquire = createSemaphore<number>({ total: 100, perKey: 1, kept: 0, waiting: 1 })
    await acquire(7)
    void acquire(7)
    const refused = await acquire(7).catch((error: unknown) => error)
    expect(isUnavailable(refused)).to.equal(true)
    await acquire(8)
  })
})

describe('a function that runs once with a permit for all its callers', () => {
  const holding = () => {
    const begun: string[] = []
    const ends: ((failed?: Error) => void)[] = []
    const run = async (key: string) => {
      begun.push(key)
      const count = begun.length
      await new Promise<void>((resolve, reject) => ends.push((failed) => (failed ? reject(failed) : resolve())))
      return count
    }
    const ask = shared(createSemaphore<string>({ total: 2, perKey: 1, kept: 0, waiting: 1 }), run)
    return { begun, ends, ask }
  }
  const settle = () => new Promise(setImmediate)

  it('is shared by callers that ask before it begins, and by none that ask later', async () => {
    const { begun, ends, ask } = holding()
    const first = [ask('a'), ask('a')]
    await settle()
    const later = Array.from({ length: 1000 }, () => ask('a'))
    await settle()
    expect(begun).to.deep.equal(['a'])
    ends[0]!()
    await settle()
    expect(begun).to.deep.equal(['a', 'a'])
    const last = ask('a')
    ends[1]!()
    await settle()
    ends[2]!()
    expect(await Promise.all(first)).to.deep.equal([1, 1])
    expect(new Set(await Promise.all(later))).to.deep.equal(new Set([2]))
    expect(await last).to.equal(3)
  })

  it('is one for each key, fails for all who share it, and begins again for the next', async () => {
    const { begun, ends, ask } = holding()
    const [one, two, other] = [ask('a'), ask('a'), ask('b')]
    const failures = Promise.allSettled([one, two])
    await settle()
    expect(begun).to.deep.equal(['a', 'b'])
    ends[0]!(new Error('away'))
    expect((await failures).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    ends[1]!()
    expect(await other).to.equal(2)
    const again = ask('a')
    await settle()
    ends[2]!()
    expect(await again).to.equal(3)
  })
})
