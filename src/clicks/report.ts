import type { Logger } from 'pino'
import { failedPart } from '../lib/unavailable.ts'

/** Writes one line to the log. `details` become its fields; an error goes under `err`. */
export type Log = (level: 'debug' | 'warn' | 'error', message: string, details: object) => void

/** Reports that something failed which the pipeline keeps retrying; `what` says what it means for the clicks. */
export type OnProblem = (error: unknown, what: string) => void

/** Whether a failure has to be reported: each one of an outage, in which they are counted, and others once in a row. */
export const isNews = (error: unknown, text: string, before: string | undefined): boolean =>
  text !== before || failedPart(error) !== undefined

export const logTo =
  (logger: Pick<Logger, 'debug' | 'warn' | 'error'>): Log =>
  (level, message, details) =>
    logger[level](details, message)

export const problemsTo =
  (logger: Pick<Logger, 'error'>): OnProblem =>
  (error, what) =>
    logger.error({ err: error }, what)
