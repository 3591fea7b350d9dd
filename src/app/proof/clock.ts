/** seconds that the clocks of two machines may differ */
const tolerance = 5

const secondsBehind = (latest: Date, now: number) => Math.round((latest.getTime() - now) / 1000)

/** Knows whether the clock was set back: then a checkpoint of the log was signed later than now. */
export interface SigningClock {
  /** Takes the time at which a checkpoint was signed. Logs that the clock is behind, and that it no longer is. */
  readonly signedAt: (at: Date) => void
  /** Returns what is wrong, as `/readyz` says it. */
  readonly problem: () => string | undefined
}

type Say = (details: object, text: string) => void

export const createSigningClock = (
  log: { readonly warn: Say; readonly info: Say },
  now: () => number = Date.now,
): SigningClock => {
  let latest: Date | undefined
  let isBehind = false
  return {
    signedAt: (at) => {
      if (!latest || at > latest) latest = at
      const wasBehind = isBehind
      const seconds = secondsBehind(latest, now())
      isBehind = seconds > tolerance
      if (isBehind && !wasBehind)
        log.warn(
          { seconds, latest },
          'the clock is behind the last signed checkpoint of the log: new ones are signed with earlier times until it is right',
        )
      if (wasBehind && !isBehind) log.info({ latest }, 'the clock is no longer behind the last signed checkpoint')
    },
    problem: () => {
      const seconds = latest ? secondsBehind(latest, now()) : 0
      return seconds > tolerance
        ? `the clock is ${seconds} s behind the last signed checkpoint of the log (${latest!.toISOString()}): set it right`
        : undefined
    },
  }
}
