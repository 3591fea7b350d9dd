import { expect } from 'chai'
import { openDatabase, openPool } from '../../src/postgres/database.ts'

describe('a pool of connections to PostgreSQL', () => {
  it('waits for a connection for two seconds, or as long as its address says', async () => {
    for (const [parameters, ms] of [
      ['', 2000],
      ['?connect_timeout=20', 20_000],
      ['?host=/run/postgresql&connect_timeout=5&port=5432', 5000],
      ['?connect_timeout=0', 2000],
      ['?connect_timeout=1e3', 2000],
    ] as const) {
      const connection = { connectionString: `postgres://ann:secret@localhost/ledger${parameters}` }
      const options = { name: 'spec', max: 1, timeout: 1000, onError: () => {} }
      const [db, pool] = [openDatabase(connection, options), openPool(connection, options)]
      const { config } = db.client as { readonly config: { acquireConnectionTimeout: number; connection: object } }
      expect(config.acquireConnectionTimeout, parameters).to.equal(ms)
      expect(config.connection, parameters).to.include({ connectionTimeoutMillis: ms })
      expect(pool.options.connectionTimeoutMillis, parameters).to.equal(ms)
      await Promise.all([db.destroy(), pool.end()])
    }
  })
})
