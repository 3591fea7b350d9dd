import { join } from 'node:path'
import { findVisitsOf } from '../../clicks/spool/visitsof.ts'
import { account } from '../../commands/accounts/account.ts'
import { systemMetadata } from '../../events/event.ts'
import type { Database } from '../../postgres/database.ts'
import { deleteOldMisses } from '../../postgres/misses.ts'
import { hasReplays } from '../../postgres/replays.ts'
import { areDeletionsFinal, renewWal, rewriteTables, sizesOf } from '../../postgres/rewrite.ts'
import { fill } from '../../projections/engine/fill.ts'
import type { Projection } from '../../projections/engine/projection.ts'
import { type Checkpoint, checkpoints } from '../../projections/engine/tables.ts'
import { eraseChecks } from '../../queries/domains/check.ts'
import { erasedInTables, lastErasedOnDisk } from '../../queries/accounts/erasure.ts'
import type { Ledger } from './ledger.ts'

type Part = 'config' | 'handler' | 'instance' | 'keys' | 'log' | 'projections' | 'reader' | 'store' | 'tables'
export interface DiskErasureOptions {
  readonly ledger: Pick<Ledger, Part>
  /** connections for long work */
  readonly db: Database
  /** bytes of a table that is filled again beside its readers, because they would wait too long for a lock */
  readonly large?: number
  /** ms between two runs */
  readonly pause?: number
}

/** ms between two runs, because each locks tables; with large ones that are filled again, a day */
const [hour, day] = [3_600_000, 86_400_000]
/** accounts in one run */
const perRun = 1000

/** Tables with rows of accounts that are not sealed under the key of their account, or that have these keys. */
const stateTables = [
  'directory_held',
  'directory_joins',
  'directory_people',
  'directory_users',
  'domain_checks',
  'group_reads',
  'keys',
  'mails',
  'misses',
  'one_time_links',
  'sessions',
  'webhook_deliveries',
].map((name) => `state.${name}`)
/** Tables that only say where events are. */
const positions = ['account_events', 'resource_events', 'event_campaigns']

const tablesOf = ({ tables }: Projection, { tables: { name } }: Pick<Ledger, 'tables'>) =>
  Object.keys(tables)
    .filter((table) => !positions.includes(table))
    .map(name)

/** Whether every table has the erasures up to a position, and there are no others that would not. */
const isProjected = async (db: Database, own: readonly Projection[], position: bigint) => {
  const rows = await db<Checkpoint>(checkpoints).select()
  const isOwn = ({ projection: name, version }: Checkpoint) =>
    own.some((projection) => projection.name === name && projection.version === version)
  const domain = own.flatMap(({ name, filter }) => (filter === 'domain' ? [name] : []))
  const reached = rows.every((row) => !domain.includes(row.projection) || BigInt(row.position) >= position)
  return reached && rows.every((row) => row.live && isOwn(row)) && !(await hasReplays(db))
}

/** Returns a function that says whether the spool may have visits of accounts, and logs once in which file. */
const spoolCheck = ({ config, log }: Pick<Ledger, 'config' | 'log'>) => {
  let known: string | undefined
  return async (accounts: readonly number[]): Promise<boolean> => {
    const file = await findVisitsOf(join(config.DATA_DIR, 'spool'), new Set(accounts))
    if (file !== undefined && file !== known)
      log.warn({ file }, 'visits of an erased account are in the spool: its erasure on disk waits until they are gone')
    known = file
    return file !== undefined
  }
}

/**
 * Clears the files of the database of accounts that are erased, once those of the spool have nothing of them, and notes
 * that in their streams: the certificate has the time. Returns a function for one run, which does nothing while
 * something still has to end.
 */
export const createDiskErasure = ({ ledger, db, large = 64 * 1024 * 1024, pause }: DiskErasureOptions) => {
  const { config, handler, keys, log, projections, reader } = ledger
  /** position up to which the large tables were filled again */
  let filledTo = 0n
  const isInSpool = spoolCheck(ledger)

  const fillLarge = async (own: readonly Projection[], position: bigint, signal: AbortSignal) => {
    await fill({ ...ledger, db }, own, signal, { onHalted: () => {} })
    // the tables before are dropped a little later; a run after that goes on
    if (!signal.aborted) filledTo = position
  }
  const clear = async (tables: readonly string[]) => {
    await rewriteTables(db, [...tables, ...stateTables])
    return config.DATABASE_URL === undefined && renewWal(db, join(config.DATA_DIR, 'postgres', 'data', 'pg_wal'))
  }

  return async (signal: AbortSignal): Promise<void> => {
    const erased = await erasedInTables(reader, perRun)
    if (erased.length === 0) return
    const own = projections.filter(({ filter }) => filter === 'domain')
    const tables = own.flatMap((projection) => tablesOf(projection, ledger))
    const sizes = await sizesOf(db, tables)
    const isLarge = (table: string) => (sizes.get(table) ?? 0) > large
    const filled = own.filter((projection) => tablesOf(projection, ledger).some(isLarge))
    const last = await lastErasedOnDisk(reader)
    if (last && Math.abs(Date.now() - last.getTime()) < (pause ?? (filled.length > 0 ? day : hour))) return
    const position = erased.reduce((high, one) => (one.position > high ? one.position : high), 0n)
    if (!(await isProjected(db, projections, position))) return
    await keys.destroy(erased.map(({ id }) => id))
    await eraseChecks(
      reader,
      erased.map(({ id }) => id),
    )
    if (await isInSpool(erased.map(({ id }) => id))) return
    if (filled.length > 0 && filledTo < position) return fillLarge(filled, position, signal)
    await deleteOldMisses(db)
    if (!(await areDeletionsFinal(db, signal))) return
    const wal = await clear(tables.filter((table) => !isLarge(table)))
    for (const { id } of erased)
      await handler.handle(account, { type: 'NoteErasedOnDisk', id, wal }, systemMetadata(id))
    log.info({ accounts: erased.length, wal }, 'the files of the database have nothing of erased accounts any more')
  }
}
