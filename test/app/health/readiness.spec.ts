import { expect } from 'chai'
import type { Lag } from '../../../src/app/health/lag.ts'
import { readiness } from '../../../src/app/health/readiness.ts'
import type { Filter } from '../../../src/events/store.ts'

describe('readiness', () => {
  const halt = (projection: string) => ({ projection, position: 7n, reason: `${projection} cannot apply event 7` })
  const upToDate: Lag = { positions: 0, seconds: 0, idleSeconds: 0 }
  const check = ({
    up = true,
    unchecked = undefined as string | undefined,
    complete = true,
    pendingKnown = true,
    lost = undefined as string | undefined,
    active = true,
    halted = [] as readonly string[],
    recorded = [] as readonly string[],
    failure = undefined as string | undefined,
    lags = { domain: upToDate, clicks: upToDate } as Partial<Record<Filter, Lag>>,
    problems = [] as readonly string[],
    clock = undefined as string | undefined,
    redirects = false,
    of = undefined as 'api' | undefined,
  } = {}) =>
    readiness({
      redirects,
      listener: { up: () => up },
      tables: { complete: () => complete },
      store: {},
      logCheck: { problem: () => unchecked },
      notifications: { pendingKnown: () => pendingKnown, lostEvents: () => lost },
      projector: () => ({
        active,
        subscriptions: [
          { filter: 'domain', halted: halted.map(halt) },
          { filter: 'clicks', halted: [], failure },
        ],
      }),
      jobProblems: () => [clock ?? []].flat(),
      halted: () => recorded.map(halt),
      lag: (filter) => lags[filter],
      maxLag: 10,
      clicks: { problems: () => problems },
    })(of)
  const lagSeconds = { domain: 0, clicks: 0 }

  it('has no problems when the database is connected, the read tables are filled and the projector follows the log', () => {
    expect(check()).to.deep.equal({ ready: true, problems: [], lagSeconds })
  })

  it('says that the log is being searched for changes that are not in the tables', () => {
    const searching = 'the log is being searched for changes that the read tables do not have'
    expect(check({ pendingKnown: false })).to.deep.equal({ ready: false, problems: [searching], lagSeconds })
  })

  it('is not ready before the log of a start without its event store is checked', () => {
    const unchecked = 'the event store (EVENTSTORE_URL) cannot be reached'
    expect(check({ unchecked })).to.deep.equal({ ready: false, problems: [unchecked], lagSeconds })
  })

  it('is lost, except for redirects, while the log has lost events that the tables have', () => {
    const lost = 'the event log has lost events'
    expect(check({ lost })).to.deep.equal({ ready: false, problems: [lost], lagSeconds })
    expect(check({ lost, redirects: true })).to.deep.equal({ ready: true, problems: [lost], lagSeconds })
  })

  it('is kept by a process that redirects while its tables are old or the database is away, which are problems', () => {
    const lags = { domain: { positions: 9, seconds: 60, idleSeconds: 0 }, clicks: upToDate }
    const wrong = { up: false, unchecked: 'the log is away', pendingKnown: false, halted: ['links'], lags }
    const found = check({ ...wrong, redirects: true })
    expect(found.ready).to.equal(true)
    expect(found.problems).to.have.length(5)
    expect(check({ ...wrong, redirects: true, of: 'api' })).to.deep.equal({ ...found, ready: false })
    expect(check(wrong), 'a process without the role http').to.deep.equal({ ...found, ready: false })
    expect(check({ redirects: true, complete: false }), 'without tables').to.deep.include({ ready: false })
  })

  it('names every reason why the process is not ready', () => {
    expect(check({ up: false, complete: false, halted: ['links'] })).to.deep.equal({
      ready: false,
      problems: [
        'the database is not connected',
        'the read tables are being filled',
        'the projection links is halted at 7: links cannot apply event 7; see `linkledger projections`',
      ],
      lagSeconds,
    })
  })

  it('is lost only while accounts, links or domains are halted; other halts are listed', () => {
    for (const projection of ['accounts', 'links', 'domains'])
      expect(check({ halted: [projection, 'pixels'] }), projection).to.deep.include({ ready: false })
    expect(check({ halted: ['pixels', 'stats'] })).to.deep.equal({
      ready: true,
      problems: [
        'the projection pixels is halted at 7: pixels cannot apply event 7; see `linkledger projections`',
        'the projection stats is halted at 7: stats cannot apply event 7; see `linkledger projections`',
      ],
      lagSeconds,
    })
  })

  it('knows the halts of the process that projects; that one knows its own before they are recorded', () => {
    expect(check({ active: false, recorded: ['links'] })).to.deep.include({ ready: false })
    expect(check({ active: true, recorded: ['links'] })).to.deep.include({ ready: true })
  })

  it('lists problems of the click pipeline, which do not affect readiness', () => {
    expect(check({ problems: ['3 clicks wait in the spool: no space left'] })).to.deep.equal({
      ready: true,
      problems: ['3 clicks wait in the spool: no space left'],
      lagSeconds,
    })
  })

  it('lists a clock that is behind the last checkpoint, which does not affect it', () => {
    const clock = 'the clock is 3600 s behind the last signed checkpoint of the log'
    expect(check({ clock })).to.deep.equal({ ready: true, problems: [clock], lagSeconds })
  })

  it('is lost while changes take longer to become visible than READY_MAX_LAG_SECONDS, and states the lag', () => {
    const behind = (seconds: number): Lag => ({ positions: 5, seconds, idleSeconds: 0 })
    expect(check({ lags: { domain: behind(9.94) } })).to.deep.equal({
      ready: true,
      problems: [],
      lagSeconds: { domain: 9.9 },
    })
    expect(check({ lags: { domain: behind(11), clicks: upToDate } })).to.deep.equal({
      ready: false,
      problems: ['the read tables are 11 s behind the log (READY_MAX_LAG_SECONDS is 10)'],
      lagSeconds: { domain: 11, clicks: 0 },
    })
    expect(check({ lags: { domain: upToDate, clicks: behind(4000) } })).to.deep.include({ ready: true, problems: [] })
  })

  it('is kept while statistics make no progress, which is reported with the reason', () => {
    const idle = { positions: 5, seconds: 60, idleSeconds: 45.2 }
    const failure = 'canceling statement due to statement timeout'
    expect(check({ lags: { clicks: idle }, failure })).to.deep.equal({
      ready: true,
      problems: [
        'the subscription to clicks has made no progress for 45 s: canceling statement due to statement timeout',
      ],
      lagSeconds: { clicks: 60 },
    })
    expect(check({ lags: { clicks: { ...idle, idleSeconds: 3 } } }).problems).to.deep.equal([])
  })
})
