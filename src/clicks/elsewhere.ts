import { randomBytes, randomUUID } from 'node:crypto'
import { type Actor, systemMetadata } from '../events/event.ts'
import type { LogEvent } from '../events/index.ts'
import { NoAccountKey } from '../events/sealing.ts'
import type { VisitEvent } from '../events/statistics/visits.ts'
import type { EventStore, ExpectedRevision } from '../events/store.ts'
import { streamId } from '../events/streams.ts'
import { ChangedByNewer } from '../events/unknown.ts'
import type { Keyring } from '../security/seal.ts'
import { contentOf } from './batch.ts'
import { type ClassifierOptions, createClassifier } from './classify.ts'
import { classified, type Part, partsOf, type VisitElsewhere } from './declared.ts'
import { visitorHash } from './hashvisitor.ts'

/** A visit that is not recorded, and why. */
export interface RefusedVisit {
  readonly place: number
  readonly why: 'no_time' | 'too_old' | 'future'
}

/** Whose visits they are, and by which import they come. */
export interface VisitImport {
  readonly import: string
  readonly account: number
}

type Pace = (position: bigint) => Promise<unknown>

/** Records visits of other services, and takes them back. */
export interface Elsewhere {
  /**
   * Records what is new of these visits, which are in the order of their places, and returns those that are refused.
   * `upTo`: no visit of the source up to there is left; by default the place of the last one. What is recorded already
   * is passed over, so that a call may be repeated, also after it has failed with a part of them recorded. `pace` is
   * awaited after each event, with its position. Throws `ImportWithdrawn`, `NoAccountKey`, `StoreUnavailable`.
   */
  readonly recordVisits: (
    of: VisitImport,
    visits: readonly VisitElsewhere[],
    upTo?: number,
    pace?: Pace,
  ) => Promise<{ readonly refused: readonly RefusedVisit[] }>
  /** Returns the place up to which the visits of an import are recorded; undefined when none is. */
  readonly visitsRecordedUpTo: (id: string) => Promise<number | undefined>
  /**
   * Takes all visits of an import back; nothing of it is recorded afterwards. To repeat it changes nothing. Returns the
   * position of the event that did it; undefined when there are none.
   */
  readonly withdrawVisits: (id: string, actor: Actor) => Promise<bigint | undefined>
}

export interface ElsewhereOptions extends ClassifierOptions {
  readonly store: Pick<EventStore, 'append' | 'last'>
  readonly keyring: Pick<Keyring, 'forOpening'>
  /** Returns the time of the first visits that are kept one by one; null while all are. */
  readonly keptSince: () => Promise<Date | null>
  /** ms since 1970 */
  readonly now?: () => number
}

/** The visits of an import were taken back, so none are added to them. */
export class ImportWithdrawn extends Error {
  override readonly name = 'ImportWithdrawn'
  constructor(id: string) {
    super(`the visits of import ${id} were taken back`)
  }
}

const earliest = Date.UTC(1995, 0)
/** events whose visits one event takes back: the statistics do it in one transaction */
const takenAtOnce = 20

/** What is known of the stream of an import. */
interface End {
  readonly revision: ExpectedRevision
  readonly last: Extract<LogEvent, VisitEvent> | undefined
}

const endOf = async (store: Pick<EventStore, 'last'>, id: string): Promise<End & { readonly position: bigint }> => {
  const event = await store.last(streamId('visits', id))
  if (!event) return { revision: 'no_stream', last: undefined, position: 0n }
  const { revision, position } = event
  if (event.type === 'Unknown') throw new ChangedByNewer(`The import ${id}`)
  if (event.type !== 'VisitsImported' && event.type !== 'ImportedVisitsWithdrawn')
    throw new Error(`${event.type} does not belong in the stream of an import`)
  return { revision, last: event, position }
}

const problemOf = ({ place, at }: VisitElsewhere, now: number): RefusedVisit | undefined => {
  const time = Date.parse(at)
  if (Number.isNaN(time)) return { place, why: 'no_time' }
  if (time < earliest) return { place, why: 'too_old' }
  return time > now ? { place, why: 'future' } : undefined
}

type Imported = Extract<VisitEvent, { type: 'VisitsImported' }>
const importedOf = ({ import: id, account }: VisitImport, { batch, upTo }: Part, since: Date | null): Imported => ({
  type: 'VisitsImported',
  data: {
    import: id,
    account,
    ...(since && { since: since.toISOString() }),
    upTo,
    ...contentOf(batch),
    salt: randomBytes(16).toString('base64url'),
  },
})

/** Returns the events that take everything back that a stream has up to a revision, the newest first. */
const withdrawalsOf = ({ import: id, account }: VisitImport, revision: bigint, since: Date | null): VisitEvent[] => {
  const events: VisitEvent[] = []
  for (let from = Number(revision) + 1; from > 0;) {
    from = Math.max(0, from - takenAtOnce)
    const data = { import: id, account, ...(since && { since: since.toISOString() }), from }
    events.push({ type: 'ImportedVisitsWithdrawn', data })
  }
  return events
}

/** Returns what appends to the stream of an import. */
const appender =
  (store: Pick<EventStore, 'append'>) =>
  ({ import: id, account }: VisitImport, expected: ExpectedRevision, events: readonly VisitEvent[], actor?: Actor) => {
    const metadata = { ...systemMetadata(account), ...(actor && { actor }) }
    return store.append([
      {
        stream: streamId('visits', id),
        expected,
        events: events.map((event) => ({ ...event, id: randomUUID(), metadata })),
      },
    ])
  }

/** Returns what records those of some visits that are new. It returns false to be called again. */
const recorder = (options: ElsewhereOptions) => {
  const { store, keyring, keptSince } = options
  const classify = createClassifier(options)
  const append = appender(store)

  return async (of: VisitImport, visits: readonly VisitElsewhere[], upTo: number, pace?: Pace): Promise<boolean> => {
    const end = await endOf(store, of.import)
    if (end.last?.type === 'ImportedVisitsWithdrawn') throw new ImportWithdrawn(of.import)
    if (end.last && end.last.data.account !== of.account)
      throw new Error(`import ${of.import} is one of account ${end.last.data.account}`)
    const after = end.last?.data.upTo ?? -Infinity
    const fresh = visits.filter(({ place }) => place > after)
    if (fresh.length === 0) return true
    const keys = await keyring.forOpening([of.account])
    if (!keys.has(of.account)) throw new NoAccountKey(`account ${of.account} has no key: it was erased`)
    const hash = visitorHash(keys)
    const parts = await partsOf(fresh, (visit) => classified(classify, hash, of.account, visit))
    const last = parts.at(-1)!
    last.upTo = Math.max(last.upTo, upTo)
    const since = await keptSince()
    let { revision } = end
    for (const part of parts) {
      // another process may have recorded meanwhile
      const appended = await append(of, revision, [importedOf(of, part, since)])
      if (!appended.ok) return false
      await pace?.(appended.position)
      revision = revision === 'no_stream' ? 0n : revision + 1n
    }
    return true
  }
}

/** Opens what records visits of other services. */
export const openElsewhere = (options: ElsewhereOptions): Elsewhere => {
  const { store, keptSince, now = Date.now } = options
  const recordNew = recorder(options)
  const append = appender(store)

  return {
    recordVisits: async (of, visits, upTo = visits.at(-1)?.place ?? 0, pace) => {
      const time = now()
      const refused = visits.flatMap((visit) => problemOf(visit, time) ?? [])
      const places = new Set(refused.map(({ place }) => place))
      const taken = visits.filter(({ place }) => !places.has(place))
      while (!(await recordNew(of, taken, upTo, pace)));
      return { refused }
    },

    visitsRecordedUpTo: async (id) => {
      const { last } = await endOf(store, id)
      return last?.type === 'VisitsImported' ? last.data.upTo : undefined
    },

    withdrawVisits: async (id, actor) => {
      for (;;) {
        const { last, revision, position } = await endOf(store, id)
        if (!last || revision === 'no_stream') return undefined
        if (last.type === 'ImportedVisitsWithdrawn') return position
        const { account } = last.data
        const of = { import: id, account }
        const appended = await append(of, revision, withdrawalsOf(of, revision, await keptSince()), actor)
        if (appended.ok) return appended.position
      }
    },
  }
}
