import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import type { EventStore } from '../../../events/store.ts'
import { type Subject, subjectOf } from '../../../events/subject.ts'
import { isWithin, itemKey, itemsWithin, type Within } from '../../../queries/streams/membership.ts'
import { presentEvent } from '../../accounts/export/history.ts'
import { shownTo } from '../publicevent.ts'
import { whole } from '../place.ts'
import { type Numbered, openEntries, type Row, type Source, type SourceOptions } from './source.ts'

/** Which events a stream has. */
export interface EventFilter extends Within {
  readonly types?: ReadonlySet<string> | undefined
  /** whether those of the account itself are among them: its keys, its addresses, what counts for it */
  readonly ofAccount: boolean
}

/** Whether the events of a stream can pass, by its name alone. */
const isWanted = (stream: string, { ofAccount }: EventFilter) => {
  const needed = shownTo(stream)
  return needed === 'read' || (needed === 'account' && ofAccount)
}

/** Whether an event is about the campaign, channel or domain itself that a filter names. */
const isNamed = (subject: Subject, { link, campaign, channel, domain, tags }: EventFilter) => {
  const named = Object.entries({ campaign, channel, domain }).filter(([, wanted]) => wanted !== undefined)
  return (
    link === undefined &&
    tags === undefined &&
    named.length > 0 &&
    named.every(([name, wanted]) => subject[name as 'campaign' | 'channel' | 'domain'] === wanted)
  )
}

const pass = async ({ reader, account }: SourceOptions, filter: EventFilter, entries: readonly Numbered[]) => {
  const chosen = entries.filter(({ stream }) => isWanted(stream, filter))
  if (!isWithin(filter)) return chosen
  const subjects = chosen.map((entry) => ({ entry, subject: subjectOf(entry.stream) }))
  const items = subjects.flatMap(({ subject }) => subject.items)
  const found = await itemsWithin(reader, account, filter, items)
  return subjects
    .filter(({ subject }) => isNamed(subject, filter) || subject.items.some((item) => found.has(itemKey(item))))
    .map(({ entry }) => entry)
}

/** The events of an account in log order, without clicks. */
export const eventSource = (options: SourceOptions, filter: EventFilter, read: EventStore['read']): Source => {
  const entries = openEntries('events', options)
  const readOne = async ({ stream, revision }: Numbered): Promise<Recorded<LogEvent> | undefined> => {
    for await (const event of read(stream, revision, 1)) return event
    return undefined
  }
  const rowOf = async (entry: Numbered): Promise<readonly Row[]> => {
    const { ordinal, position } = entry
    const event = await readOne(entry)
    if (!event || (filter.types && !filter.types.has(event.type))) return []
    const value = { event: ordinal, ...presentEvent(event) }
    return [{ place: { position, index: whole }, id: String(ordinal), value }]
  }
  return {
    isPending: entries.isPending,
    next: async (after) => {
      const found = await entries.after(after)
      const last = found.at(-1)
      if (!last) return undefined
      const wanted = await pass(options, filter, found)
      const rows = (await Promise.all(wanted.map(rowOf))).flat()
      return { rows, end: { position: last.position, index: whole } }
    },
  }
}
