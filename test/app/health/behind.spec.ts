import { expect } from 'chai'
import type { Lag } from '../../../src/app/health/lag.ts'
import { logLag } from '../../../src/app/health/behind.ts'
import type { Filter } from '../../../src/events/store.ts'
import { until } from '../../support/client.ts'
import { keepLines } from '../../support/logger.ts'

describe('the log of read tables that are behind', () => {
  let stop = () => {}
  afterEach(() => stop())

  const start = (lags: Partial<Record<Filter, Lag>>, complete = true) => {
    const { lines, logger } = keepLines()
    let looks = 0
    stop = logLag({
      log: logger,
      lag: (filter) => (looks++, lags[filter]),
      maxLag: 10,
      complete: () => complete,
      failure: (filter) => (filter === 'clicks' ? 'a statement was cancelled' : undefined),
      interval: 2,
    })
    const someLooks = async () => {
      const before = looks
      await until(
        async () => looks,
        (n) => n > before + 10,
      )
    }
    return { lines, texts: () => lines.map(({ msg }) => msg), someLooks }
  }
  const behind = (seconds: number): Lag => ({ positions: 5, seconds, idleSeconds: seconds })

  it('is a line when it begins and one when it ends, in each process that knows of it', async () => {
    const lags: Partial<Record<Filter, Lag>> = { domain: behind(11.2) }
    const { lines, texts, someLooks } = start(lags)
    await someLooks()
    lags.clicks = behind(60)
    await someLooks()
    lags.domain = behind(0)
    lags.clicks = behind(0)
    await someLooks()
    expect(texts()).to.deep.equal([
      'the read tables are behind the log: changes are stored, and cannot be read yet',
      'the statistics are behind the log: clicks are stored, and not counted yet',
      'the read tables have caught up with the log',
      'the statistics have caught up with the log',
    ])
    expect(lines[0]).to.include({ level: 40, behindSeconds: 11, idleSeconds: 11, positions: 5 })
    expect(lines[1]).to.include({ behindSeconds: 60, failure: 'a statement was cancelled' })
    expect(lines[2]).to.have.property('seconds')
  })

  it('is empty while they need less than READY_MAX_LAG_SECONDS, and before they are filled for the first time', async () => {
    const late = start({ domain: behind(9), clicks: behind(10) })
    await late.someLooks()
    stop()
    const filling = start({ domain: behind(1000) }, false)
    await filling.someLooks()
    expect([late.texts(), filling.texts()]).to.deep.equal([[], []])
  })
})
