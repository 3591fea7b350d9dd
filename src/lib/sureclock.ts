/** The times of a process that something final is decided by. */
export interface SureClockOptions {
  /** Returns the time of the newest thing that was stored when the process began, undefined when there was none. */
  readonly lastStored: () => Promise<Date | undefined>
  /** Returns the time by the clock of the database. */
  readonly ofDatabase: () => Promise<Date>
  readonly now?: () => number
  /** ms of a clock that never jumps */
  readonly elapsed?: () => number
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
 * Returns a clock for work that cannot be undone: erasures, and clicks that are dropped. It rejects with `UnsureClock`
 * while it is more than an hour ahead of the clock of the database. It does so for an hour after it began that far
 * ahead of what was stored last, or jumped ahead. So a clock that is wrong for some minutes destroys nothing.
 */
export const createSureClock = ({
  lastStored,
  ofDatabase,
  now = Date.now,
  elapsed = () => performance.now(),
}: SureClockOptions): (() => Promise<Date>) => {
  /** what `now() - elapsed()` was; undefined before the first look */
  let offset: number | undefined
  let unsureUntil = -Infinity
  return async () => {
    const [expected, current] = [offset, now() - elapsed()]
    const before = expected === undefined ? (await lastStored())?.getTime() : expected + elapsed()
    const ahead = before === undefined ? 0 : now() - before
    offset = current
    if (ahead > tolerance) unsureUntil = elapsed() + waiting
    // it was set back: to what is right, as far as anybody knows
    if (expected !== undefined && ahead < -tolerance) unsureUntil = -Infinity
    const aheadOfDatabase = now() - (await ofDatabase()).getTime()
    if (aheadOfDatabase > tolerance)
      throw new UnsureClock(
        `the clock is ${Math.round(aheadOfDatabase / 1000)} s ahead of that of the database: set it right`,
      )
    const left = unsureUntil - elapsed()
    if (left > 0)
      throw new UnsureClock(
        `the clock is far ahead of what was stored last: the service was stopped for long, or the clock is wrong. It is trusted in ${Math.ceil(left / 60_000)} minutes`,
      )
    return new Date(now())
  }
}
