import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

const longest = 256

/** What an error says, without what came with it: a parser's error carries the body, a driver's the statement's values. */
const error = (value: unknown): object => {
  if (!(value instanceof Error)) return { message: String(value).slice(0, longest) }
  const { code } = value as { code?: unknown }
  return {
    type: value.name,
    message: value.message.slice(0, longest),
    ...(typeof code === 'string' ? { code } : {}),
    // the lines before are the message once more: of knex a whole statement
    stack: value.stack
      ?.match(/^ +at .*/gm)
      ?.slice(0, 11)
      .join('\n'),
    ...(value.cause === undefined ? {} : { cause: error(value.cause) }),
  }
}

/** One JSON object a line, on standard error. */
export const createLogger = ({ LOG_LEVEL }: Pick<Config, 'LOG_LEVEL'>): Logger =>
  pino(
    {
      level: LOG_LEVEL,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: error },
      redact: ['*.password', '*.secret', '*.authorization', 'password', 'secret', 'authorization'],
    },
    pino.destination({ dest: 2, sync: true }),
  )
