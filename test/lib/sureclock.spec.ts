import { expect } from 'chai'
import { createSureClock, UnsureClock } from '../../src/lib/sureclock.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const start = Date.UTC(2026, 10, 27)

describe('the clock for what cannot be undone', () => {
  /** `skew` is how many ms the clock is ahead; `stored` is how long ago something was stored before the process began. */
  const open = ({
    skew = 0,
    databaseSkew = 0,
    stored = minute,
  }: { skew?: number; databaseSkew?: number; stored?: number | null } = {}) => {
    const state = { elapsed: 0, skew, databaseSkew }
    const clock = createSureClock({
      lastStored: async () => (stored === null ? undefined : new Date(start - stored)),
      ofDatabase: async () => new Date(start + state.elapsed + state.databaseSkew),
      now: () => start + state.elapsed + state.skew,
      elapsed: () => state.elapsed,
    })
    const isSure = (later = 0) => {
      state.elapsed += later
      return clock().then(
        (now) => (expect(now.getTime()).to.equal(start + state.elapsed + state.skew), true),
        (error: unknown) => (expect(error).to.be.instanceOf(UnsureClock), false),
      )
    }
    return { state, isSure }
  }

  it('is trusted at once in a new service, and in one that was stopped for a short time', async () => {
    expect(await open({ stored: null }).isSure()).to.equal(true)
    expect(await open({ stored: 50 * minute }).isSure()).to.equal(true)
  })

  it('is not trusted for an hour when it begins far ahead of what was stored, and the database has the same', async () => {
    const { isSure } = open({ skew: 3650 * day, databaseSkew: 3650 * day })
    expect([await isSure(), await isSure(30 * minute), await isSure(29 * minute)]).to.deep.equal([false, false, false])
    expect(await isSure(2 * minute)).to.equal(true)
  })

  it('is not trusted for an hour after it has jumped, unless it is set back', async () => {
    const { isSure, state } = open()
    expect([await isSure(), await isSure(5 * hour)]).to.deep.equal([true, true])
    state.skew = state.databaseSkew = 2 * hour
    expect([await isSure(), await isSure(50 * minute)]).to.deep.equal([false, false])
    expect(await isSure(11 * minute)).to.equal(true)
    state.skew = state.databaseSkew = 30 * day
    expect(await isSure()).to.equal(false)
    state.skew = state.databaseSkew = 2 * hour
    expect(await isSure(minute)).to.equal(true)
  })

  it('is not trusted while it is ahead of that of the database', async () => {
    const { isSure, state } = open({ skew: 2 * hour, stored: null })
    expect([await isSure(), await isSure(day)]).to.deep.equal([false, false])
    state.skew = 0
    expect(await isSure()).to.equal(true)
  })
})
