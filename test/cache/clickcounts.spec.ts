import { expect } from 'chai'
import { createAdmitted } from '../../src/cache/admitted.ts'
import { openClickCounts } from '../../src/cache/clickcounts.ts'
import { Unavailable } from '../../src/lib/unavailable.ts'

const setUp = () => {
  const asked: (readonly number[])[] = []
  const state = { now: 0, clicks: 1, position: 0n, down: false }
  const admitted = createAdmitted(() => state.now)
  const counts = openClickCounts({
    find: async (links) => {
      asked.push(links)
      if (state.down) throw new Unavailable('down')
      return links.map((link) => ({ clicks: link + state.clicks, position: state.position }))
    },
    admitted,
    now: () => state.now,
  })
  const get = async (link: number, exact = false) => {
    await counts.refresh(link, exact)
    return counts.of(link)
  }
  const failure = (link: number) =>
    get(link, true).then(
      (clicks) => clicks,
      (error: unknown) => error instanceof Unavailable,
    )
  return { admitted, asked, state, get, failure, counts }
}

describe('the clicks of links that end with a number of them', () => {
  it('are read at most twice a second for each link, together for several', async () => {
    const { asked, state, get, counts } = setUp()
    expect(await Promise.all([get(10), get(20), get(10)])).to.deep.equal([11, 21, 11])
    expect(asked).to.deep.equal([[10, 20]])
    state.now = 499
    state.clicks = 5
    expect(counts.refresh(10, false), 'at once').to.equal(undefined)
    expect(counts.of(10)).to.equal(11)
    state.now = 500
    expect(await get(10)).to.equal(15)
    expect(asked).to.deep.equal([[10, 20], [10]])
  })
  it('are read again after the clock was set back', async () => {
    const clock = Date.now
    let clicks = 1
    const counts = openClickCounts({ find: async () => [{ clicks: clicks++, position: 0n }], maxAge: 0 })
    try {
      for (const jump of [0, 3_600_000]) {
        Date.now = () => clock() - jump
        await counts.refresh(1, false)
      }
    } finally {
      Date.now = clock
    }
    expect(counts.of(1)).to.equal(2)
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
  it('are unavailable where they have to be exact and were never read', async () => {
    const { state, get, failure } = setUp()
    expect(await get(10, true)).to.equal(11)
    Object.assign(state, { now: 1000, down: true })
    expect(await failure(10)).to.equal(11)
    expect(await failure(20)).to.equal(true)
  })
  it('fail with any other error', async () => {
    const counts = openClickCounts({ find: () => Promise.reject(new Error('a mistake')) })
    let failed: unknown
    await counts.refresh(1, false)?.catch((error: unknown) => (failed = error))
    expect(String(failed)).to.equal('Error: a mistake')
  })

  it('have each person who was let through once, from the visit until the tables have the click', async () => {
    const { admitted, state, get, counts } = setUp()
    let seq = 0
    admitted.follow(() => ({ partition: 0, seq }))
    admitted.startAt(0n)
    expect(await get(10, true)).to.equal(11)
    const spooled = [counts.admit(10), counts.admit(10)]
    expect(counts.of(10)).to.equal(13)
    for (const done of spooled) {
      seq++
      done(true)
    }
    admitted.recorded({ partition: 0, seq: 1 }, 7n)
    Object.assign(state, { now: 500, position: 6n })
    expect(await get(10, true), 'recorded, and not in the tables').to.equal(13)
    Object.assign(state, { now: 1000, position: 7n, clicks: 2 })
    expect(await get(10, true), 'one of them is in the tables').to.equal(13)
    admitted.recorded({ partition: 0, seq: 2 }, 9n)
    Object.assign(state, { now: 1500, position: 9n, clicks: 3 })
    expect(await get(10, true)).to.equal(13)
    expect(admitted.count(10)).to.equal(0)
  })

  it('are not known before the tables have the clicks that earlier processes have left', async () => {
    const { admitted, state, failure } = setUp()
    admitted.follow(() => ({ partition: 0, seq: 0 }))
    expect(await failure(10), 'not recorded yet').to.equal(true)
    admitted.startAt(5n)
    expect(await failure(10), 'not in the tables yet').to.equal(true)
    const read = failure(10)
    state.position = 5n
    expect(await read).to.equal(11)
  })
})
