import { expect } from 'chai'
import { watchForLostEvents } from '../../../src/app/health/lostevents.ts'
import { keepLines } from '../../support/logger.ts'

describe('a log that was put back to an older copy', () => {
  const checkpoint = (position: number, id: string | null = `event-${position}`) => ({
    position: String(position),
    event_id: id,
  })
  const setUp = () => {
    const events = new Map([10n, 20n, 30n].map((position) => [position, `event-${position}`]))
    const { lines, logger } = keepLines()
    const { look, problem } = watchForLostEvents({ idAt: async (position) => events.get(position) }, logger)
    return { events, look, problem, texts: () => lines.map(({ msg }) => msg) }
  }

  it('is noticed when it does not have the newest event of the tables, and said in one line with the cure', async () => {
    const { events, look, problem, texts } = setUp()
    await look([checkpoint(20), checkpoint(30), checkpoint(0, null)])
    expect(problem()).to.equal(undefined)
    events.delete(30n)
    for (let n = 0; n < 5; n++) await look([checkpoint(20), checkpoint(30)])
    expect(problem()).to.include('put back to an older copy').and.include('Restart all processes')
    expect(texts()).to.deep.equal([problem()])
  })

  it('is noticed when the tables were put back with it, and when another event has the place', async () => {
    for (const change of ['delete', 'set'] as const) {
      const { events, look, problem } = setUp()
      await look([checkpoint(30)])
      events[change](30n, 'another event')
      await look([checkpoint(20)])
      expect(problem(), change).to.be.a('string')
    }
  })

  it('is still reported when it continues with other events, until it has the lost ones again', async () => {
    const { events, look, problem, texts } = setUp()
    await look([checkpoint(30)])
    events.delete(30n)
    await look([checkpoint(30)])
    events.set(40n, 'event-40')
    await look([checkpoint(40)])
    expect(problem()).to.be.a('string')
    events.set(30n, 'event-30')
    await look([checkpoint(40)])
    expect(problem()).to.equal(undefined)
    expect(texts().at(-1)).to.equal('the event log has all events again that this process has seen')
  })

  it('is not reported for a log that does not respond, or has no events yet', async () => {
    const { logger } = keepLines()
    const { look, problem } = watchForLostEvents({ idAt: () => Promise.reject(new Error('away')) }, logger)
    await look([])
    await look([checkpoint(30)]).catch(() => {})
    expect(problem()).to.equal(undefined)
  })
})
