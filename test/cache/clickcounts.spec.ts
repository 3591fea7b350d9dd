import { expect } from 'chai'
import { openClickCounts } from '../../src/cache/clickcounts.ts'
import { Unavailable } from '../../src/lib/unavailable.ts'

const setUp = () => {
  const asked: (readonly number[])[] = []
  const state = { now: 0, clicks: 1, down: false }
  const counts = openClickCounts({
    find: async (links) => {
      asked.push(links)
      if (state.down) throw new Unavailable('down')
      return links.map((link) => link + state.clicks)
    },
    now: () => state.now,
  })
  return { asked, state, get: async (link: number) => counts.get(link), counts }
}

describe('the clicks of links that end with a number of them', () => {
  it('are read at most twice a second for each link, together for several', async () => {
    const { asked, state, get, counts } = setUp()
    expect(await Promise.all([get(10), get(20), get(10)])).to.deep.equal([11, 21, 11])
    expect(asked).to.deep.equal([[10, 20]])
    state.now = 499
    state.clicks = 5
    expect(counts.get(10), 'at once').to.equal(11)
    state.now = 500
    expect(await get(10)).to.equal(15)
    expect(asked).to.deep.equal([[10, 20], [10]])
  })
  it('are the last known ones while PostgreSQL is unavailable, and then the new ones', async () => {
    const { state, get } = setUp()
    await get(10)
    Object.assign(state, { now: 1000, down: true, clicks: 9 })
    expect(await get(10)).to.equal(11)
    expect(await get(20), 'never known').to.equal(0)
    state.down = false
    expect(await get(10)).to.equal(19)
    expect(await get(20)).to.equal(29)
  })
  it('fail with any other error', async () => {
    const counts = openClickCounts({ find: () => Promise.reject(new Error('a mistake')) })
    let failed: unknown
    await Promise.resolve(counts.get(1)).catch((error: unknown) => (failed = error))
    expect(String(failed)).to.equal('Error: a mistake')
  })
})
