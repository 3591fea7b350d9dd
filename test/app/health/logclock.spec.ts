import { expect } from 'chai'
import { watchLogClock } from '../../../src/app/health/logclock.ts'
import { createStandstill } from '../../../src/app/health/standstill.ts'
import { keepLines } from '../../support/logger.ts'

describe('a log whose newest event lies in the future', () => {
  const now = Date.parse('2026-11-28T12:00:00.000Z')
  const setUp = () => {
    const times: string[] = []
    const job = createStandstill('late')
    const { lines, logger } = keepLines()
    const ordinals = { head: async () => times.length, timeOf: async (ordinal: number) => times[ordinal] }
    const look = watchLogClock(ordinals, job, logger)
    return { times, job, look: (ms: number) => look(new Date(now + ms)), texts: () => lines.map(({ msg }) => msg) }
  }

  it('is said, with the time from which on all is right, once in the log, until that time has come', async () => {
    const { times, job, look, texts } = setUp()
    await look(0)
    times.push('2026-11-28T12:00:30.000Z')
    await look(0)
    expect([job.problem(), texts()]).to.deep.equal([undefined, []])
    times.push('2026-11-28T15:00:00.000Z')
    for (const minute of [1, 2]) await look(minute * 60_000)
    expect(job.problem()).to.include('has 2026-11-28T15:00:00.000Z, which was 10680 s ahead')
    expect(texts()).to.have.length(1)
    await look(3 * 3_600_000)
    expect(job.problem()).to.equal(undefined)
    expect(texts().at(-1)).to.equal('new events have the time at which they are stored again')
  })
})
