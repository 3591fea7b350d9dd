import { expect } from 'chai'
import { notFuture } from '../../src/http/api/past/past.ts'
import { postgresOrdinals } from '../../src/store/ordinals.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { openTestLog, type TestLog } from '../support/log.ts'

describe('a moment of the past, in a log that others write', () => {
  let log: TestLog
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  /** Appends an event with the time of a process that began to write it then. */
  const append = (stream: string, at: Date) =>
    log.append([{ stream, event: fresh(linkCreated(), 1, at.toISOString()) }])

  it('gets no further events after it was requested, also from processes whose clocks are wrong', async () => {
    const { ordinals, asked } = { ordinals: postgresOrdinals(log.db), asked: new Date() }
    const before = await ordinals.lastAt(asked)
    await append('link-1', new Date(asked.getTime() - 3000))
    await append('link-2', asked)
    expect(await ordinals.lastAt(asked)).to.deep.equal(before)
    for (const ordinal of [1, 2])
      expect(await ordinals.timeOf(ordinal)).to.equal(new Date(asked.getTime() + 1).toISOString())
  })

  it('does not move the clock of the log where it lies in the future', async () => {
    const ordinals = postgresOrdinals(log.db)
    await ordinals.lastAt(new Date(Date.now() + 365 * 86_400_000))
    await append('link-3', new Date())
    expect(Date.parse((await ordinals.timeOf(3)) ?? '')).to.be.at.most(Date.now())
  })

  /** Asks for what clocks show while that of the machine is hours ahead; it is set right afterwards. */
  const askAhead = async () => {
    const [clock, ahead] = [Date.now, 3 * 3_600_000]
    await log.db.raw(`create schema ahead; alter function log.ask set search_path = ahead, pg_catalog;
      create function ahead.clock_timestamp() returns timestamptz language sql as
        $$ select pg_catalog.clock_timestamp() + interval '${ahead} ms' $$`)
    Date.now = () => clock() + ahead
    try {
      await postgresOrdinals(log.db).lastAt(new Date(Date.now()))
    } finally {
      Date.now = clock
      await log.db.raw('alter function log.ask reset search_path; drop schema ahead cascade')
    }
  }

  it('does not move the clock of the log when a clock that was ahead requested "now", and right moments stay final', async () => {
    const ordinals = postgresOrdinals(log.db)
    const newest = async () => Date.parse((await ordinals.timeOf((await ordinals.head()) - 1)) ?? '')
    const before = new Date()
    await ordinals.lastAt(before)
    await askAhead()
    await append('link-5', new Date(before.getTime() - 3000))
    expect(await newest())
      .to.be.above(before.getTime())
      .and.at.most(Date.now() + 1)
    await askAhead()
    const after = new Date()
    await ordinals.lastAt(after)
    await append('link-6', before)
    expect(await newest())
      .to.be.above(after.getTime())
      .and.at.most(Date.now() + 1)
  })

  it('is not in the future when it is the time of an event that another process has stored', async () => {
    const ordinals = postgresOrdinals(log.db)
    const [soon, later] = [new Date(Date.now() + 3_600_000), new Date(Date.now() + 7_200_000)]
    await append('link-4', soon)
    expect(await notFuture(soon, ordinals)).to.equal(soon)
    const failure = await notFuture(later, ordinals).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error)
  })
})
