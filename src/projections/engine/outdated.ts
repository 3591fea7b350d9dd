import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { readerLocks } from '../../postgres/listen.ts'
import { halts } from './halts.ts'
import type { Projection } from './projection.ts'
import { type Checkpoint, checkpoints, generationOf, tableNames } from './tables.ts'

const hashOf = (what: string, { name, version }: Pick<Projection, 'name' | 'version'>) =>
  createHash('sha256').update(`linkledger ${what} ${name} ${version}`).digest()

/** The advisory lock of the process that fills the tables of a version. */
export const projectorLock = (of: Pick<Projection, 'name' | 'version'>) => hashOf('projector', of).readBigInt64BE()

/** The shared advisory lock, in the class `readerLocks`, of each process that reads the tables of a version. */
export const readerLock = (of: Pick<Projection, 'name' | 'version'>) => hashOf('reader', of).readInt32BE()

/**
 * Whether a process may read the tables of the version: it has the version's lock, or none at all, as a command and the
 * processes of release 0.1.0.
 */
const mayBeRead = async (tx: Knex, lock: number) => {
  const { rows } = await tx.raw<{ rows: { used: boolean }[] }>(
    `with process as (
       select split_part(a.application_name, '-', 2) as name,
         array_remove(array_agg(l.objid::bigint), null) as locks
       from pg_stat_activity a
       left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.classid = ${readerLocks} and l.objsubid = 2
       where a.datname = current_database() and a.application_name like 'linkledger-%'
       group by 1
     ) select exists (select from process where locks = '{}' or ? = any (locks)) as used`,
    // pg_locks shows the number as unsigned
    [lock >>> 0],
  )
  return rows[0]?.used ?? true
}

const tablesOf = async (tx: Knex, { name, tables }: Projection, { version, generation }: Checkpoint) => {
  const { rows } = await tx.raw<{ rows: { relname: string }[] }>(
    `select relname from pg_class where relnamespace = 'read'::regnamespace and relkind in ('r', 'p') and obj_description(oid, 'pg_class') = ?`,
    [generationOf(name, version, generation)],
  )
  // tables that were created before they had a description
  const named = Object.keys(tables).map(tableNames({ version }, generation))
  return new Set([...named, ...rows.map(({ relname }) => `read."${relname}"`)])
}

/** Drops the tables of one older version, unless they may be in use. */
const dropVersion = (db: Knex, projection: Projection, version: number) =>
  db.transaction(async (tx) => {
    const older = { name: projection.name, version }
    const { rows } = await tx.raw<{ rows: { free: boolean }[] }>('select pg_try_advisory_xact_lock(?) as free', [
      projectorLock(older).toString(),
    ])
    if (!rows[0]?.free || (await mayBeRead(tx, readerLock(older)))) return false
    // a long query on one of the tables must not hold up those that come after this
    await tx.raw(`set local lock_timeout = '2s'`)
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    const where = { projection: projection.name, version }
    for (const checkpoint of await tx<Checkpoint>(checkpoints).where(where))
      for (const table of await tablesOf(tx, projection, checkpoint))
        await tx.raw(`drop table if exists ${table} cascade`)
    await tx(checkpoints).where(where).delete()
    await tx(halts).where(where).delete()
    return true
  })

/** Drops the tables of older versions that nothing can use: ours are live, and no process of another version runs. */
export const dropOutdated = async (
  db: Knex,
  projections: readonly Projection[],
  onDropped: (dropped: { readonly projection: string; readonly version: number }) => void = () => {},
) => {
  const rows = await db<Checkpoint>(checkpoints).select()
  for (const projection of projections) {
    const own = rows.filter((row) => row.projection === projection.name)
    if (!own.some(({ version, live }) => live && version === projection.version)) continue
    // a newer version belongs to a process that is being installed
    for (const version of new Set(own.map((row) => row.version).filter((other) => other < projection.version)))
      if (await dropVersion(db, projection, version)) onDropped({ projection: projection.name, version })
  }
}

/**
 * Drops the tables of a projection that a setting leaves out, unless a process may read them. Returns whether there
 * were any.
 */
export const dropLeftOut = async (db: Knex, projection: Projection): Promise<boolean> => {
  const rows = await db<Checkpoint>(checkpoints).where({ projection: projection.name })
  let dropped = false
  for (const version of new Set(rows.map((row) => row.version)))
    dropped = (await dropVersion(db, projection, version)) || dropped
  return dropped
}
