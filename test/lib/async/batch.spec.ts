import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { batch } from '../../../src/lib/async/batch.ts'

describe('a batch of look-ups', () => {
  /** Returns the calls that were made, each with a function that answers it, and what makes requests. */
  const open = (most: number, parallel?: number) => {
    const calls: { readonly requests: readonly number[]; readonly answer: () => void }[] = []
    const ask = batch<number, number>(
      most,
      (requests) =>
        new Promise((resolve) => calls.push({ requests, answer: () => resolve(requests.map((n) => n * 10)) })),
      parallel,
    )
    return { calls, ask }
  }
  const requestsOf = (calls: ReturnType<typeof open>['calls']) => calls.map(({ requests }) => requests)

  it('shares one call among the requests of a turn', async () => {
    const { calls, ask } = open(100, 3)
    const answers = Promise.all([1, 2, 3].map(ask))
    await nextTurn()
    expect(requestsOf(calls)).to.deep.equal([[1, 2, 3]])
    calls[0]!.answer()
    expect(await answers).to.deep.equal([10, 20, 30])
  })

  it('has a few calls in flight, and keeps the rest for the next ones', async () => {
    const { calls, ask } = open(2, 2)
    const answers: Promise<number>[] = []
    for (const n of [1, 2, 3, 4, 5]) {
      answers.push(ask(n))
      await nextTurn()
      await nextTurn()
    }
    expect(requestsOf(calls)).to.deep.equal([[1], [2]])
    calls[1]!.answer()
    await nextTurn()
    expect(requestsOf(calls).slice(2)).to.deep.equal([[3, 4]])
    calls[0]!.answer()
    await nextTurn()
    expect(requestsOf(calls).slice(3)).to.deep.equal([[5]])
    calls.slice(2).forEach(({ answer }) => answer())
    expect(await Promise.all(answers)).to.deep.equal([10, 20, 30, 40, 50])
  })

  it('fails the requests of a failed call only', async () => {
    let fails = true
    const ask = batch<number, number>(100, (requests) =>
      fails ? Promise.reject(new Error('away')) : Promise.resolve(requests),
    )
    const failed = await Promise.allSettled([1, 2].map(ask))
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    fails = false
    expect(await ask(3)).to.equal(3)
  })
})
