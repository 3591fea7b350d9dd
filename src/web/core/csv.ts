import { csvLine } from '../../lib/csv.ts'
import { localTime } from '../../lib/zone.ts'
import { moment, zone } from './time.ts'

/** What a cell of a table may have; a list is written with spaces. */
export type Cell = string | number | boolean | readonly string[]

const flat = (value: Cell) => (typeof value === 'object' ? value.join(' ') : value)

/** Returns rows as CSV (RFC 4180), with a byte order mark, by which spreadsheets recognise UTF-8. */
export const csvOf = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  `\ufeff${[columns, ...rows].map((row) => csvLine(row.map(flat))).join('\r\n')}\r\n`

/** Returns what clocks of the reader have shown at a timestamp of the API, with their difference to UTC. */
export const localCell = (timestamp: string): string => localTime(zone.value, moment(timestamp).getTime())

/** Offers a file to be saved. */
export const saveFile = (name: string, content: string | Blob, type = 'text/csv;charset=utf-8'): void => {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
