import type { Logger } from 'pino'
import { withTimeout } from '../../lib/async/timeout.ts'
import { createIncident, type Incident } from '../../lib/incident.ts'
import { randomReference } from '../../lib/reference.ts'
import { failedPart, type Part, reasonOf, Unavailable } from '../../lib/unavailable.ts'
import type { engineOf } from '../log/postgres.ts'

/** What has an outage, by its name in the log. */
type Name = 'PostgreSQL' | 'EventStoreDB' | 'Kafka' | 'Linkledger'

/** Logs each outage with a line when it begins, one now and then, and one when it ends, instead of each failure. */
export interface Outages {
  /** The log of the process. Failures that belong to an outage are counted there, and not written. */
  readonly log: Logger
  /**
   * Counts a failure and returns the reference of its outage, which the log has; undefined when it belongs to none.
   * `what` says what has failed.
   */
  readonly failed: (error: unknown, what: string, details?: object) => string | undefined
  /** Names what finds out whether an outage is over: it rejects until then. */
  readonly watch: (name: Name, answers: () => Promise<unknown>) => void
  readonly close: () => void
}

interface OutageOptions {
  /** which engine has the log */
  readonly engine: ReturnType<typeof engineOf>
  /** ms between two lines of an outage */
  readonly every?: number
  /** ms between two looks whether it is over */
  readonly interval?: number
  /** ms without a failure after which it is over; many times as long where nothing can be asked */
  readonly settle?: number
}

/** ms of a look */
const lookMs = 2000

const linesOf = (name: Name) => {
  const works = name === 'Linkledger' ? 'requests are answered again' : `${name} works again`
  const fails = name === 'Linkledger' ? 'requests are answered with 503' : `${name} fails`
  return {
    begins: `${fails}: further failures are counted until the end, and not logged one by one`,
    goesOn: `${fails} still`,
    ends: works,
  }
}

/** By part: how it is called in the log. */
const namesWith = ({ engine }: OutageOptions): Readonly<Record<Part, Name>> => ({
  PostgreSQL: 'PostgreSQL',
  log: engine === 'eventstoredb' ? 'EventStoreDB' : 'PostgreSQL',
  Kafka: 'Kafka',
  Linkledger: 'Linkledger',
})

/** Whether an error says only that something took too long, which may be an engine that fails. */
const isSlow = (error: unknown) => error instanceof Unavailable && error.name === 'Unavailable'

const messageOf = (error: unknown) => reasonOf(error).slice(0, 256)

/** The outages of one name. `answers` finds out whether one is over. */
const createOutage = (incident: Incident, settle: number, answers: () => (() => Promise<unknown>) | undefined) => {
  let [reference, last] = ['', '']
  /** since when it answers, in ms since 1970; undefined while it does not */
  let answeredAt: number | undefined

  const endIfSettled = async () => {
    const ask = answers()
    if (ask) await withTimeout(lookMs, ask())
    answeredAt ??= Date.now()
    // without anything to ask, silence has to say it
    if (Date.now() - answeredAt >= (ask ? settle : 15 * settle)) incident.ends({ reference }, answeredAt)
  }
  return {
    isOpen: incident.isOpen,
    failed: (error: unknown, what: string, details: object) => {
      if (!incident.isOpen()) reference = randomReference()
      incident.begins({ ...details, err: error, what, reference })
      incident.failed()
      last = messageOf(error)
      answeredAt = undefined
      return reference
    },
    look: async () => {
      if (!incident.isOpen()) return
      incident.goesOn({ last, reference })
      await endIfSettled().catch(() => (answeredAt = undefined))
    },
    stop: () => incident.goesOn({ last, reference }, true),
  }
}

/** Opens the log of a process in which outages are counted. */
export const openOutages = (log: Logger, options: OutageOptions): Outages => {
  const { every, interval = 1000, settle = 2000 } = options
  const names = namesWith(options)
  const watched = new Map<Name, () => Promise<unknown>>()
  const outages = new Map<Name, ReturnType<typeof createOutage>>()
  const open = () => [...outages.values()].find(({ isOpen }) => isOpen())
  let timer: NodeJS.Timeout | undefined

  const outageOf = (name: Name) => {
    const incident = () => createIncident({ log, level: 'error', lines: linesOf(name), every })
    const outage = outages.get(name) ?? createOutage(incident(), settle, () => watched.get(name))
    outages.set(name, outage)
    return outage
  }
  let looking: Promise<unknown> | undefined
  const lookAtAll = async () => {
    await Promise.all([...outages.values()].map(({ look }) => look()))
    looking = undefined
    if (open()) return
    clearInterval(timer)
    timer = undefined
  }

  const failed: Outages['failed'] = (error, what, details = {}) => {
    const part = failedPart(error)
    if (part === undefined) return undefined
    timer ??= setInterval(() => void (looking ??= lookAtAll()), interval).unref()
    return ((isSlow(error) && open()) || outageOf(names[part])).failed(error, what, details)
  }
  return {
    log: counting(log, failed),
    failed,
    watch: (name, answers) => void watched.set(name, answers),
    close: () => {
      clearInterval(timer)
      for (const { stop } of outages.values()) stop()
    },
  }
}

/** Returns a logger that passes each logged error to `failed`. */
const counting = (log: Logger, failed: Outages['failed']): Logger => {
  const write = (level: 'warn' | 'error') => (details: object | string, message?: string) => {
    if (typeof details === 'string') return log[level](details)
    const { err, ...rest } = details as { readonly err?: unknown }
    if (failed(err, message ?? '', rest) === undefined) log[level](details, message)
    else log.debug(details, message)
  }
  return Object.assign(Object.create(log) as Logger, { warn: write('warn'), error: write('error') })
}
