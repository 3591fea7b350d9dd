import { expect } from 'chai'
import type { Projection } from '../../../src/projections/engine/projection.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { history } from '../../support/log.ts'
import { noLocks, projections, projectorStage, recordingLogger } from '../../support/projector.ts'

/** `hits` returns true once, on the call after `times` calls; `hit` resolves then. */
const countdown = (times: number) => {
  let left = times
  let end = () => {}
  const hit = new Promise<void>((resolve) => (end = resolve))
  return {
    hit,
    hits: () => {
      if (left-- !== 0) return false
      end()
      return true
    },
  }
}

describe(`the projector (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 120_000)
  const random = randomFrom(seed)
  const { log, start, caughtUp, build, expectCleanRun } = projectorStage()

  it('counts everything exactly once when two work at once without locks', async () => {
    const alerts = recordingLogger()
    await log().append(history(random, 500))
    await build()
    const two = [1, 2].map((n) =>
      start({
        db: log().connect(`projector-${n}`),
        openLocks: noLocks,
        instance: `projector-${n}`,
        limit: 7,
        log: alerts.log,
      }),
    )
    // both at work, so that they are in each other's way
    for (const projector of two) await caughtUp(projector)
    for (let round = 1; round <= (long ? 20 : 1); round++) {
      await log().append(history(random, 400, round * 10_000))
      for (const projector of two) await caughtUp(projector)
    }
    expect(alerts.lines()).to.include('is no longer at')
    await expectCleanRun()
  })

  it('leaves the tables of a clean run after being killed before, during and after transactions', async () => {
    const ways = ['between', 'killed', 'within', 'failed', 'after'] as const
    const rounds = long ? 200 : 10
    const entries = history(random, long ? 5000 : 2000)
    const share = Math.ceil(entries.length / rounds)
    let inTransaction = 0
    for (let round = 0; round < rounds; round++) {
      await log().append(entries.slice(round * share, (round + 1) * share))
      const way = ways[round < ways.length ? round : random(ways.length)]!
      const end = countdown(random(way === 'killed' ? 40 : 4))
      const name = `victim-${round}`
      const kill = async () => {
        const { rows } = await log().db.raw<{ rows: { open: boolean }[] }>(
          `select xact_start is not null and state <> 'idle' as open, pg_terminate_backend(pid) from pg_stat_activity where application_name = ?`,
          [name],
        )
        inTransaction += rows.filter(({ open }) => open).length
      }
      /** Fails or is killed within the transaction, after the other projections have written. */
      const failing = (filter: 'domain' | 'clicks'): Projection => ({
        name: `failing-${filter}`,
        version: 1,
        filter,
        tables: { [`failing_${filter}`]: (t) => `create table ${t} (id int)` },
        write: async () => {
          if (way === 'failed' && end.hits()) throw new Error('failed in the transaction')
          if (way === 'within' && end.hits()) await kill()
        },
      })
      const db = log().connect(name)
      db.on('query', () => {
        if (way === 'killed' && end.hits()) void kill()
      })
      const projector = start({
        db,
        projections: [...projections, failing('domain'), failing('clicks')],
        limit: 10 + random(50),
        onSeen: async () => {
          // after the commit, before it is reported
          if (way === 'after' && end.hits()) throw new Error('failed after the commit')
          if (way === 'between') end.hits()
        },
      })
      await Promise.race([end.hit, caughtUp(projector)])
      await projector.stop()
      // hundreds of rounds have more connections than the server allows
      await db.destroy()
    }
    expect(inTransaction, 'transactions that were killed before their commit').to.be.above(0)
    await caughtUp(start())
    await expectCleanRun()
  })
})
