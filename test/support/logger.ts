import { pino } from 'pino'
import { describeError } from '../../src/logger.ts'

export interface Line {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** Returns a logger that keeps its lines, from a level on. */
export const keepLines = (level = 'warn') => {
  const lines: Line[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Line)
  return { lines: lines as readonly Line[], logger: pino({ level, serializers: { err: describeError } }, { write }) }
}
