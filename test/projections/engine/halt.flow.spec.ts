import { expect } from 'chai'
import pg from 'pg'
import { streamId } from '../../../src/events/streams.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { createSignal } from '../../../src/lib/async/signal.ts'
import { fill } from '../../../src/projections/engine/fill.ts'
import { loadHalts } from '../../../src/projections/engine/halts.ts'
import { links } from '../../../src/projections/links/link.ts'
import { loadMembers, WrongLog } from '../../../src/projections/engine/members.ts'
import type { HandledProjection, Projection } from '../../../src/projections/engine/projection.ts'
import type { Projector } from '../../../src/projections/engine/run.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { until } from '../../support/client.ts'
import { fresh, linkCreated } from '../../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { history, liveCheckpoint } from '../../support/log.ts'
import { projections, projectorStage, recordingLogger, silent } from '../../support/projector.ts'

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

const registered = (id: number) =>
  ({
    type: 'AccountRegistered',
    data: { id, email: 'e', username: 'u', password: 'p', emailToken: 'e', usernameToken: 'u' },
  }) as const

describe(`the projector (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 120_000)
  const random = randomFrom(seed)
  const { log, start, subscription, haltOf, caughtUp, read, build, expectCleanRun } = projectorStage()

  describe('with an event that a projection cannot apply', () => {
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

      const halted = await until(async () => haltOf(projector, 'links'), Boolean)
      const reason = `links cannot apply event ${bad.position} (${bad.type}, ${bad.stream}@${bad.revision}): Error: broken handler`
      expect(halted).to.deep.equal({ projection: 'links', position: bad.position, reason })
      expect(alerts.lines()).to.include('projection halted').and.include(reason)
      expect(await liveCheckpoint(log().db, links)).to.include({
        position: String(before.position),
        event_id: before.id,
      })
      await caughtUp(projector, 'clicks')
      expect(subscription(projector, 'domain')?.halted).to.deep.equal([halted])

      broken = false
      await caughtUp(projector)
      expect(subscription(projector, 'domain')?.halted).to.deep.equal([])
      await expectCleanRun()
    })

    /** Returns an event that links handles, and links that cannot apply it while \`broken()\`. */
    const withBadEvent = async (broken: () => boolean) => {
      const handled = (await log().events()).filter(({ type }) => type === 'LinkUpdated')
      const bad = handled[1 + random(handled.length - 2)]!
      return { bad, failing: failingOn(links, (position) => broken() && position === bad.position) }
    }
    const park = (
      projection: string,
      { id, type, stream, revision }: { id: string; type: string; stream: string; revision: bigint },
    ) =>
      log().append([
        {
          stream: streamId('projection', projection),
          event: fresh({
            type: 'EventParked',
            data: { projection, event: id, type, stream, revision: Number(revision), reason: 'a test' },
          }),
        },
      ])
    const idsOf = async (projection: Projection) => (await read([projection]))[projection.name]!.length

    it('halts only this projection: the others of the subscription go on, and a write waits for those only', async () => {
      await build()
      await log().append(history(random, 600))
      const { bad, failing } = await withBadEvent(() => true)
      const seen: bigint[] = []
      const onSeen = async (filter: string, position: bigint) => void (filter === 'domain' && seen.push(position))
      const projector = start({ projections: [accounts, failing, stats], onSeen, limit: 50 })
      expect((await until(async () => haltOf(projector, 'links'), Boolean))?.position).to.equal(bad.position)
      await log().append([{ stream: 'account-90000', event: fresh(registered(90_000)) }])
      const head = await log().store.head('domain')
      await until(
        async () => seen.at(-1),
        (position) => position === head,
      )
      expect(seen.at(-1)).to.equal(head)
      expect((await liveCheckpoint(log().db, accounts))?.position).to.equal(String(head))
      expect((await read([accounts]))['accounts']!.some((row) => row.includes('90000'))).to.equal(true)
      expect(Number((await liveCheckpoint(log().db, links))?.position)).to.be.below(Number(bad.position))
    })

    it('is remembered for the next process, which tries it at once and catches up', async () => {
      await build()
      await log().append(history(random, 300))
      let broken = true
      const { bad, failing } = await withBadEvent(() => broken)
      const all = [accounts, failing, stats]
      const first = start({ projections: all })
      await until(async () => haltOf(first, 'links'), Boolean)
      const recorded = async () => await loadHalts(log().db)
      expect(await until(recorded, ({ length }) => length === 1)).to.have.length(1)
      expect((await recorded())[0]).to.include({
        projection: 'links',
        position: String(bad.position),
        event_id: bad.id,
        stream: bad.stream,
      })
      await first.stop()
      broken = false
      const second = start({ projections: all })
      await caughtUp(second)
      expect(await recorded()).to.deep.equal([])
      await expectCleanRun()
    })

    it('is tried again at once on request', async () => {
      await build()
      await log().append(history(random, 300))
      const { failing } = await withBadEvent(() => true)
      const retries = createSignal()
      const projector = start({ projections: [accounts, failing, stats], retries })
      await until(async () => haltOf(projector, 'links'), Boolean)
      const attempts = async () => (await loadHalts(log().db))[0]?.attempts ?? 0
      // more attempts than the back-off would make meanwhile
      for (let n = 0; n < 8; n++) {
        const before = await attempts()
        await until(
          async () => {
            retries.notify()
            return attempts()
          },
          (now) => now > before,
        )
      }
      expect(await attempts()).to.be.at.least(8)
    })

    it('is tried again at once when the request arrives during an attempt', async () => {
      await build()
      await log().append(history(random, 300))
      const retries = createSignal()
      const { bad } = await withBadEvent(() => true)
      const failing = failingOn(links, (position) => {
        if (position === bad.position) retries.notify()
        return position === bad.position
      })
      start({ projections: [accounts, failing, stats], retries })
      const attempts = async () => (await loadHalts(log().db))[0]?.attempts ?? 0
      // more attempts than the back-off would make meanwhile
      expect(await until(attempts, (n) => n >= 12)).to.be.at.least(12)
    })

    it('goes on without an event that is parked, and every replay skips it, too', async () => {
      await build()
      await log().append(history(random, 300))
      const { bad, failing } = await withBadEvent(() => true)
      const all = [accounts, failing, stats]
      const retries = createSignal()
      const projector = start({ projections: all, retries })
      await until(async () => haltOf(projector, 'links'), Boolean)
      await park('links', bad)
      retries.notify()
      await caughtUp(projector)
      const rows = await read(all)
      await build(all)
      expect(await read(all), 'a rebuild').to.deep.equal(rows)
      // a release that could apply the event obeys as well
      await build()
      expect(await read(), 'a rebuild by a release that can apply it').to.deep.equal(rows)
      await projector.stop()
      const next = start({ projections: all })
      await log().append(history(random, 50, 5000))
      await caughtUp(next)
    })

    it('lets all caches be read again when it has caught up with the others, since they count its events as seen', async () => {
      await build()
      await log().append(history(random, 300))
      const ahead = start({ projections: [accounts] })
      await caughtUp(ahead, 'domain')
      await ahead.stop()
      const listener = new pg.Client(log().connection)
      await listener.connect()
      try {
        const sent: string[] = []
        listener.on('notification', ({ payload = '' }) => sent.push(payload))
        await listener.query('listen linkledger')
        const replaced = async () => {
          await listener.query('select 1')
          return sent.filter((text) => text === 'live spec').length
        }
        const projector = start({ limit: 50 })
        await caughtUp(projector)
        expect(await until(replaced, Boolean)).to.equal(1)
        await log().append([{ stream: 'account-90000', event: fresh(registered(90_000)) }])
        await caughtUp(projector)
        expect(await replaced()).to.equal(1)
      } finally {
        await listener.end()
      }
    })

    it('is halted by an event that cannot be read only where it is handled, until it is parked', async () => {
      await build()
      await log().append(history(random, 300))
      const bad = (await log().events()).filter(({ type }) => type === 'LinkCreated')[20]!
      await log().db.raw(
        `update log.events set data = replace(data::text, '"url"', '"lost"')::json where position = ?`,
        [String(bad.position)],
      )
      const retries = createSignal()
      const projector = start({ retries })
      await until(async () => haltOf(projector, 'links'), Boolean)
      const head = await log().store.head('domain')
      const accountsAt = async () => (await liveCheckpoint(log().db, accounts))?.position
      expect(await until(accountsAt, (position) => position === String(head))).to.equal(String(head))
      const before = await idsOf(links)
      await park('links', bad)
      retries.notify()
      await caughtUp(projector)
      expect(await idsOf(links)).to.be.above(before)
      const rows = await read()
      await build()
      expect(await read()).to.deep.equal(rows)
    })

    it('does not keep a rebuild from replacing the tables of the other projections', async () => {
      await build()
      await log().append(history(random, 300))
      const { failing } = await withBadEvent(() => true)
      const halted: string[] = []
      const options = { db: log().db, store: log().store, log: silent, instance: 'spec' }
      await fill(options, [accounts, failing, stats], new AbortController().signal, {
        onHalted: ({ projection }) => void halted.push(projection.name),
      })
      expect(halted).to.deep.equal(['links'])
      const generations = await Promise.all(
        projections.map(async (one) => (await liveCheckpoint(log().db, one))?.generation),
      )
      expect(generations).to.deep.equal([2, 1, 2])
    })

    it('halts while filling new tables, and drops the unfinished ones', async () => {
      await log().append(history(random, 500))
      const bad = (await log().events()).filter(({ type }) => type === 'LinkUpdated')[50]!
      let broken = true
      const failing = failingOn(links, (position) => broken && position === bad.position)
      const projector = start({ projections: [accounts, failing, stats] })
      expect((await until(async () => haltOf(projector, 'links'), Boolean))?.position).to.equal(bad.position)
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
      const halted = await until(async () => haltOf(projector, 'links'), Boolean)
      expect(halted?.position).to.equal(bad.position)
      expect(halted?.reason).to.include(`event ${bad.position} (LinkCreated, ${bad.stream}@0) cannot be read`)
      expect((await read([links]))['links']).to.have.length(30)
      await spoil('"lost"', '"url"')
      await caughtUp(projector)
      await expectCleanRun()
    })
  })

  describe('with clicks that were changed in the log, which are not validated one by one', () => {
    const changes = {
      'no browser': ['"browser"', '"lost"'],
      'no moment': ['"at":"2', '"at":"x2'],
      'no account': ['"account"', '"lost"'],
    }
    for (const [what, [from, to]] of Object.entries(changes))
      it(`halts the statistics before those that have ${what}, and goes on when they are fixed`, async () => {
        await build()
        await log().append(history(random, 300))
        const bad = (await log().events()).filter(({ type }) => type === 'LinkClicked')[20]!
        const replace = (one: string | undefined, other: string | undefined) =>
          // another id: the process remembers what it has appended itself
          log().db.raw(
            'update log.events set id = gen_random_uuid(), data = replace(data::text, ?, ?)::json where position = ?',
            [...[one, other].map(String), String(bad.position)],
          )
        await replace(from, to)
        const projector = start()
        const halted = await until(async () => haltOf(projector, 'stats'), Boolean)
        expect(halted?.position).to.equal(bad.position)
        expect(halted?.reason).to.include(`event ${bad.position} (LinkClicked, ${bad.stream}@${bad.revision})`)
        await replace(to, from)
        await caughtUp(projector)
        await expectCleanRun()
      })
  })

  describe('tables that were filled from another log, or from a longer one', () => {
    const refused = async (projector: Projector) =>
      (await until(async () => haltOf(projector, 'links'), Boolean))?.reason

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
      await caughtUp(again)
      expect(again.state().subscriptions.map(({ halted }) => halted)).to.deep.equal([[], []])
      expect((await read())['links']).to.have.length.above(400)
    })
  })
})
