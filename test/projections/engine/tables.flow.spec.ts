import { expect } from 'chai'
import { openDatabase } from '../../../src/postgres/database.ts'
import { migrate } from '../../../src/postgres/migrate.ts'
import { checkpoints, ensureCheckpoints } from '../../../src/projections/engine/tables.ts'
import { freshDatabase } from '../../support/database.ts'

describe('the table of checkpoints', () => {
  it('is created once by processes that start together on an empty database', async () => {
    const db = openDatabase(await freshDatabase(), { name: 'test', max: 8, timeout: 30_000, onError: () => {} })
    try {
      await migrate(db)
      for (let round = 0; round < 10; round++) {
        await db.raw(`drop table if exists ${checkpoints}`)
        await Promise.all(Array.from({ length: 8 }, () => ensureCheckpoints(db)))
      }
      expect(await db(checkpoints)).to.deep.equal([])
    } finally {
      await db.destroy()
    }
  })
})
