import { expect } from 'chai'
import { openProjection } from '../../../src/app/log/projector.ts'
import { type Database, openDatabase } from '../../../src/postgres/database.ts'
import { until } from '../../support/client.ts'
import { freshDatabase } from '../../support/database.ts'

describe('the connections of the projector', () => {
  let db: Database
  const opened: Database[] = []
  let projection: ReturnType<typeof openProjection>
  before(async () => {
    const connection = await freshDatabase()
    const open = (max: number, timeout: number, use?: string) => {
      const name = use ? `spec-${use}` : 'spec'
      const pool = openDatabase(connection, { name, max, timeout, onError: () => {} })
      opened.push(pool)
      return pool
    }
    db = open(2, 10_000)
    projection = openProjection({ db, instance: 'spec', pool: open })
  })
  after(() => Promise.all(opened.map((pool) => pool.destroy())))

  it('are its own, and their statements may take longer than those of the API', async () => {
    const timeout = async (pool: Database) =>
      (await pool.raw<{ rows: { statement_timeout: string }[] }>('show statement_timeout')).rows[0]?.statement_timeout
    expect(projection.db).not.to.equal(db)
    expect([await timeout(db), await timeout(projection.db)]).to.deep.equal(['10s', '1min'])
  })

  it('do not delay a stop for as long as their statements take', async () => {
    const working = projection.db.raw('select pg_sleep(50)').then(
      () => 'finished',
      (error: { code?: string }) => error.code,
    )
    const running = `select 1 from pg_stat_activity where query like 'select pg_sleep(50)%' and application_name = 'spec-projector'`
    await until(async () => (await db.raw<{ rowCount: number }>(running)).rowCount, Boolean)
    await projection.stopped(working)
    expect(await working).to.equal('57014')
  })
})
