import { expect } from 'chai'
import { type ClockTrail, createSureClock, followClock, UnsureClock } from '../../src/lib/sureclock.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const start = Date.UTC(2026, 10, 27)

describe('the clock for irreversible actions', () => {
  /** `skew` is how many ms the clock of the database is ahead, `ahead` how many that of the process is before it. */
  const open = ({ skew = 0, ahead = 0, seen = minute }: { skew?: number; ahead?: number; seen?: number } = {}) => {
    const state = { elapsed: 0, skew, ahead }
    const before = new Date(start - seen)
    let trail: ClockTrail = { seen: before, sureFrom: before }
    const look = async () => (trail = followClock(trail, new Date(start + state.elapsed + state.skew)))
    const now = () => start + state.elapsed + state.skew + state.ahead
    const isSure = () =>
      // as a process does that has just started
      createSureClock(look, now)().then(
        (time) => (expect(time.getTime()).to.equal(now()), true),
        (error: unknown) => (expect(error).to.be.instanceOf(UnsureClock), false),
      )
    /** Looks every minute. */
    const wait = async (ms: number) => {
      for (let n = 0; n < ms / minute; n++) {
        state.elapsed += minute
        await look()
      }
    }
    return { state, isSure, wait }
  }

  it('is trusted at once in a service that was stopped for a short time', async () => {
    expect(await open({ seen: 0 }).isSure()).to.equal(true)
    expect(await open({ seen: 50 * minute }).isSure()).to.equal(true)
  })

  it('is not trusted for an hour when it starts far ahead of the stored time, despite requests and restarts meanwhile', async () => {
    const { isSure, wait } = open({ skew: 3650 * day })
    expect(await isSure()).to.equal(false)
    await wait(30 * minute)
    expect([await isSure(), await isSure()]).to.deep.equal([false, false])
    await wait(29 * minute)
    expect(await isSure()).to.equal(false)
    await wait(2 * minute)
    expect(await isSure()).to.equal(true)
  })

  it('is not trusted for an hour after a jump between two reads, also when it is set back by a part of the jump', async () => {
    const { isSure, state, wait } = open()
    await wait(5 * hour)
    expect(await isSure()).to.equal(true)
    state.skew = 2 * hour
    await wait(minute)
    expect(await isSure()).to.equal(false)
    await wait(50 * minute)
    expect(await isSure()).to.equal(false)
    await wait(10 * minute)
    expect(await isSure()).to.equal(true)
    state.skew = 3650 * day
    await wait(minute)
    expect(await isSure()).to.equal(false)
    state.skew -= 2 * hour
    expect(await isSure()).to.equal(false)
    await wait(50 * minute)
    state.skew = 0
    expect(await isSure()).to.equal(false)
    await wait(11 * minute)
    expect(await isSure()).to.equal(true)
    state.skew = -5 * hour
    expect(await isSure()).to.equal(true)
  })

  it('is not trusted while it is ahead of that of the database', async () => {
    const { isSure, state, wait } = open({ ahead: 2 * hour })
    expect(await isSure()).to.equal(false)
    await wait(3 * hour)
    expect(await isSure()).to.equal(false)
    state.ahead = 0
    expect(await isSure()).to.equal(true)
  })
})
