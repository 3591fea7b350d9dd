import { expect } from 'chai'
import { held, type LockHolder, readLockHolders, watchLocks } from '../../../src/app/health/lockwaits.ts'
import { createStandstill } from '../../../src/app/health/standstill.ts'
import { openDatabase } from '../../../src/postgres/database.ts'
import { until } from '../../support/client.ts'
import { freshDatabase } from '../../support/database.ts'
import { keepLines } from '../../support/logger.ts'

describe('a lock of PostgreSQL that a statement waits for', () => {
  it('is reported with its holder once a statement waits longer than some seconds, until none waits', async () => {
    const holder: LockHolder = {
      ...{ pid: 42, name: 'psql', address: '10.0.0.1', state: 'idle in transaction' },
      since: new Date('2026-11-28T12:00:00.000Z'),
    }
    let found: readonly LockHolder[] = [holder]
    const job = createStandstill(held)
    const { lines, logger } = keepLines()
    const look = watchLocks(async () => found, job, logger)
    for (const now of [0, 2000, 4000]) await look(now)
    expect([job.problem(), lines.length]).to.deep.equal([undefined, 0])
    await look(6000)
    expect(job.problem()).to.match(/^statements wait for a lock of PostgreSQL since \S+: pid 42 holds one /)
    expect(job.problem()).to.include(
      '(psql, 10.0.0.1, idle in transaction, its transaction began 2026-11-28T12:00:00.000Z); `select pg_terminate_backend(42)` ends it',
    )
    // between two attempts, no statement waits
    found = []
    await look(8000)
    found = [holder]
    await look(10_000)
    expect([job.problem() === undefined, lines.length]).to.deep.equal([false, 1])
    found = []
    await look(19_000)
    expect(job.problem()).to.equal(undefined)
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      'statements of this service wait for a lock of PostgreSQL that another session holds',
      'no statement of this service waits for a lock of PostgreSQL any more',
    ])
  })

  it('is found in PostgreSQL, with the session that holds it and does not wait itself', async () => {
    const connection = await freshDatabase()
    const open = (name: string) => openDatabase(connection, { name, timeout: 0, max: 3, onError: () => {} })
    const [other, service] = [open('a stranger'), open('linkledger-one')]
    try {
      await other.raw('create table held (n int)')
      const holding = await other.transaction()
      await holding.raw('lock table held')
      const { rows } = await holding.raw<{ rows: readonly { pid: number }[] }>('select pg_backend_pid() as pid')
      const waiting = [1, 2].map((n) => service.transaction((tx) => tx.raw(`insert into held values (${n})`)))
      const found = await until(
        () => readLockHolders(service),
        (holders) => holders.length > 0,
      )
      expect(found).to.have.length(1)
      expect(found[0]).to.include({ pid: rows[0]!.pid, name: 'a stranger', state: 'idle in transaction' })
      await holding.commit()
      await Promise.all(waiting)
      expect(await readLockHolders(service)).to.deep.equal([])
    } finally {
      await Promise.all([other.destroy(), service.destroy()])
    }
  })
})
