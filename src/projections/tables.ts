import type { Knex } from 'knex'
import { NotReady } from '../lib/unavailable.ts'
import type { Projection, TableNames } from './projection.ts'

/** How far one generation of a projection's tables has come. The newest generation that is `live` is the one that is read. */
export interface Checkpoint {
  readonly projection: string
  readonly version: number
  readonly generation: number
  readonly log_id: string
  /** of the last event that was seen, handled or not; as text, for a position is a bigint */
  readonly position: string
  readonly event_id: string | null
  readonly live: boolean
}
export const checkpoints = 'read.checkpoints'

export const ensureCheckpoints = (db: Knex) =>
  db.raw(`
    create schema if not exists read;
    create table if not exists ${checkpoints} (
      projection text, version int, generation int, log_id uuid not null, position bigint not null, event_id uuid, live boolean not null,
      primary key (projection, version, generation))`)

/** Tables carry the version of their projection, and which filling of it they are, in their names. */
export const tableNames =
  ({ version }: Projection, generation: number): TableNames =>
  (table) =>
    `read.${table}_v${version}_${generation}`

/** Makes empty tables of a new generation, to be filled beside those that are read. */
export const newGeneration = (db: Knex, projection: Projection, logId: string): Promise<Checkpoint> =>
  db.transaction(async (tx) => {
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    const { name, version } = projection
    const [newest] = await tx(checkpoints)
      .where({ projection: name, version })
      .max<{ generation: number | null }[]>('generation as generation')
    const generation = Number(newest?.generation ?? 0) + 1
    const named = tableNames(projection, generation)
    for (const [table, ddl] of Object.entries(projection.tables)) await tx.raw(ddl(named(table)))
    const checkpoint = {
      projection: name,
      version,
      generation,
      log_id: logId,
      position: '0',
      event_id: null,
      live: false,
    }
    await tx<Checkpoint>(checkpoints).insert(checkpoint)
    return checkpoint
  })

/** Drops every generation of these projections that is not read, unless it is still being filled (it is the newest one). */
export const prune = (db: Knex, projections: readonly Projection[]) =>
  db.transaction(async (tx) => {
    await tx.raw(`lock table ${checkpoints} in exclusive mode`)
    for (const projection of projections) {
      const rows = await tx<Checkpoint>(checkpoints).where({ projection: projection.name, version: projection.version })
      const live = Math.max(0, ...rows.filter((row) => row.live).map((row) => row.generation))
      for (const { generation } of rows.filter((row) => row.generation < live))
        await dropGeneration(tx, projection, generation)
    }
  })

/** Drops one generation's tables, and what is known of it. */
export const dropGeneration = async (db: Knex, projection: Projection, generation: number) => {
  const { name, version, tables } = projection
  const named = tableNames(projection, generation)
  for (const table of Object.keys(tables)) await db.raw(`drop table if exists ${named(table)}`)
  await db(checkpoints).where({ projection: name, version, generation }).delete()
}

/** Which tables this process reads. Throws when they are still being filled for the first time. */
export interface LiveTables {
  readonly name: TableNames
  readonly refresh: () => Promise<void>
  /** every projection has tables that can be read */
  readonly complete: () => boolean
}

export const liveTables = (db: Knex, projections: readonly Projection[]): LiveTables => {
  let named = new Map<string, string>()
  return {
    name: (table) => {
      const found = named.get(table)
      if (!found) throw new NotReady(`the table ${table} is still being filled`)
      return found
    },
    refresh: async () => {
      const live = await db<Checkpoint>(checkpoints).where({ live: true })
      named = new Map(
        projections.flatMap((projection) => {
          const mine = live.filter((c) => c.projection === projection.name && c.version === projection.version)
          if (mine.length === 0) return []
          const names = tableNames(projection, Math.max(...mine.map((c) => c.generation)))
          return Object.keys(projection.tables).map((table) => [table, names(table)] as const)
        }),
      )
    },
    complete: () => projections.every(({ tables }) => Object.keys(tables).every((table) => named.has(table))),
  }
}
