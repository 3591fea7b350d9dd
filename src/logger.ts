import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

const maxLength = 256

/** The name of an error's kind; the class where the name says no more than "error", as in pg. */
const typeOf = ({ name, constructor }: Error) => (/^error$/i.test(name) ? constructor.name : name)

/**
 * Returns what is logged of an error, without its other properties: a parser's error has the request body, a driver's
 * the values.
 */
export const describeError = (value: unknown): object => {
  if (!(value instanceof Error)) return { message: String(value).slice(0, maxLength) }
  const { code } = value as { code?: unknown }
  return {
    type: typeOf(value),
    message: value.message.slice(0, maxLength),
    ...(typeof code === 'string' ? { code } : {}),
    // the lines before repeat the message, which in knex is the whole statement
    stack: value.stack
      ?.match(/^ +at .*/gm)
      ?.slice(0, 11)
      .join('\n'),
    ...(value.cause === undefined ? {} : { cause: describeError(value.cause) }),
  }
}

/** Returns a logger that writes one JSON object per line to standard error. */
export const createLogger = ({ LOG_LEVEL }: Pick<Config, 'LOG_LEVEL'>): Logger =>
  pino(
    {
      level: LOG_LEVEL,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      redact: ['*.password', '*.secret', '*.authorization', 'password', 'secret', 'authorization'],
    },
    pino.destination({ dest: 2, sync: true }),
  )
