import { expect } from 'chai'
import { type Reports, createReports } from '../../../src/app/engine/reports.ts'
import { until } from '../../support/client.ts'

describe('the reported state of an engine', () => {
  const working = { projector: undefined, relays: [], aside: [], recorder: undefined, problems: [], weaknesses: [] }
  const stats = {
    bytes: 0,
    waiting: 0,
    quarantined: 0,
    refused: undefined,
    dropped: 0,
    lastSeq: [7],
    releasedUpTo: [4],
  }
  let reports: Reports
  let dead = 0
  const open = (everyMs = 60_000) => {
    dead = 0
    reports = createReports({ id: 'own', stats: () => stats }, () => dead++, everyMs)
  }
  afterEach(() => reports.stop())

  it('has the problem that it is starting, and the pending visits of the spool, before its first report', async () => {
    open()
    expect(reports.works()).to.equal(false)
    expect(reports.state().problems).to.deep.equal(['the engine is starting: nothing is counted or shown meanwhile'])
    expect(reports.state().relays).to.have.length(1)
    expect(reports.state().relays[0]).to.include({ lag: 3 })
  })

  it('is its last report, until its thread has ended', () => {
    open()
    reports.heard(working)
    expect(reports.state()).to.equal(working)
    reports.ended()
    expect(reports.works()).to.equal(false)
    expect(reports.state().problems.join()).to.include('has ended and is started again')
  })

  it('counts its deliveries, also when its thread has ended, and none of other spools', () => {
    open()
    const relay = { lag: 0, lagSeconds: 0, problem: undefined }
    reports.heard({
      ...working,
      relays: [
        { ...relay, spool: 'earlier', deliveredUpTo: { 0: 7 } },
        { ...relay, spool: 'own', deliveredUpTo: { 0: 6 } },
      ],
    })
    reports.ended()
    expect(reports.left()).to.equal(1)
    expect(reports.state().relays[0]).to.include({ lag: 1 })
    reports.heard({ ...working, relays: [{ ...relay, spool: 'own', deliveredUpTo: {} }] })
    expect(reports.left(), 'before the next one has looked').to.equal(1)
  })

  it('is that it does not answer, and is given up, also while it starts', async () => {
    open(1)
    reports.ended()
    await until(async () => reports.isSilent(), Boolean)
    expect(reports.state().problems.join()).to.match(
      /^the engine has ended and is started again, and has not answered for \d+ s: nothing is counted/,
    )
    reports.starting()
    expect(reports.isSilent()).to.equal(false)
    await until(async () => dead, Boolean)
    expect(dead).to.equal(1)
  })

  it('is that it does not answer, when no report comes any more; then it is given up once', async () => {
    open(1)
    reports.heard(working)
    await until(async () => reports.isSilent(), Boolean)
    expect(reports.state().problems.join()).to.match(/^the engine has not answered for \d+ s: nothing is counted/)
    await until(async () => dead, Boolean)
    expect(reports.state().relays[0]).to.include({ lag: 3 })
    await until(async () => reports.state().relays[0]!.lagSeconds > 0.2, Boolean)
    expect(dead).to.equal(1)
  })
})
