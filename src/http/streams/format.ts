import { csvLine } from '../../lib/csv.ts'
import type { PublicClick } from './publicevent.ts'

/** A line before it has a form. */
export interface Line {
  readonly id: string
  readonly value: object
}

/** How a stream writes its lines. */
export interface Format {
  readonly name: 'ndjson' | 'sse' | 'csv'
  readonly type: string
  /** Returns the beginning. `id` is where the stream begins, undefined before the first event. */
  readonly head: (id: string | undefined) => string
  readonly line: (line: Line) => string
  /** Returns a sign that the connection is alive. `id` is the place that the stream has reached, if new. */
  readonly beat: (id: string | undefined) => string
  /** Returns the last line for a client that should reconnect. */
  readonly end: () => string
}

/** ms after which a client reconnects: a range, so that not all of them come at once */
const [retryFrom, retryTo] = [1000, 5000]

const ndjson: Format = {
  name: 'ndjson',
  type: 'application/x-ndjson; charset=utf-8',
  head: () => '',
  line: ({ value }) => `${JSON.stringify(value)}\n`,
  // between two lines, white space that every reader of JSON skips
  beat: () => '\n',
  end: () => '',
}

const resume = (id: string | undefined) => (id === undefined ? '' : `id: ${id}\n`)

const sse: Format = {
  name: 'sse',
  type: 'text/event-stream; charset=utf-8',
  // clients keep an id without data, and show no event
  head: (id) => `retry: ${retryFrom}\n${resume(id)}\n`,
  line: ({ id, value }) => `id: ${id}\ndata: ${JSON.stringify(value)}\n\n`,
  beat: (id) => `:\n${resume(id)}\n`,
  end: () => `retry: ${Math.round(retryFrom + Math.random() * (retryTo - retryFrom))}\n\n`,
}

const columns: Readonly<Record<string, (click: PublicClick) => string | number | undefined>> = {
  id: ({ id }) => id,
  event: ({ event }) => event,
  index: ({ index }) => index,
  at: ({ at }) => at,
  account: ({ account }) => account,
  link: ({ link }) => link,
  revision: ({ revision }) => revision,
  destination: ({ destination }) => destination,
  rule: ({ rule }) => rule,
  source: ({ source }) => source.kind,
  source_id: ({ source }) => source.id,
  source_entry: ({ source }) => source.entry,
  country: ({ country }) => country,
  language: ({ language }) => language,
  languages: ({ languages }) => languages?.join(' '),
  referrer: ({ referrer }) => referrer,
  browser: ({ browser }) => browser.family,
  browser_version: ({ browser }) => browser.version,
  os: ({ os }) => os.family,
  os_version: ({ os }) => os.version,
  device: ({ device }) => device,
  class: (click) => click.class,
  bot: ({ bot }) => bot,
  agent: ({ agent }) => agent,
  visitor: ({ visitor }) => visitor,
  rules: ({ rules }) => rules,
  medium: ({ medium }) => medium,
}

/** RFC 4180, with a header. */
const csv: Format = {
  name: 'csv',
  type: 'text/csv; charset=utf-8; header=present',
  head: () => `${Object.keys(columns).join()}\r\n`,
  line: ({ value }) => `${csvLine(Object.values(columns).map((of) => of(value as PublicClick)))}\r\n`,
  beat: () => '',
  end: () => '',
}

export const formats = { ndjson, sse, csv } as const

/** The content types of the formats, in requests of clients. */
export const types = {
  ndjson: 'application/x-ndjson',
  sse: 'text/event-stream',
  csv: 'text/csv',
} as const satisfies Readonly<Record<Format['name'], string>>
