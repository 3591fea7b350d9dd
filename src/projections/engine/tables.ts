import type { Knex } from 'knex'
import { NotReady } from '../../lib/unavailable.ts'
import { runLong } from '../../postgres/database.ts'
import { migrationLock } from '../../postgres/migrate.ts'
import { createHalts } from './halts.ts'
import type { Projection, TableNames } from './projection.ts'
import { createSearched } from '../links/searched.ts'

/** How far one generation of a projection's tables is filled. Queries read the newest generation that is `live`. */
export interface Checkpoint {
  readonly projection: string
  readonly version: number
  readonly generation: number
  readonly log_id: string
  /** of the last event seen, handled or not; a string, as the driver returns a bigint */
  readonly position: string
  readonly event_id: string | null
  readonly live: boolean
}
/** The schema of the tables that the service reads. */
const readSchema = 'read'
export const checkpoints = `${readSchema}.checkpoints`
/** Returns the table of checkpoints that is next to the tables of a projection. */
export const checkpointsOf = ({ schema = readSchema }: Pick<Projection, 'schema'>) => `${schema}.checkpoints`
const createCheckpoints = (table: string) => `
    create table if not exists ${table} (
      projection text, version int, generation int, log_id uuid not null, position bigint not null, event_id uuid, live boolean not null,
      primary key (projection, version, generation))`
/** The table with one row: the log and the engine that the tables are filled from. */
export const origin = 'read.origin'

/**
 * Creates the tables of checkpoints, halts, searches and the origin, if there are none. Processes that start together
 * take turns: `if not exists` alone fails when two create the same thing at once.
 */
export const ensureCheckpoints = (db: Knex) =>
  db.raw(`
    select pg_advisory_xact_lock(${migrationLock});
    create schema if not exists read;
    ${createCheckpoints(checkpoints)};
    ${createHalts};
    ${createSearched};
    create table if not exists ${origin} (only_row bool primary key default true, engine text not null, log_id uuid not null)`)

/** Creates a schema for tables that only its creator reads, without tables of projections. */
export const createSchema = (db: Knex, schema: string) =>
  db.raw(`create schema ${schema}; ${createCheckpoints(checkpointsOf({ schema }))}`)

/** Returns the physical names of a generation's tables: they contain the projection's version and the generation. */
export const tableNames =
  ({ version, schema = readSchema }: Pick<Projection, 'version' | 'schema'>, generation: number): TableNames =>
  (table) =>
    `${schema}.${table}_v${version}_${generation}`

/** The description of a generation's tables, by which a later version finds them although it has other tables. */
export const generationOf = (projection: string, version: number, generation: number) =>
  `linkledger ${projection} ${version}/${generation}`

/**
 * Returns the statements of a table's DDL: those that create it, and those that create the indexes that only queries
 * use.
 */
const statementsOf = ({ tables, indexedLast = [] }: Projection, table: string, name: string) => {
  const all = (tables[table]?.(name) ?? '').split(';').map((sql) => sql.trim())
  const isLast = (sql: string) => indexedLast.includes(table) && sql.startsWith('create index on ')
  return { table: all.filter((sql) => !isLast(sql)).join('; '), indexes: all.filter(isLast) }
}

/** Creates the indexes that a new generation was created without. */
export const createLastIndexes = async (
  db: Knex,
  projection: Projection,
  { generation }: Pick<Checkpoint, 'generation'>,
) => {
  const named = tableNames(projection, generation)
  const tables = projection.indexedLast ?? []
  const statements = tables.flatMap((table) => statementsOf(projection, table, named(table)).indexes)
  if (statements.length > 0) await runLong(db, statements)
}

/**
 * Lets PostgreSQL know what is in the tables whose indexes only queries use, and which of their pages an index can
 * answer for alone. Autovacuum comes up to a minute later; until then a page of a list may read every link of its
 * account.
 */
export const settle = async (
  db: Knex,
  projection: Projection,
  { generation }: Pick<Checkpoint, 'generation'>,
): Promise<void> => {
  const named = tableNames(projection, generation)
  const tables = projection.indexedLast ?? []
  if (tables.length > 0)
    await runLong(
      db,
      tables.map((table) => `vacuum (analyze) ${named(table)}`),
    )
}

/**
 * Creates the empty tables of a new generation, to be filled next to the live ones; `withIndexes: false` leaves out
 * those of `createLastIndexes`.
 */
export const newGeneration = (
  db: Knex,
  projection: Projection,
  logId: string,
  { withIndexes = true } = {},
): Promise<Checkpoint> =>
  db.transaction(async (tx) => {
    const own = checkpointsOf(projection)
    await tx.raw(`lock table ${own} in exclusive mode`)
    const { name, version } = projection
    const [newest] = await tx(own)
      .where({ projection: name, version })
      .max<{ generation: number | null }[]>('generation as generation')
    const generation = Number(newest?.generation ?? 0) + 1
    const named = tableNames(projection, generation)
    for (const table of Object.keys(projection.tables)) {
      const { table: ddl, indexes } = statementsOf(projection, table, named(table))
      await tx.raw([ddl, ...(withIndexes ? indexes : [])].join('; '))
      await tx.raw(`comment on table ${named(table)} is '${generationOf(name, version, generation)}'`)
    }
    const checkpoint = {
      projection: name,
      version,
      generation,
      log_id: logId,
      position: '0',
      event_id: null,
      live: false,
    }
    await tx<Checkpoint>(own).insert(checkpoint)
    return checkpoint
  })

/** Drops the generations of these projections that are older than the live one. A newer one is still being filled. */
export const prune = (db: Knex, projections: readonly Projection[]) =>
  db.transaction(async (tx) => {
    // a backup may read the tables for hours, and the projector waits for the lock on the checkpoints
    await tx.raw(`set local lock_timeout = '2s'`)
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    for (const projection of projections) {
      const rows = await tx<Checkpoint>(checkpoints).where({ projection: projection.name, version: projection.version })
      const live = Math.max(0, ...rows.filter((row) => row.live).map((row) => row.generation))
      for (const { generation } of rows.filter((row) => row.generation < live))
        await dropGeneration(tx, projection, generation)
    }
  })

/** Drops the tables of one generation and its checkpoint. */
export const dropGeneration = async (db: Knex, projection: Projection, generation: number) => {
  const { name, version, tables } = projection
  const named = tableNames(projection, generation)
  for (const table of Object.keys(tables)) await db.raw(`drop table if exists ${named(table)} cascade`)
  await db(checkpointsOf(projection)).where({ projection: name, version, generation }).delete()
}

/** The live tables, as this process reads them. */
export interface LiveTables {
  /** Throws `NotReady` while the table is being filled for the first time. */
  readonly name: TableNames
  /** Reads which generations are live now, unless they are given. */
  readonly refresh: (live?: readonly Checkpoint[]) => Promise<void>
  /** Returns whether every projection has live tables, except optional ones. */
  readonly complete: () => boolean
  /** Returns the generation of a projection's tables that this process reads, undefined while there is none. */
  readonly generation: (projection: Pick<Projection, 'name'>) => number | undefined
}

/**
 * `onReplaced` is called when a projection has newer live tables than at the last refresh, not when it has the first
 * ones.
 */
export const liveTables = (
  db: Knex,
  projections: readonly Projection[],
  onReplaced: (live: Pick<Checkpoint, 'projection' | 'version' | 'generation'>) => void = () => {},
): LiveTables => {
  let named = new Map<string, string>()
  let read = new Map<string, number>()
  const newest = new Map<Projection, number>()
  const report = (projection: Projection, generation: number) => {
    const { name, version } = projection
    const before = newest.get(projection) ?? generation
    if (generation > before) onReplaced({ projection: name, version, generation })
    newest.set(projection, Math.max(before, generation))
  }
  return {
    name: (table) => {
      const found = named.get(table)
      if (!found) throw new NotReady(`the table ${table} is still being filled for the first time`)
      return found
    },
    refresh: async (given) => {
      const live = given ?? (await db<Checkpoint>(checkpoints).where({ live: true }))
      const generations = new Map<string, number>()
      named = new Map(
        projections.flatMap((projection) => {
          const own = live.filter((c) => c.projection === projection.name && c.version === projection.version)
          if (own.length === 0) return []
          const generation = Math.max(...own.map((c) => c.generation))
          report(projection, generation)
          generations.set(projection.name, generation)
          const names = tableNames(projection, generation)
          return Object.keys(projection.tables).map((table) => [table, names(table)] as const)
        }),
      )
      read = generations
    },
    generation: ({ name }) => read.get(name),
    complete: () =>
      projections.every(({ tables, optional }) => optional || Object.keys(tables).every((table) => named.has(table))),
  }
}
