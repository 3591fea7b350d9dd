import { expect } from 'chai'
import { openDatabase, openPool, sessions } from '../../src/postgres/database.ts'
import { openLocks } from '../../src/postgres/listen.ts'
import { startedDatabase, startTestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'

describe('a PostgreSQL with defaults of its own', () => {
  const defaults = {
    datestyle: 'German, DMY',
    synchronous_commit: 'off',
    default_transaction_isolation: 'repeatable read',
  }
  const changed = async (values: Readonly<Record<string, string>>) => {
    const connection = await startedDatabase()
    for (const [name, value] of Object.entries(values))
      await query(
        connection,
        `alter database "${connection.database}" set ${name} to ${value === 'off' ? value : `'${value}'`}`,
      )
    return connection
  }
  const settings = `select string_agg(setting, ' ' order by name) as now from pg_settings where name in ('DateStyle', 'synchronous_commit', 'default_transaction_isolation')`

  it('has those of the service in every session, and keeps stricter ones', async () => {
    const onError = () => {}
    for (const [values, expected] of [
      [defaults, 'ISO, DMY read committed on'],
      [{ ...defaults, synchronous_commit: 'remote_apply' }, 'ISO, DMY read committed remote_apply'],
    ] as const) {
      const connection = await changed(values)
      const options = { name: 'defaults', max: 1, timeout: 20_000, onError, timeoutMs: 20_000 }
      for (const begin of [undefined, sessions.readOnly, sessions.byIndex]) {
        const db = openDatabase(connection, { ...options, begin })
        const { rows } = await db.raw<{ rows: { now: string }[] }>(settings)
        await db.destroy()
        expect(rows[0]?.now, begin).to.equal(expected)
      }
      const pool = openPool(connection, options)
      const { rows } = await pool.query<{ now: string }>(settings)
      await pool.end()
      expect(rows[0]?.now).to.equal(expected)
      await (await openLocks(connection, 'defaults')).close()
    }
  })

  it('shows every time as it is, and signs the log', async () => {
    const app = await startTestApp({ CHECKPOINT_SECONDS: '1' }, await changed(defaults))
    try {
      const { key } = await app.register()
      const body = { url: 'https://example.com/', expiry: '2030-03-02 03:04:05' }
      const { json } = await app.post('/api/url/add', { key, body })
      const { details } = (await app.get(`/api/url/${String(json['id'])}`, { key })).json as {
        details: { date: string; expiry: string }
      }
      expect(details.expiry).to.equal('2030-03-02 03:04:05')
      expect(Math.abs(Date.parse(`${details.date}Z`) - Date.now())).to.be.below(600_000)
      expect(
        (
          await until(
            () => app.get('/log/checkpoint'),
            ({ status }) => status === 200,
          )
        ).status,
      ).to.equal(200)
    } finally {
      await app.close()
    }
  })
})
