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

  it('are those of an hour by its start, also where the clocks show it twice', () => {
    useZone('Europe/Berlin')
    const twice = ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z']
    expect(twice.map((at) => visitsIn('hour', new Date(at), undefined, march))).to.deep.equal(
      twice.map((hour) => ({ hour })),
    )
  })
})
