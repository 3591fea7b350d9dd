import type { Knex } from 'knex'
import { Unreadable } from '../../events/codec.ts'
import type { EventName } from '../../events/event.ts'
import { nameOfOrdinal } from '../../events/naming.ts'
import type { Filter } from '../../events/store.ts'
import { createCleanup } from '../../lib/cleanup.ts'
import { claims, wrongClaims } from '../../projections/claims.ts'
import { type Compared, compareTables, firstKept } from '../../projections/engine/compare.ts'
import { type FillOptions, fillNew, newTables } from '../../projections/engine/fill.ts'
import { haltsOf, loadHalts } from '../../projections/engine/halts.ts'
import { loadLive, loadMembers, type Member } from '../../projections/engine/members.ts'
import { haveForeignTables } from '../../projections/engine/origin.ts'
import type { Projection, TableNames } from '../../projections/engine/projection.ts'
import { stats } from '../../projections/statistics/stats.ts'
import { checkpoints, tableNames } from '../../projections/engine/tables.ts'
import { storeUntil } from '../../store/until.ts'
import { cancellable } from '../cancellable.ts'
import type { Ledger } from '../log/ledger.ts'
import { engineOf } from '../log/postgres.ts'
import { openOwnSchema } from './ownschema.ts'

interface Options {
  /** Called with the number of events that are read again so far, and of all that will be. */
  readonly onProgress?: (events: number, all: number) => void
  readonly signal?: AbortSignal
}

export interface TablesVerified extends Omit<Compared, 'differences'> {
  /** ordinal of the event up to which the tables have everything */
  readonly through: number
  /** what the tables or the claims do not say as the log does */
  readonly findings: readonly string[]
  /** events that keep tables from being made again */
  readonly unreadable: readonly string[]
  /** what was not compared */
  readonly notes: readonly string[]
}

/** ms that a statement may take */
const timeoutMs = 60_000

type Live = Pick<Member, 'projection' | 'checkpoint'>
const positionOf = ({ checkpoint }: Pick<Member, 'checkpoint'>) => BigInt(checkpoint.position)

/** The event that stops each projection which cannot be made from the log. */
type Stopped = Map<string, Pick<EventName, 'type' | 'stream' | 'revision' | 'position'>>

interface Filling extends FillOptions {
  readonly stopped: Stopped
  readonly signal: AbortSignal
  readonly onRead: (events: number) => void
}

/**
 * Fills new tables up to where the live ones are. Returns them with their checkpoints; those that cannot get there stay
 * behind.
 */
const catchUp = async (
  { signal, stopped, onRead, ...options }: Filling,
  members: readonly Member[],
  live: readonly Live[],
): Promise<readonly Member[]> => {
  const domain = live.filter(({ projection }) => projection.filter === 'domain').map(positionOf)
  const targets = new Map([
    ...live.map((one) => [one.projection.name, positionOf(one)] as const),
    [claims.name, domain.reduce((a, b) => (a > b ? a : b), 0n)] as const,
  ])
  const goal = ({ projection }: Member) => targets.get(projection.name) ?? 0n
  let now = members
  for (const position of [...new Set(targets.values())].toSorted((a, b) => (a < b ? -1 : 1))) {
    const store = storeUntil(options.store, position, onRead)
    const behind = now.filter(
      (member) => goal(member) >= position && positionOf(member) < position && !stopped.has(member.projection.name),
    )
    const filled = await fillNew({ ...options, store }, behind, signal, {
      onHalted: ({ projection: { name } }, { event }) => void stopped.set(name, event),
    })
    signal.throwIfAborted()
    now = now.map((member) => filled.find(({ projection }) => projection.name === member.projection.name) ?? member)
  }
  return now
}

/** The live tables as they are in a snapshot, and new ones that were filled up to the same events. */
interface Compare {
  readonly snapshot: Knex.Transaction
  readonly live: readonly Live[]
  readonly fresh: readonly Member[]
}

/**
 * Takes a snapshot of the live tables at a moment at which the new ones are exactly as far. The projector waits for the
 * last events only.
 */
const takeSnapshot = async (
  { db, projections }: Pick<Ledger, 'db' | 'projections'>,
  filling: Filling,
  members: readonly Member[],
): Promise<Compare> => {
  let fresh = members
  for (let n = 0; n < 2; n++) fresh = await catchUp(filling, fresh, await loadLive(db, projections))
  return db.transaction(async (tx) => {
    await tx.raw(`set local lock_timeout = '10s'; lock table ${checkpoints} in exclusive mode`)
    const live = await loadLive(tx, projections)
    fresh = await catchUp(filling, fresh, live)
    const snapshot = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true })
    await snapshot.raw('set local idle_in_transaction_session_timeout = 0')
    // a snapshot is taken by the first query
    await snapshot.raw('select 1')
    return { snapshot, live, fresh }
  })
}

const namesOf = ({ projection, checkpoint }: Live): TableNames => tableNames(projection, checkpoint.generation)

interface CompareOptions {
  readonly ordinals: Ledger['ordinals']
  readonly stopped: Stopped
  readonly signal: AbortSignal
}

const compareAll = async ({ snapshot, live, fresh }: Compare, { ordinals, stopped, signal }: CompareOptions) => {
  let [tables, rows] = [0, 0]
  const findings: string[] = []
  const notes: string[] = []
  for (const one of live) {
    signal.throwIfAborted()
    const { projection } = one
    const counterpart = fresh.find((member) => member.projection.name === projection.name)
    if (!counterpart || stopped.has(projection.name)) continue
    if (positionOf(counterpart) > positionOf(one)) {
      notes.push(`${projection.name} got other tables meanwhile, so it was not compared`)
      continue
    }
    if (positionOf(counterpart) < positionOf(one)) {
      findings.push(`${projection.name}: it cannot be made from the log again: \`linkledger rebuild\` says why`)
      continue
    }
    const kept = projection.name === stats.name ? await firstKept(snapshot, namesOf(one)) : undefined
    if (kept !== undefined)
      notes.push(
        `clicks before ${new Date(kept * 60_000).toISOString().slice(0, 10)} were dropped (CLICK_RETENTION_MONTHS): statistics were compared by their totals`,
      )
    const compared = await compareTables(snapshot, projection, [namesOf(one), namesOf(counterpart)], {
      kept,
      signal,
      ordinals,
    })
    tables += compared.tables
    rows += compared.rows
    findings.push(...compared.differences)
  }
  return { tables, rows, findings, notes }
}

/** Says which events keep tables from being made, each with the tables that need it. */
const describeStopped = async (
  { ordinals }: Pick<Ledger, 'ordinals'>,
  stopped: Stopped,
): Promise<readonly string[]> => {
  const events = new Map([...stopped.values()].map((event) => [event.position, event]))
  const numbers = await ordinals.of([...events.keys()])
  return [...events.values()]
    .toSorted((a, b) => (a.position < b.position ? -1 : 1))
    .map((event) => {
      const without = [...stopped].filter(([, { position }]) => position === event.position).map(([name]) => name)
      return `${nameOfOrdinal(numbers.get(event.position), event)} cannot be read, so these tables cannot be made from the log: ${without.join(', ')}`
    })
}

/** Returns the events that have stopped projections of the running service. */
const haltedAt = async (db: Knex, projections: readonly Projection[]): Promise<Stopped> =>
  new Map(
    haltsOf(await loadHalts(db), projections).flatMap(({ projection, type, stream, revision, position }) =>
      type === null || stream === null || revision === null
        ? []
        : [[projection, { type, stream, revision: BigInt(revision), position: BigInt(position) }] as const],
    ),
  )

/** Returns the ordinal of the event up to which all tables have what the log has. */
const throughOf = async (
  { ordinals }: Pick<Ledger, 'ordinals'>,
  live: readonly Live[],
  heads: Readonly<Record<Filter, bigint>>,
) => {
  const reached = live.map((one) => (positionOf(one) >= heads[one.projection.filter] ? heads.all : positionOf(one)))
  const position = reached.reduce((a, b) => (a < b ? a : b), heads.all)
  return (await ordinals.of([position])).get(position) ?? (await ordinals.head()) - 1
}

const headsOf = async ({ store }: Pick<Ledger, 'store'>) => ({
  all: await store.head('all'),
  domain: await store.head('domain'),
  clicks: await store.head('clicks'),
})

/** Returns the tables that can be compared, and what keeps others from it. */
const readLive = async ({ config, projections, store }: Ledger, db: Knex) => {
  const problems: string[] = []
  if (await haveForeignTables(db, store, engineOf(config)))
    problems.push('the tables say that they were filled from another log or engine')
  const unfit = new Set<Projection>()
  const live = await loadMembers(db, store, projections, ({ projection }, { message }) => {
    unfit.add(projection)
    problems.push(message)
  })
  for (const one of projections)
    if (!unfit.has(one) && !live.some(({ projection }) => projection === one))
      problems.push(`${one.name} has no tables to compare: none are marked as live`)
  return { live, problems }
}

/**
 * Makes all read tables again from the log, in a schema of their own, and compares them with those that the service
 * reads, row by row. Compares the unique names that resources have with their claims. The service can run meanwhile.
 */
export const verifyTables = async (
  ledger: Ledger,
  { onProgress = () => {}, signal = new AbortController().signal }: Options = {},
): Promise<TablesVerified> => {
  const { projections, ordinals, log } = ledger
  const cleanup = createCleanup((error) => log.error({ err: error }, 'closing failed'))
  const { db, stopped: cancel } = cancellable(ledger, { use: 'replay', max: 8, timeout: timeoutMs })
  cleanup.defer(() => db.destroy())
  const stopped: Stopped = new Map()
  const compare = async () => {
    const { name: schema } = await openOwnSchema(ledger, db, cleanup)
    const own = (projection: Projection) => ({ ...projection, schema })
    const { live, problems } = await readLive(ledger, db)
    const { members, table } = await newTables(
      { ...ledger, db },
      [...live.map(({ projection }) => projection), claims].map(own),
    )
    const [heads, all] = [await headsOf(ledger), await ordinals.head()]
    let read = 0
    const filling = {
      ...ledger,
      db,
      stopped,
      signal,
      onRead: (events: number) => onProgress((read += events), all),
    }
    const found = await takeSnapshot({ db, projections }, filling, members)
    cleanup.defer(() => found.snapshot.rollback())
    const { tables, rows, findings, notes } = await compareAll(found, { ordinals, stopped, signal })
    return {
      tables,
      rows,
      through: await throughOf(ledger, found.live, heads),
      findings: [
        ...problems,
        ...findings,
        ...(stopped.has(claims.name) ? [] : await wrongClaims(found.snapshot, table)),
      ],
      unreadable: await describeStopped(ledger, new Map([...(await haltedAt(db, projections)), ...stopped])),
      notes,
    }
  }
  const comparing = compare().catch(async (error: unknown) => {
    if (!(error instanceof Unreadable) || signal.aborted) throw error
    const unreadable = await describeStopped(ledger, new Map([['all', error.event]]))
    return { tables: 0, rows: 0, through: -1, findings: [], unreadable, notes: [] }
  })
  const stop = () => void cancel(comparing).catch(() => {})
  signal.addEventListener('abort', stop)
  try {
    return await comparing
  } finally {
    signal.removeEventListener('abort', stop)
    await cleanup.run()
  }
}
