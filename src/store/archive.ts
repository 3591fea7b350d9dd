import { stat } from 'node:fs/promises'
import { z } from 'zod'
import type { LogEvent } from '../events/index.ts'
import type { Recorded } from '../events/event.ts'
import { damaged, type Entry, type NumberedEntry, readChain } from '../lib/chain.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { type ReadableFile, readBytes } from '../lib/streamfile.ts'
import type { CopyProgress, LogSource } from './copy.ts'
import type { Opening } from './open.ts'

type AnyEvent = Recorded<LogEvent>

/** increases when an older release could not read the file; docs/archive.md describes it */
const format = 1

const Header = z.object({
  format: z.int(),
  /** `log`: the events only; `backup`: also what belongs to them */
  kind: z.enum(['log', 'backup']),
  /** id of the log */
  log: z.uuid(),
  /** of a backup: when its log was read, ISO 8601 in UTC, and the release that wrote it */
  created: z.string().optional(),
  release: z.string().optional(),
})
export type Header = Readonly<z.infer<typeof Header>>

const ArchivedEvent = z.object({
  stream: z.string(),
  revision: z.int(),
  id: z.uuid(),
  type: z.string(),
  data: z.unknown(),
  metadata: z.unknown(),
})
const End = z.record(z.string(), z.int())

/** The file is sound, and cannot be used here. */
export class WrongArchive extends OperatorError {
  override readonly name = 'WrongArchive'
}

export const headerEntry = (header: Omit<Header, 'format'>): Entry => ['header', { format, ...header }]

/** The events of a log as entries. Positions are left out: they differ between engines. */
export const eventEntries = async function* (
  source: LogSource,
  onProgress: (progress: CopyProgress) => void,
): AsyncGenerator<readonly Entry[]> {
  for await (const events of source.pages()) {
    yield events.map(({ stream, revision, id, type, data, metadata }) => [
      'event',
      { stream, revision: Number(revision), id, type, data, metadata },
    ])
    onProgress({ position: events.at(-1)!.position, head: source.head })
  }
}

/** Adds the last entry, which counts those of each kind. */
export const withEnd = async function* (entries: AsyncIterable<readonly Entry[]>): AsyncGenerator<readonly Entry[]> {
  const counts: Record<string, number> = {}
  for await (const some of entries) {
    for (const [kind] of some) counts[kind] = (counts[kind] ?? 0) + 1
    yield some
  }
  yield [['end', counts]]
}

/** What the check of a whole file has found. */
export interface Archive {
  readonly header: Header
  readonly opening: Opening
  /** number of events */
  readonly events: number
}

const parse = <T>(schema: z.ZodType<T>, { line, kind, value }: NumberedEntry, name: string): T => {
  const { data, error } = schema.safeParse(value)
  if (error) throw damaged(name, line, `it has no valid \`${kind}\``, error)
  return data as T
}

const headerOf = (entry: NumberedEntry, name: string): Header => {
  const version = (entry.value as { readonly format?: unknown } | null)?.format
  if (entry.kind !== 'header' || typeof version !== 'number')
    throw new WrongArchive(`${name} is not a file of \`linkledger log export\` or \`linkledger backup\``)
  if (version > format)
    throw new WrongArchive(`${name} was written by a newer release of Linkledger: import it with that one`)
  return parse(Header, entry, name)
}

const eventOf = (entry: NumberedEntry, name: string, position: bigint): AnyEvent => {
  const { revision, metadata, ...event } = parse(ArchivedEvent, entry, name)
  const { at } = metadata as { readonly at: string }
  // read as stored, since a newer release may have written it
  return { ...event, metadata, revision: BigInt(revision), position, at } as AnyEvent
}

/**
 * Reads a whole file and checks each line and the number of entries, so that a damaged one is recognized before
 * anything is stored. Entries that are neither events nor images are passed to `onEntry`. Throws `DamagedFile`,
 * `WrongArchive`.
 */
export const checkArchive = async (
  { path, name }: ReadableFile,
  onEntry: (entry: NumberedEntry) => void = ({ kind, line }) => {
    throw damaged(name, line, `\`${kind}\` is of no known kind`)
  },
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<Archive> => {
  let header: Header | undefined
  let opening: AnyEvent | undefined
  const counts: Record<string, number> = {}
  let [isEnded, last] = [false, 0]
  const check = (entry: NumberedEntry) => {
    const { kind, line } = entry
    last = line
    if (isEnded) throw damaged(name, line, 'the file should have ended before it')
    header ??= headerOf(entry, name)
    if (kind === 'end') {
      const expected = parse(End, entry, name)
      for (const one of new Set([...Object.keys(counts), ...Object.keys(expected)]))
        if (counts[one] !== expected[one]) throw damaged(name, line, `the number of entries \`${one}\` does not match`)
      isEnded = true
      return
    }
    counts[kind] = (counts[kind] ?? 0) + 1
    if (kind === 'event') opening ??= eventOf(entry, name, 1n)
    else if (kind !== 'header' && kind !== 'image') onEntry(entry)
  }
  const head = BigInt((await stat(path).catch(() => undefined))?.size ?? 0)
  const bytes = readBytes(path, (read) => onProgress({ position: BigInt(read), head }))
  for await (const entries of readChain(bytes, name)) entries.forEach(check)
  if (!header || !isEnded) throw damaged(name, last + 1, 'the end of the file is missing')
  if (opening?.type !== 'LogOpened') throw new WrongArchive(`${name} has no log: its first event must be LogOpened`)
  return { header, opening, events: counts['event'] ?? 0 }
}

/** The entries of a file that were checked before. */
export const entriesOf = ({ path, name }: ReadableFile) => readChain(readBytes(path), name)

/** The log in a file that was checked before. Positions count from 1. */
export const sourceIn = (file: ReadableFile, { header, events }: Archive): LogSource => ({
  logId: header.log,
  head: BigInt(events),
  pages: async function* () {
    let position = 0n
    for await (const entries of entriesOf(file)) {
      const page = entries.filter(({ kind }) => kind === 'event').map((one) => eventOf(one, file.name, ++position))
      if (page.length > 0) yield page
    }
  },
})
