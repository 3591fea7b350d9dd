import { clickTypes, countedTypes, isCountedType } from '../../events/store.ts'
import { type Database, runLong } from '../../postgres/database.ts'

/** Whether readers of clicks find events of a type by `log.reclassified`. */
export const isNoted = (type: string): boolean => type !== 'LinkClicked' && isCountedType(type)

const sqlOf = (types: readonly string[]) => types.flatMap((type) => (isNoted(type) ? [`'${type}'`] : [])).join()
const notedTypes = sqlOf(countedTypes)
/** SQL of the types of events that only readers of clicks receive. */
export const onlyNotedTypes = sqlOf(clickTypes)

/** Returns the positions in the list. */
export const notedPositions = async (db: Database): Promise<readonly bigint[]> =>
  (await db.raw<{ rows: { position: string }[] }>('select position from log.reclassified')).rows.map(({ position }) =>
    BigInt(position),
  )

/** Makes the list again from the events. A trigger adds to it, which something may have switched off. */
export const noteAgain = (db: Database): Promise<void> =>
  runLong(db, [
    `insert into log.reclassified select position from log.events
     where type <> 'LinkClicked' and type in (${notedTypes}) on conflict do nothing`,
    `delete from log.reclassified r where not exists (
       select from log.events e where e.position = r.position and e.type in (${notedTypes})
     )`,
  ])
