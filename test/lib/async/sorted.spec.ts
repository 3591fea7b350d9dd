import { expect } from 'chai'
import { sortedBy } from '../../../src/lib/async/sorted.ts'

describe('items that are sorted by a text', () => {
  it('are in its order, equal ones in their own, and others have turns meanwhile', async () => {
    const items = Array.from({ length: 200_000 }, (_, n) => ({ n, text: String((n * 7919) % 5003).padStart(5, '0') }))
    let [last, longest] = [performance.now(), 0]
    const beat = setInterval(() => {
      const now = performance.now()
      ;[last, longest] = [now, Math.max(longest, now - last)]
    }, 1)
    const sorted = await sortedBy(items, ({ text }) => text)
    clearInterval(beat)
    expect(sorted).to.deep.equal(items.toSorted((a, b) => Number(a.text) - Number(b.text) || a.n - b.n))
    expect(longest).to.be.within(1, 500)
    for (const few of [[], ['a'], ['b', 'a']]) expect(await sortedBy(few, (one) => one)).to.deep.equal(few.toSorted())
  })
})
