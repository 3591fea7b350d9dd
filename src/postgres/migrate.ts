import { readdir, readFile } from 'node:fs/promises'
import type { Knex } from 'knex'
import type { Database } from './database.ts'

/** The advisory lock under which schemas and tables are created at startup. */
export const migrationLock = 7275462

/**
 * The names of the migrations that a database has. Release 0.1.0 has them in knex's table, and refuses a name there
 * that it does not know: what is there is taken over once, and nothing is added, so that 0.1.0 still starts.
 */
const createTable = `
  create schema if not exists state;
  create schema if not exists read;
  do $$ begin
    if to_regclass('state.migrations') is null then
      create table state.migrations (name text primary key, at timestamptz not null default now());
      if to_regclass('state.knex_migrations') is not null then
        insert into state.migrations (name, at) select name, migration_time from state.knex_migrations;
      end if;
    end if;
  end $$`

const folder = new URL('./migrations/', import.meta.url)
/** Returns the names of all migrations in their order. */
export const migrationNames = async (): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
const sqlOf = (name: string) => readFile(new URL(name, folder), 'utf8')

const missing = async (tx: Knex): Promise<readonly string[]> => {
  const applied = new Set(await tx('state.migrations').pluck<string[]>('name'))
  return (await migrationNames()).filter((name) => !applied.has(name))
}

/**
 * Applies missing migrations to the schemas `log` and `state`, all or none. Processes that start together wait for each
 * other. Names that only a newer release knows are none of our business: a migration only adds.
 */
export const migrate = (db: Database): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.raw('select pg_advisory_xact_lock(?)', [migrationLock])
    await tx.raw(createTable)
    for (const name of await missing(tx)) {
      await tx.raw((await sqlOf(name)).replaceAll('?', '\\?'))
      await tx('state.migrations').insert({ name })
    }
  })
