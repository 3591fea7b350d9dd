import { expect } from 'chai'
import { ahead, mapAhead } from '../../../src/lib/async/ahead.ts'

describe('reading ahead', () => {
  const numbers = (end: number, events: string[], problem?: Error) =>
    (async function* () {
      try {
        for (let n = 1; n <= end; n++) {
          events.push(`read ${n}`)
          yield await Promise.resolve(n)
        }
        if (problem) throw problem
      } finally {
        events.push('closed')
      }
    })()
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('reads the next item while one is processed, and no more', async () => {
    const events: string[] = []
    for await (const n of ahead(numbers(3, events))) {
      await turn()
      events.push(`processed ${n}`)
    }
    expect(events).to.deep.equal(['read 1', 'read 2', 'processed 1', 'read 3', 'processed 2', 'closed', 'processed 3'])
  })

  it('throws an error after the items before it', async () => {
    const seen: number[] = []
    const reading = (async () => {
      for await (const n of ahead(numbers(2, [], new Error('unreadable')))) {
        await turn()
        seen.push(n)
      }
    })()
    expect(await reading.catch((error: Error) => error.message)).to.equal('unreadable')
    expect(seen).to.deep.equal([1, 2])
  })

  it('closes the source when it is left early', async () => {
    const events: string[] = []
    for await (const n of ahead(numbers(9, events))) if (n === 2) break
    expect(events).to.deep.equal(['read 1', 'read 2', 'read 3', 'closed'])
  })

  it('maps a bounded number of items at a time, and keeps their order', async () => {
    let [running, most] = [0, 0]
    const map = async (n: number) => {
      most = Math.max(most, ++running)
      for (let left = 10 - n; left > 0; left--) await turn()
      running--
      return n * n
    }
    const seen: number[] = []
    for await (const square of mapAhead(numbers(6, []), 3, map)) seen.push(square)
    expect(seen).to.deep.equal([1, 4, 9, 16, 25, 36])
    expect(most).to.equal(3)
    const failing = async (n: number) => (n === 2 ? Promise.reject(new Error('second')) : n)
    const before: number[] = []
    const reading = (async () => {
      for await (const n of mapAhead(numbers(4, []), 3, failing)) before.push(n)
    })()
    expect(await reading.catch((error: Error) => error.message)).to.equal('second')
    expect(before).to.deep.equal([1])
  })
})
