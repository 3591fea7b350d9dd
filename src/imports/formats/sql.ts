import { isStorable } from '../../lib/storable.ts'
import { problem, type Problem } from '../../lib/problems/problem.ts'
import { readLink } from '../link.ts'
import { readTime, type Reading } from '../reading.ts'
import { type SourceRecord, UnreadableSource } from '../records.ts'
import { textOf } from './blocks.ts'
import { rowScanner, type SqlRow } from './rows.ts'

const escapes: Readonly<Record<string, string>> = { 0: '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\u001a' }

/** Returns the string that begins at a quote, and where it ends; both quotes and backslashes may be in it. */
const stringAt = (text: string, at: number) => {
  const quote = text[at]!
  const next = (char: string, from: number) => (text.indexOf(char, from) + 1 || Infinity) - 1
  let [value, from, end, slash] = ['', at + 1, next(quote, at + 1), next('\\', at + 1)]
  for (;;) {
    const to = Math.min(end, slash)
    if (to === Infinity) return undefined
    value += text.slice(from, to)
    const after = text[to + 1] ?? ''
    // a part of a row would keep all of it in memory
    if (to === end && after !== quote) return { value: Buffer.from(value).toString(), end: to + 1 }
    value += to === end ? quote : (escapes[after] ?? after)
    from = to + 2
    if (end < from) end = next(quote, from)
    if (slash < from) slash = next('\\', from)
  }
}

/** Returns the text of a hexadecimal literal, as mysqldump writes binary columns; undefined when it is no text. */
const textOfHex = (digits: string) => (digits.length % 2 === 0 ? textOf(Buffer.from(digits, 'hex')) : undefined)

/** Returns the values of a row, without its brackets; undefined when it has something else than values. */
const valuesIn = (text: string): readonly (string | null)[] | undefined => {
  const values: (string | null)[] = []
  const space = /\s*(?:_\w{1,20}\s*(?=['"]|0x|x'))?/iy
  const hex = /0x([\da-f]+)(?!\w)|x'([\da-f]*)'/iy
  const word = /(?:NULL|-?[\w.]{1,100})/iy
  for (let at = 0; ; at++) {
    space.lastIndex = at
    space.exec(text)
    at = space.lastIndex
    const string = text[at] === "'" || text[at] === '"' ? stringAt(text, at) : undefined
    hex.lastIndex = word.lastIndex = at
    const binary = string ? null : hex.exec(text)
    const plain = string || binary ? undefined : word.exec(text)?.[0]
    const value = string?.value ?? (binary ? textOfHex(binary[1] ?? binary[2] ?? '') : plain)
    if (value === undefined) return undefined
    values.push(plain !== undefined && /^null$/i.test(plain) ? null : value)
    at = string ? string.end : binary ? hex.lastIndex : word.lastIndex
    while (/\s/.test(text[at] ?? '')) at++
    if (at >= text.length) return values
    if (text[at] !== ',') return undefined
  }
}

/** The columns of YOURLS, for a dump that does not name them. */
const usual = {
  url: ['keyword', 'url', 'title', 'timestamp', 'ip', 'clicks'],
  log: ['click_id', 'click_time', 'shorturl', 'referrer', 'user_agent', 'ip_address', 'country_code'],
}
/** The tables have a prefix, which is chosen by the operator. */
const columnsOf = ({ table, columns }: SqlRow): readonly string[] | undefined => {
  const known = columns ?? (/url$/i.test(table) ? usual.url : /log$/i.test(table) ? usual.log : [])
  const has = (...needed: string[]) => needed.every((name) => known.includes(name))
  return has('keyword', 'url') || has('click_time', 'shorturl') ? known : undefined
}

const visitOf = (row: ReadonlyMap<string, string | null>, line: number, reading: Reading): SourceRecord => {
  const place = { line }
  const time = readTime(row.get('click_time'), '00:00:00', reading)
  const text = (name: string) => row.get(name)?.trim() || undefined
  const wrong = (found: Problem) => ({ kind: 'problem' as const, place, problem: found })
  if (!time) return wrong(problem('wrong_form', { what: 'moment', field: 'click_time' }))
  const odd = [...row].find(([, value]) => !isStorable(value ?? ''))
  if (odd) return wrong(problem('forbidden_characters', { field: odd[0] }))
  const [referrer, userAgent] = [text('referrer'), text('user_agent')]
  const [address, country] = [text('ip_address'), text('country_code')]
  return {
    kind: 'visit',
    place,
    host: undefined,
    alias: row.get('shorturl') ?? '',
    at: time,
    // YOURLS writes so when there was none
    ...(referrer !== undefined && referrer !== 'direct' && { referrer }),
    ...(userAgent !== undefined && { userAgent }),
    ...(address !== undefined && { address }),
    ...(country !== undefined && { country }),
  }
}

const recordOf = (row: SqlRow, columns: readonly string[], reading: Reading): SourceRecord => {
  const { line } = row
  const wrong = (found: Problem) => ({ kind: 'problem' as const, place: { line }, problem: found })
  if (!row.bytes) return wrong(problem('too_long', { what: 'record' }))
  const text = textOf(row.bytes)
  if (text === undefined) return wrong(problem('wrong_body', { what: 'row_utf8' }))
  const values = valuesIn(text)
  if (values?.length !== columns.length) return wrong(problem('wrong_body', { what: 'row_sql' }))
  const named = columns.map((name, i) => ({ name, value: values[i] ?? null }))
  if (columns.includes('keyword')) return readLink(named, { line }, reading)
  return visitOf(new Map(named.map(({ name, value }) => [name, value])), line, reading)
}

/** Reads the links and visits in a dump of the database of YOURLS, by mysqldump or phpMyAdmin. */
export const readDump = async function* (
  blocks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<SourceRecord> {
  const { scan, isOpen } = rowScanner()
  let isYourls = false
  for await (const block of blocks)
    for (const row of scan(block)) {
      const columns = columnsOf(row)
      if (!columns) continue
      isYourls = true
      yield recordOf(row, columns, reading)
    }
  if (isOpen()) throw new UnreadableSource(problem('wrong_body', { what: 'row_cut' }))
  if (!isYourls) throw new UnreadableSource(problem('wrong_body', { what: 'format' }))
}
