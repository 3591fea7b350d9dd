import { expect } from 'chai'
import { openDatabase, openPool } from '../../src/postgres/database.ts'
import { createListener, openLocks } from '../../src/postgres/listen.ts'
import { isUnavailable } from '../../src/lib/unavailable.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { administer } from '../support/server.ts'

const options = { name: 'only-reads', max: 1, timeout: 20_000, timeoutMs: 10_000, onError: () => {} }

describe('a PostgreSQL that only reads', () => {
  it('gets no sessions, and those that it had end, so that the next ones go where the address leads', async () => {
    const connection = await freshDatabase()
    const setReadOnly = (value: 'on' | 'off') =>
      administer(`alter database ${connection.database} set default_transaction_read_only = ${value}`)
    const sessions = async () => {
      const rows = await administer<{ n: number }>(
        'select count(*)::int as n from pg_stat_activity where datname = $1',
        [connection.database],
      )
      return rows[0]?.n
    }
    const [db, pool] = [openDatabase(connection, options), openPool(connection, options)]
    const writes = {
      knex: () => db.raw('create table if not exists a (n int)'),
      pool: () => pool.query('create table if not exists a (n int)'),
    }
    const outcome = (write: () => PromiseLike<unknown>) =>
      Promise.resolve(write()).then(
        () => 'written',
        (error: unknown) => (isUnavailable(error) ? 'unavailable' : String(error)),
      )
    // a session that the server has made read only
    await db.raw('set default_transaction_read_only = on')
    await pool.query('set default_transaction_read_only = on')
    for (const [name, write] of Object.entries(writes)) {
      expect(await outcome(write), name).to.equal('unavailable')
      expect(
        await until(
          () => outcome(write),
          (found) => found === 'written',
        ),
        name,
      ).to.equal('written')
    }
    await Promise.all([db.destroy(), pool.end()])
    await until(sessions, (n) => n === 0)

    await setReadOnly('on')
    const fresh = openDatabase(connection, options)
    expect(await outcome(() => fresh.raw('select 1'))).to.equal('unavailable')
    expect(await openLocks(connection, 'locks').catch(isUnavailable)).to.equal(true)
    let ups = 0
    const listener = createListener(connection, 'listener', [1])
    listener.start({ message: () => {}, up: () => void ups++, lost: () => {} })
    // it tries again five times a second
    for (let looks = 0; looks < 10; looks++) {
      await new Promise((done) => setTimeout(done, 100))
      expect(await sessions()).to.be.at.most(2)
    }
    expect(ups).to.equal(0)
    await setReadOnly('off')
    await until(async () => listener.up(), Boolean)
    expect(await outcome(() => fresh.raw('create table if not exists b (n int)'))).to.equal('written')
    await Promise.all([listener.close(), fresh.destroy()])
    await until(sessions, (n) => n === 0)
  })
})
