import { expect } from 'chai'
import type * as PeriodModule from '../../../../src/web/screens/statistics/period.ts'
import { usePage } from '../../page.ts'

let period: typeof PeriodModule

const now = new Date('2026-04-09T18:45:10Z')
const since = new Date('2024-02-29T13:00:00Z')
const iso = (date: Date) => date.toISOString().slice(0, 16)

describe('the period of statistics', () => {
  usePage(async () => {
    period = await import('../../../../src/web/screens/statistics/period.ts')
  })
  const periodOf = (query: string) => period.periodOf(new URLSearchParams(query), since, now)

  const usual: readonly (readonly [query: string, from: string, interval: string])[] = [
    ['period=today', '2026-04-09T00:00', 'hour'],
    ['period=7d', '2026-04-03T00:00', 'day'],
    ['period=30d', '2026-03-11T00:00', 'day'],
    ['period=quarter', '2026-01-09T00:00', 'day'],
    ['period=year', '2025-04-10T00:00', 'day'],
    ['period=all', '2024-02-29T00:00', 'month'],
    ['', '2026-03-11T00:00', 'day'],
  ]
  for (const [query, from, interval] of usual)
    it(`of ${query || 'no choice'} ends with today, in whole days of UTC`, () => {
      const found = periodOf(query)
      expect([iso(found.from), iso(found.to), found.interval]).to.deep.equal([from, '2026-04-10T00:00', interval])
    })

  it('of one’s own choice has both of its days', () => {
    const found = periodOf('period=custom&from=2026-03-01&to=2026-03-02')
    expect([iso(found.from), iso(found.to), found.interval]).to.deep.equal([
      '2026-03-01T00:00',
      '2026-03-03T00:00',
      'hour',
    ])
    expect(iso(period.lastDay(found))).to.equal('2026-03-02T00:00')
    expect(periodOf('period=custom&from=2026-03-01&to=2026-03-01').interval).to.equal('hour')
    expect(periodOf('period=custom&from=2026-03-01&to=2026-03-03').interval).to.equal('day')
    expect(periodOf('period=custom&from=2024-01-01&to=2026-03-03').interval).to.equal('month')
  })

  it('is the last 30 days when the address has no valid one', () => {
    for (const query of [
      'period=century',
      'period=custom',
      'period=custom&from=2026-03-02&to=2026-03-01',
      'period=custom&from=yesterday&to=2026-03-01',
    ])
      expect(periodOf(query).name, query).to.equal('30d')
  })

  it('is compared with as many days before it', () => {
    const before = period.periodBefore(periodOf('period=7d'))
    expect([iso(before.from), iso(before.to), before.interval]).to.deep.equal([
      '2026-03-27T00:00',
      '2026-04-03T00:00',
      'day',
    ])
  })

  it('ends with the day that it is where the reader is', async () => {
    const { useZone } = await import('../../../../src/web/core/time.ts')
    try {
      useZone('Asia/Kathmandu')
      const found = periodOf('period=today')
      expect(period.periodQuery(found)).to.equal('from=2026-04-10&to=2026-04-10&interval=hour&tz=Asia%2FKathmandu')
      expect(period.periodInWords(found)).to.equal('10 April 2026')
    } finally {
      useZone('UTC')
    }
  })

  it('is sent and shown with its last day', () => {
    expect(period.periodQuery(periodOf('period=7d'))).to.equal('from=2026-04-03&to=2026-04-09&interval=day&tz=UTC')
    expect(period.periodInWords(periodOf('period=7d'))).to.equal('3 April 2026 – 9 April 2026')
    expect(period.periodInWords(periodOf('period=today'))).to.equal('9 April 2026')
  })
})
