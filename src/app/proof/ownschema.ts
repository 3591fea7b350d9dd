import type { Cleanup } from '../../lib/cleanup.ts'
import { dropLeftSchemas, dropSchema, reserveSchema } from '../../postgres/replays.ts'
import { createSchema } from '../../projections/engine/tables.ts'
import type { Ledger } from '../log/ledger.ts'

/**
 * Creates a schema for tables that only this process reads. It is dropped in the end; when the process is killed, by
 * the service or by the next one that needs such a schema.
 */
export const openOwnSchema = async (
  { connection, instance }: Pick<Ledger, 'connection' | 'instance'>,
  db: Ledger['db'],
  cleanup: Cleanup,
) => {
  await dropLeftSchemas(db)
  const { name, lost, release } = await reserveSchema(connection, `${instance}-replay`)
  cleanup.defer(release)
  cleanup.defer(() => dropSchema(db, name))
  await createSchema(db, name)
  return { name, lost }
}
