import { expect } from 'chai'
import { ahead } from '../../src/lib/ahead.ts'

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
})
