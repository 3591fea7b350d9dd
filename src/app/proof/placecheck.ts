import { isTime } from '../../events/proof/leaf.ts'
import { nameOfOrdinal, nameOfStream } from '../../events/naming.ts'
import type { StoredLog } from '../../events/store.ts'
import type { Database } from '../../postgres/database.ts'
import { findFractions, findHidden, findJumps, type Hidden } from '../../store/postgres/jumps.ts'
import { isNoted, notedPositions } from '../../store/postgres/reclassified.ts'
import type { Finding } from './finding.ts'
import type { Invalid } from './leafhash.ts'
import type { Named } from './treecheck.ts'

/** Checks what no leaf has: whether each event is where readers look for it, and its time where the log's clock was. */
export interface PlaceCheck {
  /** `invalid` is what is known to be wrong with some of the events. */
  readonly take: (first: number, events: readonly Named[], invalid: readonly Invalid[]) => void
  readonly end: () => Promise<void>
}

type Report = (finding: Finding) => void

/** Says that an event leaves out revisions of its stream. No append of the service does. */
const jumpOf = (ordinal: number, event: Named, before: bigint): Finding => {
  const [first, last] = [before + 1n, BigInt(event.revision) - 1n]
  const missing = first === last ? `revision ${first} is` : `revisions ${first} to ${last} are`
  const name = nameOfStream(event.stream)
  return {
    of: 'log',
    ordinal,
    text: `${nameOfOrdinal(ordinal, event)} leaves out what was before it: of ${name} the ${missing} missing. They were removed, or something else than the service has added this event`,
  }
}

/** Says that an event is in its stream and not in the log. */
const hiddenOf = (event: Hidden): Finding => ({
  of: 'log',
  ordinal: 0,
  text: `${nameOfOrdinal(undefined, event)} is before the first position, where no tree and no checkpoint has it, and commands read it: something else than the service has added or moved it`,
})

/** Says that an event has what the service stores in none. */
const invalidOf = (ordinal: number, event: Named, why: string): Finding => ({
  of: 'log',
  ordinal,
  text: `${nameOfOrdinal(ordinal, event)} has ${why}: something else than the service has changed or added it`,
})

/** Returns the events whose time is none, as PostgreSQL can store it. */
const timeless = (events: readonly Named[]): readonly Invalid[] =>
  events.flatMap(({ at }, index) => (isTime(at) ? [] : [{ index, why: 'a time that is none' }]))

/** Returns the events whose time differs from that of their leaf by less than a millisecond. */
const fractional = (events: readonly Named[], found: ReadonlySet<bigint>): readonly Invalid[] =>
  events.flatMap(({ position, at }, index) =>
    found.has(position) ? [{ index, why: `a time with a part of a millisecond (after ${at})` }] : [],
  )

/** events with an earlier time that are named: after one whose time is too late, all have one */
const mostEarlier = 100

/** Finds the events that are earlier than one before them. An append gives none such a time, and a leaf hides it. */
const earlierEvents = () => {
  let [latest, left] = ['', mostEarlier]
  return (events: readonly Named[]): readonly Invalid[] =>
    events.flatMap(({ at }, index) => {
      if (!isTime(at) || at >= latest) {
        if (isTime(at)) latest = at
        return []
      }
      return left-- > 0 ? [{ index, why: `a time (${at}) before that of the events before it (${latest})` }] : []
    })
}

/** events that are not at their place in the log, and named */
const mostMoved = 100

/** Finds positions that no event has. An append leaves none out, and an event's number comes from its position. */
const movedEvents = () => {
  let [expected, left] = [1n, mostMoved]
  return (events: readonly Named[]): readonly Invalid[] =>
    events.flatMap(({ position }, index) => {
      const missing = position - expected
      expected = position + 1n
      if (missing === 0n || left-- <= 0) return []
      const before =
        missing === 1n ? 'a position before it that no event has' : `${missing} positions before it that no event has`
      return [{ index, why: `position ${position}, and ${before}` }]
    })
}

/** Compares the list by which readers of clicks find some events with the events. */
const createNotedCheck = (db: Database, report: Report) => {
  const events = new Map<bigint, Pick<Named, 'type' | 'stream' | 'revision'> & { readonly ordinal: number }>()
  let last = 0n
  const cure = '`linkledger rebuild` makes the list again'
  return {
    take: (ordinal: number, { position, type, stream, revision }: Named): void => {
      last = position
      if (isNoted(type)) events.set(position, { ordinal, type, stream, revision })
    },
    end: async (): Promise<void> => {
      for (const position of await notedPositions(db))
        // what was stored after the events that were read is not judged
        if (!events.delete(position) && position <= last)
          report({
            of: 'log',
            ordinal: 0,
            text: `log.reclassified has position ${position}, which it should not: ${cure}`,
          })
      for (const [position, { ordinal, ...event }] of events) {
        const name = nameOfOrdinal(ordinal, { ...event, position })
        const text = `${name} is not in log.reclassified, where readers of clicks look for it: ${cure}`
        report({ of: 'log', ordinal, text })
      }
    },
  }
}

/** Begins the check. On EventStoreDB, the server keeps the places and times of events. */
export const openPlaceCheck = async (
  { db, stored }: { readonly db: Database; readonly stored: StoredLog },
  report: Report,
): Promise<PlaceCheck> => {
  if (!stored.texts)
    return {
      take: (first, events, invalid) => {
        for (const { index, why } of [...invalid, ...timeless(events)])
          report(invalidOf(first + index, events[index]!, why))
      },
      end: async () => {},
    }
  const jumps = new Map((await findJumps(db)).map(({ position, before }) => [position, before]))
  for (const hidden of await findHidden(db)) report(hiddenOf(hidden))
  const fractions = await findFractions(db)
  const [earlier, moved] = [earlierEvents(), movedEvents()]
  const noted = createNotedCheck(db, report)
  return {
    take: (first, events, invalid) => {
      for (const { index, why } of [
        ...invalid,
        ...timeless(events),
        ...fractional(events, fractions),
        ...earlier(events),
        ...moved(events),
      ])
        report(invalidOf(first + index, events[index]!, why))
      for (const [i, event] of events.entries()) {
        noted.take(first + i, event)
        const before = jumps.get(event.position)
        if (before !== undefined) report(jumpOf(first + i, event, before))
      }
    },
    end: noted.end,
  }
}
