import { randomUUID } from 'node:crypto'
import { sentenceOf } from '../lib/problems/problem.ts'
import type { Place, SourceLink, SourceRecord } from './records.ts'
import { hasEnded, type Row, rowsOf } from './row.ts'

/** What became of a link: `kept` had been there with the same destination. */
export type Outcome = 'created' | 'kept' | 'skipped' | 'renamed' | 'failed'

/** A line of the report: what became of a link, and what of it was left out. */
export interface Reported {
  readonly place: Place
  readonly outcome: Outcome | 'noted'
  /** its alias in the source; undefined: it has none, or this is about the whole source */
  readonly alias?: string | undefined
  readonly url?: string
  /** why, as sentences; empty: there is nothing to say */
  readonly message: string
  /** fields that have no counterpart here, by their names there */
  readonly left?: readonly string[]
}

export interface UploadOptions {
  /** Sends a request to the API, and returns the answer once it is no refusal for a while (429, 503). */
  readonly ask: (method: 'GET' | 'POST', path: string, body?: object, key?: string) => Promise<Answer>
  /** what the service is called that the links come from */
  readonly source: string
  readonly dryRun: boolean
  readonly onConflict: 'skip' | 'rename' | 'fail'
  /** the domain here for each host there; empty: that of the service */
  readonly domains: ReadonlyMap<string, string>
  readonly report: (line: Reported) => void
}
export interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** An answer by which nothing more can be imported. */
export class UploadStopped extends Error {
  override readonly name = 'UploadStopped'
}

/** links that are sorted by their dates together: those of most exports come newest first */
const sortedAtOnce = 200_000
/** rows of one request, of which so many may have a password */
const [rowsAtOnce, passwordsAtOnce, bytesAtOnce] = [500, 50, 2 * 1024 * 1024]
/** names that are tried for an alias that is taken */
const renames = 20

interface Result {
  readonly error: 0 | 1
  readonly message?: string
  readonly code?: string
  readonly field?: string
}

/** Fields of a row that a link can do without, and is open to no one else then. */
const optional: ReadonlySet<string> = new Set([
  ...['title', 'description', 'tags', 'date', 'clicks', 'uniqueclicks'],
  ...['geotarget', 'devicetarget', 'languagetarget'],
])

const isConflict = ({ code, field }: Result) => field === 'custom' && code !== undefined

/** Splits rows into those of one request each. */
const inRequests = function* (rows: readonly Row[]): Generator<readonly Row[]> {
  let [some, passwords, bytes]: [Row[], number, number] = [[], 0, 0]
  for (const row of rows) {
    const size = JSON.stringify(row.body).length
    const own = row.body['password'] === undefined ? 0 : 1
    const isFull = some.length === rowsAtOnce || passwords + own > passwordsAtOnce || bytes + size > bytesAtOnce
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

/** Sends rows, and returns what became of each. They are stored once, also when the request has to be sent again. */
const send = async (rows: readonly Row[], { ask, dryRun }: UploadOptions): Promise<readonly Result[]> => {
  const bodies = rows.map(({ body }) => body)
  const { status, json } = await ask(
    'POST',
    `/api/urls/bulk?op=create&dryRun=${dryRun}`,
    { rows: bodies },
    randomUUID(),
  )
  if (status !== 200) throw new UploadStopped(`the service answered ${status}: ${String(json['message'])}`)
  return json['rows'] as readonly Result[]
}

/** Whether the alias of a row leads to the same destination already. */
const isThere = async ({ body }: Row, { ask }: UploadOptions) => {
  const { custom = '', domain = '', url } = body as Readonly<Record<string, string>>
  const short = encodeURIComponent(domain === '' ? custom : `${domain.replace(/^https?:\/\//, '')}/${custom}`)
  const { json } = await ask('GET', `/api/urls?short=${short}`)
  return (json['details'] as { readonly longurl?: string } | undefined)?.longurl === url
}

/** Imports one row whose alias is taken, or that has a field which cannot be as it is. */
const again = async (row: Row, first: Result, options: UploadOptions): Promise<void> => {
  const { onConflict, report } = options
  const about = { place: row.place, alias: row.alias, url: row.url, left: row.left }
  const notes: string[] = [...row.notes]
  let [now, result, name] = [row, first, 1]
  while (result.error === 1) {
    const { code, field = '', message = '' } = result
    const [top = ''] = field.split('.')
    if (isConflict(result)) {
      if (code === 'taken' && name === 1 && (await isThere(row, options)))
        return report({ ...about, outcome: 'kept', message: '' })
      if (onConflict === 'fail') throw new UploadStopped(`${String(row.body['custom'])}: ${message}`)
      if (onConflict === 'skip' || ++name > renames) return report({ ...about, outcome: 'skipped', message })
      // an alias that is not possible here gets a random one
      const custom = code === 'taken' ? `${row.alias}-${name}` : undefined
      now = { ...now, body: { ...now.body, custom } }
      notes.push(message)
    } else if (optional.has(top) && now.body[top] !== undefined) {
      const { [top]: _, ...body } = now.body
      now = { ...now, body }
      notes.push(`Left out: ${message}`)
    } else return report({ ...about, outcome: 'failed', message })
    result = (await send([now], options))[0]!
  }
  report({ ...about, outcome: name > 1 ? 'renamed' : 'created', message: notes.join(' ') })
}

const upload = async (links: readonly SourceLink[], options: UploadOptions) => {
  const oldestFirst = links.toSorted((a, b) => (a.created ?? '9999').localeCompare(b.created ?? '9999'))
  const [ended, open] = [oldestFirst.filter(hasEnded), oldestFirst.filter((link) => !hasEnded(link))]
  for (const { addresses, place, url } of ended)
    options.report({ place, alias: addresses[0]?.alias, url, outcome: 'skipped', message: 'It has ended there.' })
  const rows = open.flatMap((link) => rowsOf(link, options))
  for (const some of inRequests(rows)) {
    const results = await send(some, options)
    for (const [n, row] of some.entries()) {
      const result = results[n]!
      if (result.error === 1) await again(row, result, options)
      else {
        const { place, alias, url, notes, left } = row
        options.report({ place, alias, url, left, outcome: 'created', message: notes.join(' ') })
      }
    }
  }
}

/**
 * Creates the links of a source by the API, oldest first. What has no counterpart is reported, and so is each link that
 * is not created. Throws `UploadStopped`.
 */
export const uploadRecords = async (records: AsyncIterable<SourceRecord>, options: UploadOptions): Promise<void> => {
  const { report } = options
  let links: SourceLink[] = []
  let visits = 0
  for await (const record of records)
    switch (record.kind) {
      case 'link':
        links.push(record)
        if (links.length < sortedAtOnce) break
        await upload(links, options)
        links = []
        break
      case 'visit':
        visits++
        break
      case 'problem':
        report({ place: record.place, outcome: 'failed', message: sentenceOf(record.problem) })
        break
      case 'notice':
        report({ place: { line: 1 }, outcome: 'noted', message: noticeOf(record) })
    }
  await upload(links, options)
  if (visits > 0)
    report({
      place: { line: 1 },
      outcome: 'noted',
      message: `${visits} single visits are not imported: their number is in the clicks of their links.`,
    })
}

const noticeOf = ({ notice, params }: Extract<SourceRecord, { kind: 'notice' }>) => {
  switch (notice) {
    case 'unknown_column':
      return `The column "${params['column']}" is not known, and is left out.`
    case 'cut':
      return `The service ends its exports after ${params['records']} links: there may be more.`
    case 'no_zone':
      return `Times without a zone count as ${params['zone']}: --timezone names another one.`
    case 'left_out':
      return `"${params['folder']}" of the archive is not imported.`
  }
}
