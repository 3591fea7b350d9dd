import type { Filter } from '../../events/store.ts'
import { kinds, resourceKinds } from '../../events/kinds.ts'
import { aborted } from '../../lib/async/aborted.ts'
import type { Signal } from '../../lib/async/signal.ts'
import type { Database } from '../../postgres/database.ts'
import { startExclusive } from '../../postgres/exclusive.ts'
import { frozenAfter, openLocks } from '../../postgres/listen.ts'
import { type Halt, haltsOf, loadHalts } from '../../projections/engine/halts.ts'
import { past, projections } from '../../projections/index.ts'
import { type Projector, startProjector } from '../../projections/engine/run.ts'
import { type Checkpoint, checkpoints } from '../../projections/engine/tables.ts'
import { numberEvents } from '../../store/numbering.ts'
import { cancellable } from '../cancellable.ts'
import type { Standstill } from '../health/standstill.ts'
import { createDiskErasure } from './diskerasure.ts'
import type { Ledger } from './ledger.ts'
import { requireAccountKeys } from './lostkeys.ts'
import { createSigningClock, type SigningClock } from '../proof/clock.ts'
import { followProofs } from '../proof/proofs.ts'

/**
 * Opens the connections of the projector or a rebuild. A statement may take a minute, because it must finish even on a
 * slow disk and with many clicks. Connections of the API have a shorter limit, and the projector never uses them up.
 */
export const openProjection = (ledger: Pick<Ledger, 'db' | 'instance' | 'pool'>) =>
  cancellable(ledger, { use: 'projector', max: 6, timeout: 60_000 })

/** Projects the log into the read tables, unless another process does, and notifies the others. */
export const project = (
  ledger: Ledger,
  onSeen: (filter: Filter, position: bigint) => Promise<void>,
  retries?: Signal,
): Projector & { readonly clock: SigningClock } => {
  const { config, store, logCheck, connection, instance, log, metrics, projections: own, sureNow, tables } = ledger
  const { db, stopped } = openProjection(ledger)
  const stopping = new AbortController()
  const ended = aborted(stopping.signal)
  const open = async () => {
    // an unchecked log must not be projected into these tables
    await Promise.race([logCheck.passed, ended])
    return openLocks(connection, instance, frozenAfter)
  }
  const jobs = openJobs(ledger)
  const stopNumbering =
    config.EVENTSTORE_URL === undefined ? async () => {} : startNumbering(ledger, db, open, jobs.numbering)
  const projector = startProjector({
    db,
    store,
    projections: own,
    leftOut: own.includes(past) ? [] : [past],
    openLocks: open,
    instance,
    log,
    onSeen,
    onLive: tables.refresh,
    onRestart: metrics.restarted,
    ...(retries ? { retries } : {}),
    onUnknown: metrics.unknown,
    keepClicks: config.CLICK_RETENTION_MONTHS,
    sureNow,
    watchPruning: jobs.pruning.watching,
  })
  const clock = createSigningClock(log)
  const whileActive = whileProjecting(ledger, { isActive: () => projector.state().active, ended })
  const stopProofs = startProofs(ledger, db, whileActive, clock, jobs.proofs)
  const stopErasure = startDiskErasure(ledger, db, whileActive, jobs.erasure)
  const stopKeys = startKeyCheck(ledger, whileActive, jobs.keys)
  return {
    ...projector,
    clock,
    stop: () => {
      stopping.abort()
      return stopped(
        Promise.all([projector.stop(), stopNumbering(), stopProofs(), stopErasure(), stopKeys()]).then(() => {}),
      )
    },
  }
}

const openJobs = ({ jobs }: Pick<Ledger, 'jobs'>) => ({
  numbering: jobs.open('numbering', 'the events of the log are not numbered'),
  proofs: jobs.open('proofs', 'no checkpoint of the log is signed'),
  keys: jobs.open('keys', 'texts of accounts are in danger'),
  pruning: jobs.open('pruning', 'clicks of old months and unused tables are not dropped'),
  erasure: jobs.open('disk_erasure', 'the files of the database are not cleared of erased accounts'),
})

/** the advisory lock of the process that numbers the events of a log */
const numberingLock = 7275467n

/** Runs work only in the process that projects: its locks need no other connection. */
const whileProjecting = (
  { logCheck }: Pick<Ledger, 'logCheck'>,
  { isActive, ended }: { isActive: () => boolean; ended: Promise<void> },
) => ({
  open: async () => {
    await Promise.race([logCheck.passed, ended])
    const acquire = async (keys: readonly bigint[]) => new Set(isActive() ? keys : [])
    return { acquire, lost: new AbortController().signal, close: async () => {} }
  },
  key: 0n,
})
type WhileProjecting = ReturnType<typeof whileProjecting>

/** Reports to a job's standstill whether its work succeeds, and logs failures. */
const telling = ({ worked, telling: tell }: Standstill, logFailure: (error: unknown) => void) => ({
  onWorked: worked,
  onFailed: tell(logFailure),
})

/**
 * ms between two searches for accounts whose key is missing: after one that found some, and after one that found none
 */
const [keyInterval, whenComplete] = [15_000, 600_000]

/** Checks all accounts: as soon as this process projects, and rarely afterwards while all is well. */
const keyCheck = ({ reader, store }: Pick<Ledger, 'reader' | 'store'>) => {
  let good = -Infinity
  return async () => {
    if (performance.now() - good < whenComplete) return
    await requireAccountKeys(reader, store)
    good = performance.now()
  }
}

const startKeyCheck = (ledger: Ledger, whileActive: WhileProjecting, job: Standstill) =>
  startExclusive({
    ...whileActive,
    work: keyCheck(ledger),
    interval: keyInterval,
    ...telling(job, (error) => ledger.log.error({ err: error }, 'keys of accounts cannot be found')),
  })

/** ms between two searches for erased accounts */
const erasureInterval = 10_000

const startDiskErasure = (ledger: Ledger, db: Database, whileActive: WhileProjecting, job: Standstill) =>
  startExclusive({
    ...whileActive,
    work: createDiskErasure({ ledger, db }),
    interval: erasureInterval,
    ...telling(job, (error) =>
      ledger.log.warn(
        { err: error },
        'the files of the database could not be cleared of erased accounts; trying again',
      ),
    ),
  })

/**
 * Grows the tree over the log in the process that projects. If another process does so for a moment, too, the
 * checkpoint of the tree moves for only one of them.
 */
const startProofs = (
  ledger: Ledger,
  db: Database,
  whileActive: WhileProjecting,
  clock: SigningClock,
  job: Standstill,
) =>
  startExclusive({
    ...whileActive,
    work: (signal) => followProofs(ledger, db, signal, { ...clock, worked: job.worked }),
    ...telling(job, (error) =>
      ledger.log.error({ err: error }, 'no checkpoint of the log could be signed; trying again'),
    ),
  })

const startNumbering = (
  { stored, log }: Ledger,
  db: Database,
  open: () => ReturnType<typeof openLocks>,
  job: Standstill,
) =>
  startExclusive({
    open,
    key: numberingLock,
    work: (signal) => numberEvents(db, stored, signal, job.worked),
    ...telling(job, (error) => log.error({ err: error }, 'the events of the log could not be numbered; trying again')),
  })

/**
 * Returns the position up to which every table is projected, or 0n while one of them is being filled for the first
 * time. A write does not wait for projections that are halted.
 */
export const projectedPosition = async (db: Database): Promise<bigint> => positionOf(await readProjected(db))

/** The state that the projecting process has stored. */
export interface Projected {
  readonly live: readonly Checkpoint[]
  readonly halts: readonly Halt[]
}

/** Reads the state once for several parts of a process. */
export const readProjected = async (db: Database): Promise<Projected> => {
  const [live, halts] = await Promise.all([db<Checkpoint>(checkpoints).where({ live: true }), loadHalts(db)])
  return { live, halts: haltsOf(halts, [...projections, past]) }
}

/** Returns the same as `projectedPosition`. */
export const positionOf = ({ live, halts }: Projected): bigint => {
  const halted = halts.map(({ projection }) => projection)
  const positions = projections
    .filter(({ filter, name }) => filter === 'domain' && !halted.includes(name))
    .map(({ name, version }) => {
      const mine = live.filter((row) => row.projection === name && row.version === version)
      return mine.length === 0 ? 0n : least(mine.map(({ position }) => BigInt(position)))
    })
  return positions.length === 0 ? 0n : least(positions)
}
/** The projections that show kinds of streams. Other kinds are not read one by one, or no table shows them. */
const shownBy: ReadonlyMap<string, string> = new Map([
  ...resourceKinds.map((kind) => [kind, kinds[kind].table] as const),
  ['block', 'blocks'],
  ['channelitem', 'channels'],
  ['import', 'imports'],
])

/** Returns the kinds of streams that a halted projection shows, with the last position that its tables can contain. */
export const heldPositions = ({ halts }: Pick<Projected, 'halts'>): ReadonlyMap<string, bigint> => {
  const halted = new Map(halts.map(({ projection, position }) => [projection, BigInt(position) - 1n]))
  return new Map(
    [...shownBy].flatMap(([kind, name]) => {
      const position = halted.get(name)
      return position === undefined ? [] : [[kind, position] as const]
    }),
  )
}

/** Returns the lowest of some positions; there must be one. */
export const least = (positions: readonly bigint[]) => positions.reduce((a, b) => (a < b ? a : b))
