import { expect } from 'chai'
import { type Database, openDatabase, runLong } from '../../src/postgres/database.ts'
import { rewriteTables } from '../../src/postgres/rewrite.ts'
import { startedDatabase } from '../support/app.ts'

describe('long statements for whole tables', () => {
  let db: Database
  before(async () => {
    db = openDatabase(await startedDatabase(), { name: 'long', max: 1, timeout: 20_000, onError: () => {} })
    await db.raw('create sequence tries')
  })
  after(() => db.destroy())

  /** Fails until it is tried for the given time. */
  const failing = (code: string, times: number) =>
    `do $$ begin if nextval('tries') % ${times} > 0 then raise exception using errcode = '${code}'; end if; end $$`
  const tries = async () =>
    (await db.raw<{ rows: { n: string }[] }>('select last_value as n from tries')).rows.map(({ n }) => Number(n))

  it('are tried again when others have the locks, and when PostgreSQL ends a deadlock', async () => {
    await runLong(db, [failing('55P03', 3), failing('40P01', 3)])
    expect(await tries()).to.deep.equal([6])
  })

  it('fail at once for any other reason, and after a few tries', async () => {
    expect(await runLong(db, [failing('42501', 1000)]).catch((error) => error)).to.include({ code: '42501' })
    expect(await tries()).to.deep.equal([7])
    expect(await runLong(db, [failing('40P01', 1000)]).catch((error) => error)).to.include({ code: '40P01' })
    expect(await tries()).to.deep.equal([12])
  })

  it('rewrite no table in silence that only the owner of the database may rewrite', async () => {
    const error = await rewriteTables(db, ['state.keys', 'pg_catalog.pg_shseclabel']).catch(String)
    expect(error).to.match(/"pg_shseclabel".*let the role of DATABASE_URL own its database/)
  })
})
