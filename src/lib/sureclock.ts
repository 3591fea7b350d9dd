/** What is stored of the clock of the database: when it was looked at last, and from when on it is trusted. */
export interface ClockTrail {
  readonly seen: Date
  readonly sureFrom: Date
}

/** ms that clocks may differ, and that a service may have been stopped, without a doubt */
const tolerance = 3_600_000
/** ms for which a clock that has jumped ahead is not trusted: time to set it right */
const waiting = 3_600_000

/** The clock may be wrong, and is not trusted yet. */
export class UnsureClock extends Error {
  override readonly name = 'UnsureClock'
}

/**
 * Returns the trail after a look at the clock, which is meant to be looked at every minute. A clock that has jumped
 * ahead by more than an hour is trusted an hour later. Setting it back does not end the hour: it may not be right yet.
 */
export const followClock = ({ seen, sureFrom }: ClockTrail, now: Date): ClockTrail => {
  const ahead = now.getTime() - seen.getTime()
  if (ahead > tolerance) return { seen: now, sureFrom: new Date(now.getTime() + waiting) }
  const left = Math.max(0, sureFrom.getTime() - seen.getTime())
  return { seen: now, sureFrom: ahead < -tolerance ? new Date(now.getTime() + left) : sureFrom }
}

/**
 * Returns a clock for work that cannot be undone: erasures, and clicks that are dropped. It rejects with `UnsureClock`
 * while it is more than an hour ahead of the clock of the database, and while that is not trusted. `look` returns the
 * stored trail after a look: it outlives this process, so that no restart ends a doubt.
 */
export const createSureClock =
  (look: () => Promise<ClockTrail>, now: () => number = Date.now): (() => Promise<Date>) =>
  async () => {
    const { seen, sureFrom } = await look()
    const aheadOfDatabase = now() - seen.getTime()
    if (aheadOfDatabase > tolerance)
      throw new UnsureClock(
        `the clock is ${Math.round(aheadOfDatabase / 1000)} s ahead of that of the database: set it right`,
      )
    const left = sureFrom.getTime() - seen.getTime()
    if (left > 0)
      throw new UnsureClock(
        `the clock is far ahead of what was stored last: the service was stopped for long, or the clock is wrong. It is trusted in ${Math.ceil(left / 60_000)} minutes`,
      )
    return new Date(now())
  }
