import { expect } from 'chai'
import { account } from '../../src/commands/accounts/account.ts'
import { systemMetadata } from '../../src/events/event.ts'
import { createSureClock, UnsureClock } from '../../src/lib/sureclock.ts'
import { latestSigning } from '../../src/postgres/checkpoints.ts'
import { lookAtClock } from '../../src/postgres/clock.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { startedDatabase, startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'

describe('a clock that jumps ahead', () => {
  let app: TestApp
  before(async () => (app = await startTestApp({ CHECKPOINT_SECONDS: '1' })))
  after(() => app.close())

  const isSure = (sureNow = app.app.ledger.sureNow) =>
    sureNow().then(
      () => true,
      (error: unknown) => (expect(error).to.be.instanceOf(UnsureClock), false),
    )
  const isSureAfterRestart = () => isSure(createSureClock(() => lookAtClock(app.app.ledger.db)))
  /** For the service, it is the same whether its clock is ahead or what it has stored is so long ago. */
  const shift = async (years: number) => {
    await query(app.connection, `update state.clock set seen_at = seen_at - interval '${years} years'`)
    await query(app.connection, `update state.checkpoints set signed_at = signed_at - interval '${years} years'`)
  }
  /** Waits until a checkpoint is signed with the time of now. */
  const signed = async () => {
    await app.register()
    await until(
      async () => (await latestSigning(app.app.ledger.db))?.getTime() ?? 0,
      (time) => Date.now() - time < 86_400_000,
    )
  }

  it('is not trusted, although it was never checked before and a checkpoint is signed since', async () => {
    await signed()
    await shift(10)
    await signed()
    expect([await isSure(), await isSureAfterRestart()]).to.deep.equal([false, false])
  })

  it('is found by the checkpoints where it was never looked at: after an update, and after a restore', async () => {
    const connection = await startedDatabase()
    const db = openDatabase(connection, { name: 'clock', max: 1, timeout: 20_000, onError: () => {} })
    const isSureAt = async (signedAt: string) => {
      await db.raw('delete from state.clock')
      await db.raw('delete from state.checkpoints')
      await db.raw(`insert into state.checkpoints (size, note, signed_at) values (1, '', ${signedAt})`)
      return isSure(createSureClock(() => lookAtClock(db)))
    }
    const found = [await isSureAt(`now() - interval '10 years'`), await isSureAt('now()')]
    await db.destroy()
    expect(found).to.deep.equal([false, true])
  })
})

describe('an event that was stored while a clock was ahead', () => {
  it('is said when the service starts', async () => {
    const app = await startTestApp()
    const { id } = await app.register()
    const at = new Date(Date.now() + 3 * 3_600_000).toISOString()
    await app.app.ledger.handler.handle(account, { type: 'DisableAccount', id }, { ...systemMetadata(id), at })
    const again = await startTestApp({}, app.connection)
    try {
      const { problems } = (await again.operator.get('/readyz')).json
      expect(String(problems)).to.include(`new events do not have the time`).and.include(`the newest event has ${at}`)
    } finally {
      await again.close()
      await app.close()
    }
  })
})
