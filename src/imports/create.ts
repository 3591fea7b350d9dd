import {
  ConflictFound,
  type Imported,
  type Importing,
  type OnConflict,
  type Reported,
  type Result,
  TryAgain,
} from './importing.ts'
import { ownFields } from './records.ts'
import type { Report } from './report.ts'
import type { Row } from './row.ts'

/** rows that are created together, the number of them that may have a password, and their bytes */
const [rowsAtOnce, passwordsAtOnce, bytesAtOnce] = [500, 50, 2 * 1024 * 1024]
/** rows that are created together when a conflict ends the import: rows behind the conflict are created, too */
const rowsBeforeConflict = 20
/** names to try when an alias is taken */
const renames = 20
/** s until rows are tried again, and the maximum number of tries */
const [pause, mostTries] = [5, 200]

/** Fields that an import may drop: without them, the link opens to no more visitors. */
const optional: ReadonlySet<string> = new Set<string>([
  ...['title', 'description', 'tags', 'date', 'clicks', 'uniqueclicks'],
  ...['geotarget', 'devicetarget', 'languagetarget', ...ownFields],
])

const isConflict = ({ code, field }: Result) => field === 'custom' && code !== undefined

/** Splits rows into those that are created together. */
export const inBatches = function* (rows: readonly Row[], onConflict: OnConflict): Generator<readonly Row[]> {
  const most = onConflict === 'fail' ? rowsBeforeConflict : rowsAtOnce
  let [some, passwords, bytes]: [Row[], number, number] = [[], 0, 0]
  for (const row of rows) {
    const size = JSON.stringify(row.body).length
    const own = row.body['password'] === undefined ? 0 : 1
    const isFull = some.length === most || passwords + own > passwordsAtOnce || bytes + size > bytesAtOnce
    if (isFull && some.length > 0) {
      yield some
      ;[some, passwords, bytes] = [[], 0, 0]
    }
    some.push(row)
    passwords += own
    bytes += size
  }
  if (some.length > 0) yield some
}

/** A result whose link existed before. */
export type Made = Result & { readonly before?: true }

/**
 * Returns the links that rows without an alias have created before: before an interruption, or in an earlier import.
 */
const findCreated = async (rows: readonly Row[], importing: Importing, { has }: Report) => {
  // those with an alias are found by it
  const plain = rows.filter(({ body, main }) => body['custom'] === undefined && main === undefined)
  const found = new Map<Row, Made>()
  if (plain.length === 0) return found
  const there = (await importing.findImported([...new Set(plain.map(({ url }) => url))])).filter(({ id }) => !has(id))
  const left = new Map<string, Imported[]>()
  for (const { url, ...one } of there) left.set(url, [...(left.get(url) ?? []), one])
  for (const row of plain) {
    const first = left.get(row.url)?.shift()
    if (first) found.set(row, { error: 0, id: first.id, ...(!first.own && { before: true }) })
  }
  return found
}

/** Creates rows, and retries while that is not possible. */
export const createAll = async (
  rows: readonly Row[],
  importing: Importing,
  report: Report,
): Promise<readonly Made[]> => {
  for (let n = 1; ; n++) {
    const made = await findCreated(rows, importing, report)
    const open = rows.filter((row) => !made.has(row))
    try {
      for (const [i, result] of (await importing.create(open)).entries()) made.set(open[i]!, result)
      return rows.map((row) => made.get(row)!)
    } catch (error) {
      if (!(error instanceof TryAgain) || n === mostTries) throw error
      await importing.wait(pause)
    }
  }
}

/**
 * Imports one row whose alias is taken, or that has an invalid field. Calls `onEnd` for a conflict that ends the
 * import, once the report has a line for all links that were created with the row.
 */
export const createAgain = async (
  row: Row,
  first: Made,
  importing: Importing,
  report: Report,
  onEnd: (found: ConflictFound) => void,
): Promise<Reported> => {
  const { find, onConflict } = importing
  const about = { place: row.place, alias: row.alias, url: row.url, left: row.left }
  const notes: string[] = [...row.notes]
  let [now, result, name] = [row, first, 1]
  const ended = () => (name > 1 ? 'renamed' : 'created')
  while (result.error === 1) {
    const { code, field = '', message = '', params = {} } = result
    const [top = ''] = field.split('.')
    if (isConflict(result)) {
      const there = code === 'taken' ? await find(now) : undefined
      // a link of another record of the source is a conflict
      if (there?.url === row.url && (there.id === row.of || !report.has(there.id)))
        return there.own
          ? { ...about, outcome: ended(), message: notes.join(' '), link: there.id }
          : { ...about, outcome: 'kept', message: '', link: there.id }
      if (onConflict === 'fail') onEnd(new ConflictFound({ code: code!, field, params }))
      if (onConflict !== 'rename' || ++name > renames) return { ...about, outcome: 'conflict', message }
      // an alias that is invalid here becomes a random one
      const custom = code === 'taken' ? `${row.alias}-${name}` : undefined
      now = { ...now, body: { ...now.body, custom } }
      notes.push(message)
    } else if (optional.has(top) && now.body[top] !== undefined) {
      const { [top]: _, ...body } = now.body
      now = { ...now, body }
      notes.push(`Left out: ${message}`)
    } else return { ...about, outcome: 'failed', message }
    result = (await createAll([now], importing, report))[0]!
  }
  return { ...about, outcome: result.before ? 'kept' : ended(), message: notes.join(' '), link: result.id }
}
