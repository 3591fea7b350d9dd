import type { Logger } from 'pino'

/** The log lines of something that goes on for a while. */
export interface IncidentLines {
  readonly begins: string
  readonly goesOn: string
  readonly ends: string
}

/** Something that goes on for a while, and logs three kinds of lines no matter how often it is noticed. */
export interface Incident {
  /** Logs its begin, unless it has begun before. */
  readonly begins: (details: object) => void
  /** Counts a failure. */
  readonly failed: () => void
  /** Logs that it goes on, unless there was a line in the last minute; with `atOnce`, always. */
  readonly goesOn: (details: object, atOnce?: boolean) => void
  /** Logs its end and its duration, unless it has not begun. */
  readonly ends: (details?: object, at?: number) => void
  readonly isOpen: () => boolean
}

interface IncidentOptions {
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly level: 'warn' | 'error'
  readonly lines: IncidentLines
  /** ms between two lines while it goes on */
  readonly every?: number | undefined
}

export const createIncident = ({ log, level, lines, every = 60_000 }: IncidentOptions): Incident => {
  let current: { readonly since: number; loggedAt: number; failures: number } | undefined
  const write = (how: 'warn' | 'error', text: string, details: object, at: number) => {
    if (!current) return
    const { since, failures } = current
    log[how]({ seconds: Math.round((at - since) / 1000), ...(failures > 0 && { failures }), ...details }, text)
  }
  return {
    isOpen: () => current !== undefined,
    begins: (details) => {
      if (current) return
      current = { since: Date.now(), loggedAt: Date.now(), failures: 0 }
      log[level](details, lines.begins)
    },
    failed: () => {
      if (current) current.failures++
    },
    goesOn: (details, atOnce = false) => {
      const now = Date.now()
      if (!current || (!atOnce && now - current.loggedAt < every)) return
      current.loggedAt = now
      write(level, lines.goesOn, details, now)
    },
    ends: (details = {}, at = Date.now()) => {
      write('warn', lines.ends, details, at)
      current = undefined
    },
  }
}
