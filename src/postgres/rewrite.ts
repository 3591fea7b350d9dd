import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, runLong } from './database.ts'

/** Returns the bytes of tables with their indexes, by name. */
export const sizesOf = async (db: Database, tables: readonly string[]): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await db.raw<{ rows: { name: string; size: string }[] }>(
    'select name, pg_total_relation_size(name::regclass) as size from unnest(?::text[]) as t (name)',
    [[...tables]],
  )
  return new Map(rows.map(({ name, size }) => [name, Number(size)]))
}

/** ms to wait for the end of older transactions */
const longest = 30_000

/** Waits a while for the end of all transactions that can see rows deleted before. Returns whether all have ended. */
export const areDeletionsFinal = async (db: Database, signal: AbortSignal): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: { now: string }[] }>('select pg_current_xact_id()::xid::text as now')
  const older = `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and greatest(age(backend_xmin), age(backend_xid)) > age(?::xid)`
  for (const end = performance.now() + longest; !signal.aborted && performance.now() < end; await sleep(100)) {
    const found = await db.raw<{ rows: { some: boolean }[] }>(`select exists (${older}) as some`, [rows[0]?.now ?? ''])
    if (!found.rows[0]?.some) return true
  }
  return false
}

/**
 * Returns statements that delete PostgreSQL's statistics of the values of tables, which contain samples: `analyze`
 * keeps them where a table, or the part of it in an index, is empty by now. Before version 18, only a superuser could.
 */
const clearStatistics = async (db: Database, tables: readonly string[]) => {
  const { rows } = await db.raw<{ rows: { sql: string }[] }>(
    `with cleared as (select name::regclass as id from unnest(?::text[]) as t (name))
     select format('select pg_clear_attribute_stats(%L, %L, %L, %L)', n.nspname, c.relname, s.attname, s.inherited) as sql
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname
     where current_setting('server_version_num')::int >= 180000 and (c.oid in (select id from cleared)
       or c.oid in (select indexrelid from pg_index join cleared on indrelid = id))`,
    [[...tables]],
  )
  return rows.map(({ sql }) => sql)
}

/** Executes statements of `vacuum`, which skips with a warning what the role may not rewrite. */
const vacuum = async (db: Database, statements: readonly string[]) => {
  const warnings: string[] = []
  // other statements queue behind one that waits for a lock
  await runLong(db, [`set lock_timeout = '2s'`, ...statements], (message) => warnings.push(message))
  if (warnings[0] !== undefined)
    throw new Error(`PostgreSQL: ${warnings[0]}: let the role of DATABASE_URL own its database and all tables in it`)
}

const statistics = 'vacuum full pg_catalog.pg_statistic'

/**
 * Rewrites tables without their deleted rows: `vacuum` alone leaves the bytes in their files. Each table is locked for
 * that time. Rebuilds and rewrites PostgreSQL's statistics of their values, too: these first, so that no table is
 * locked in vain for a role that may not do that.
 */
export const rewriteTables = async (db: Database, tables: readonly string[]): Promise<void> => {
  await vacuum(db, [statistics])
  const cleared = await clearStatistics(db, tables)
  await vacuum(db, [...cleared, ...tables.map((table) => `vacuum (full, analyze) ${table}`), statistics])
}

const walFile = async (db: Database): Promise<string> => {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    'select pg_walfile_name(pg_current_wal_insert_lsn()) as name',
  )
  return rows[0]!.name
}

/** name of the database that is created to force a checkpoint */
const scratch = 'linkledger_checkpoint'

/**
 * Forces a checkpoint. The role of the embedded server may not request one, but may create a database: that takes one
 * before its files are copied.
 */
const takeCheckpoint = async (db: Database) => {
  const { rows } = await db.raw<{ rows: { version: string }[] }>(
    `select current_setting('server_version_num') as version`,
  )
  // the only way in older versions
  const strategy = Number(rows[0]?.version) >= 150_000 ? ' strategy file_copy' : ''
  const drop = `drop database if exists ${scratch}`
  await runLong(db, [drop, `create database ${scratch} template template0${strategy}`, drop])
}

/** maximum number of checkpoints until the segments are gone */
const tries = 5

/**
 * Continues after all segments in the folder of the write-ahead log, and resolves with whether these are gone. Some may
 * be kept for later use, with their old contents: the server must not keep any more of them (`wal_recycle`).
 */
export const renewWal = async (db: Database, folder: string): Promise<boolean> => {
  const segments = async () => (await readdir(folder)).filter((file) => /^[0-9A-F]{24}$/.test(file))
  const last = [...(await segments()), await walFile(db)].toSorted().at(-1)!
  while ((await walFile(db)) <= last)
    await db.raw(`select pg_logical_emit_message(false, 'linkledger', repeat(' ', 1024 * 1024))`)
  for (let n = 0; n < tries; n++) {
    await takeCheckpoint(db)
    if (!(await segments()).some((file) => file <= last)) return true
  }
  return false
}
