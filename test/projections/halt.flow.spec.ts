import { expect } from 'chai'
import type { EventStore } from '../../src/events/store.ts'
import { accounts } from '../../src/projections/account.ts'
import { links } from '../../src/projections/link.ts'
import { loadMembers, WrongLog } from '../../src/projections/members.ts'
import type { HandledProjection, Projection } from '../../src/projections/projection.ts'
import type { Projector } from '../../src/projections/run.ts'
import { stats } from '../../src/projections/stats.ts'
import { until } from '../support/client.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../support/faults.ts'
import { history, liveCheckpoint } from '../support/log.ts'
import { projections, projectorStage, recordingLogger } from '../support/projector.ts'

/** Returns the projection with handlers that throw for the events at some positions. */
const failingOn = (projection: Projection, fails: (position: bigint) => boolean): Projection => {
  const { on, ...rest } = projection as HandledProjection
  const handlers = Object.entries(on).map(([type, handle]) => [
    type,
    (event: Parameters<NonNullable<typeof handle>>[0]) => {
      if (fails(event.position)) throw new Error('broken handler')
      return (handle as (event: unknown) => unknown)(event)
    },
  ])
  return { ...rest, on: Object.fromEntries(handlers) as HandledProjection['on'] }
}

describe(`the projector (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 30_000)
  const random = randomFrom(seed)
  const { log, start, subscription, caughtUp, read, build, expectCleanRun } = projectorStage()

  describe('with an event that a projection cannot apply (fault 24)', () => {
    it('halts and reports the reason, while the other subscription continues, and resumes by itself once the event can be applied', async () => {
      await build()
      await log().append(history(random, 1000))
      const handled = (await log().events()).filter(
        ({ stream, type }) => stream.startsWith('link-') && type !== 'ClaimFenced',
      )
      const bad = handled[1 + random(handled.length - 1)]!
      const before = (await log().events()).findLast(
        ({ type, position }) => type !== 'LinkClicked' && position < bad.position,
      )!
      let broken = true
      const alerts = recordingLogger()
      const failing = failingOn(links, (position) => broken && position === bad.position)
      const projector = start({ projections: [accounts, failing, stats], log: alerts.log, limit: 90 })

      const halted = await until(async () => subscription(projector, 'domain')?.halted, Boolean)
      const reason = `links cannot apply event ${bad.position} (${bad.type}, ${bad.stream}@${bad.revision}): Error: broken handler`
      expect(halted).to.deep.equal({ position: bad.position, reason })
      expect(alerts.lines()).to.include('subscription halted').and.include(reason)
      expect(await liveCheckpoint(log().db, links)).to.include({
        position: String(before.position),
        event_id: before.id,
      })
      await caughtUp(projector, 'clicks')
      expect(subscription(projector, 'domain')).to.deep.include({ halted })

      broken = false
      await caughtUp(projector)
      expect(subscription(projector, 'domain')?.halted).to.equal(undefined)
      await expectCleanRun()
    })

    it('halts while filling new tables, and drops the unfinished ones', async () => {
      await log().append(history(random, 500))
      const bad = (await log().events()).filter(({ type }) => type === 'LinkUpdated')[50]!
      let broken = true
      const failing = failingOn(links, (position) => broken && position === bad.position)
      const projector = start({ projections: [accounts, failing, stats] })
      expect((await until(async () => subscription(projector, 'domain')?.halted, Boolean))?.position).to.equal(
        bad.position,
      )
      const tables = async () =>
        (await log().db.raw<{ rows: object[] }>(`select 1 from pg_tables where tablename like 'links%'`)).rows.length
      expect(await until(tables, (n) => n === 0)).to.equal(0)
      broken = false
      await caughtUp(projector)
      await expectCleanRun()
    })

    it('halts at an event that cannot be read, after applying the events before it', async () => {
      await build()
      await log().append(history(random, 300))
      const bad = (await log().events()).filter(({ type }) => type === 'LinkCreated')[30]!
      const spoil = (from: string, to: string) =>
        log().db.raw('update log.events set data = replace(data::text, ?, ?)::json where position = ?', [
          from,
          to,
          String(bad.position),
        ])
      await spoil('"url"', '"lost"')
      const projector = start()
      const halted = await until(async () => subscription(projector, 'domain')?.halted, Boolean)
      expect(halted?.position).to.equal(bad.position)
      expect(halted?.reason).to.include(`event ${bad.position} (LinkCreated, ${bad.stream}@0) cannot be read`)
      expect((await read([links]))['links']).to.have.length(30)
      await spoil('"lost"', '"url"')
      await caughtUp(projector)
      await expectCleanRun()
    })
  })

  describe('tables that were filled from another log, or from a longer one', () => {
    const refused = async (projector: Projector) =>
      (await until(async () => subscription(projector, 'domain')?.halted, Boolean))?.reason

    it('are refused when the log has another id', async () => {
      await log().append(history(random, 50))
      await build()
      const before = await read()
      const other: EventStore = { ...log().store, logId: '00000000-0000-4000-8000-000000000000' }
      const failed = await loadMembers(log().db, other, projections).catch((error: unknown) => error)
      expect(failed).to.be.instanceOf(WrongLog)
      const projector = start({ store: other })
      expect(await refused(projector)).to.match(
        /were filled from the log .*, but this log is 00000000.*linkledger rebuild/,
      )
      expect(await read()).to.deep.equal(before)
    })

    it('are refused when the log is shorter or has other events, until they are rebuilt', async () => {
      await log().append(history(random, 300))
      await build()
      const before = await read()
      await log().db.raw('delete from log.events where position > 200')
      const projector = start()
      expect(await refused(projector)).to.match(
        /were filled up to position \d+, where this log has a different event or none/,
      )
      await log().append(
        Array.from({ length: 400 }, (_, n) => ({
          stream: `link-${n + 50_000}`,
          event: fresh(linkCreated({ id: n + 50_000, alias: `other-${n}` })),
        })),
      )
      await projector.stop()
      const again = start()
      expect(await refused(again)).to.match(/a different event or none/)
      expect(await read()).to.deep.equal(before)

      await build()
      const halts = () => again.state().subscriptions.map(({ halted }) => halted)
      await until(
        async () => halts(),
        ([one, two]) => !one && !two,
      )
      expect(halts()).to.deep.equal([undefined, undefined])
      expect((await read())['links']).to.have.length.above(400)
    })
  })
})
