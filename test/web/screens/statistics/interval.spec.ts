import { expect } from 'chai'
import type * as TimeModule from '../../../../src/web/core/time.ts'
import type * as PeriodModule from '../../../../src/web/screens/statistics/period.ts'
import { usePage } from '../../page.ts'

let useZone: (typeof TimeModule)['useZone']
let visitsIn: (typeof PeriodModule)['visitsIn']

describe('the visits of an interval of the chart', () => {
  usePage(async () => {
    ;({ useZone } = await import('../../../../src/web/core/time.ts'))
    ;({ visitsIn } = await import('../../../../src/web/screens/statistics/period.ts'))
  })
  afterEach(() => useZone('UTC'))
  const day = (text: string) => new Date(`${text}T00:00:00Z`)
  const march = { from: day('2026-03-10'), to: day('2026-05-11') }

  it('are those of its days by the clocks of the reader, also where a day has 23 hours', () => {
    useZone('Europe/Berlin')
    const [at, next] = [new Date('2026-03-28T23:00:00Z'), new Date('2026-03-29T22:00:00Z')]
    expect(visitsIn('day', at, next, march)).to.deep.equal({ period: 'custom', from: '2026-03-29', to: '2026-03-29' })
    expect(visitsIn('day', new Date('2026-05-09T22:00:00Z'), undefined, march)).to.include({ from: '2026-05-10' })
  })

  it('are those of a month within the period', () => {
    const months = ['2026-03-01', '2026-04-01', '2026-05-01'].map(day)
    const days = months.map((at, i) => visitsIn('month', at, months[i + 1], march))
    expect(days.map(({ from, to }) => [from, to])).to.deep.equal([
      ['2026-03-10', '2026-03-31'],
      ['2026-04-01', '2026-04-30'],
      ['2026-05-01', '2026-05-10'],
    ])
  })

  it('are those of an hour by its start and end, also where the clocks show it twice', () => {
    useZone('Europe/Berlin')
    const [first, second, next] = ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z', '2026-10-25T02:00:00.000Z']
    const hours = [visitsIn('hour', new Date(first), new Date(second), march)]
    hours.push(visitsIn('hour', new Date(second), new Date(next), march))
    expect(hours).to.deep.equal([
      { hour: first, until: second },
      { hour: second, until: next },
    ])
  })

  it('are those of the hour and a half, or the half hour, that a change of clocks by half an hour leaves', () => {
    useZone('Australia/Lord_Howe')
    for (const [from, to, minutes] of [
      ['2026-04-04T14:00:00Z', '2026-04-04T15:30:00Z', 90],
      ['2026-10-03T15:30:00Z', '2026-10-03T16:00:00Z', 30],
    ] as const) {
      const { hour = '', until = '' } = visitsIn('hour', new Date(from), new Date(to), march)
      expect((Date.parse(until) - Date.parse(hour)) / 60_000, from).to.equal(minutes)
    }
  })

  it('end with the last day of the period, by the clocks of the reader', () => {
    useZone('America/New_York')
    const { until } = visitsIn('hour', new Date('2026-05-11T03:00:00Z'), undefined, march)
    expect(until).to.equal('2026-05-11T04:00:00.000Z')
  })
})
