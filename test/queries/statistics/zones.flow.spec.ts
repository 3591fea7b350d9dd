import { expect } from 'chai'
import type { Interval } from '../../../src/lib/zone.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import type { Clicked } from '../../../src/projections/statistics/clickfacts.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { filteredStats } from '../../../src/queries/statistics/filtered.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { onCalendar } from '../../support/calendar.ts'
import { clicked, recorded } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { openTestLog, randomClick, type TestLog } from '../../support/log.ts'

const hourMs = 3_600_000
const [start, end] = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)]
/** What is special about them: summer time, halves and quarters of an hour, midnights that are skipped, the date line. */
const zones = [
  'Europe/Berlin',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'America/Havana',
  'Africa/Casablanca',
  'Pacific/Kiritimati',
] as const

describe(`statistics in time zones (${repeatable})`, () => {
  const random = randomFrom(seed)
  let log: TestLog
  let reader: Reader
  let events: readonly Clicked[]
  before(async () => {
    log = await openTestLog()
    // nights in which clocks change have more visits than others
    const nights = [Date.UTC(2026, 2, 29), Date.UTC(2026, 9, 25), Date.UTC(2026, 2, 8), Date.UTC(2026, 10, 1)]
    const batches = Array.from({ length: 60 }, (_, n) =>
      Array.from({ length: 80 }, () => {
        const night = nights[random(4 * 8)]
        const at = night
          ? night + random(12 * hourMs)
          : start + Math.floor((n / 60) * (end - start)) + random(6 * 24 * hourMs)
        return {
          ...randomClick(random, 3),
          account: 1,
          visitor: random(999).toString(16),
          at: new Date(at).toISOString(),
        }
      }),
    )
    events = (recorded(batches.map((batch) => clicked(...batch))) as Clicked[]).map((event, n) => ({
      ...event,
      metadata: { ...event.metadata, at: new Date(start + ((n + 1) / 60) * (end - start)).toISOString() },
    }))
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    await stats.write(log.db, table, events, changesOf)
    reader = { db: log.db, table }
  })
  after(() => log.close())

  /** Counts the visits by the pages of a calendar, empty ones included. */
  const byHand = (zone: string, interval: Interval, from: number, to: number) => {
    const pages = new Map<string, number>()
    const step = interval === 'hour' ? hourMs / 4 : 6 * hourMs
    for (let at = from; at < to + step; at += step)
      pages.set(onCalendar(zone, new Date(Math.min(at, to - 1)), interval), 0)
    for (const { at } of events.flatMap(({ data }) => data.clicks)) {
      const page = onCalendar(zone, at, interval)
      if (Date.parse(at) >= from && Date.parse(at) < to) pages.set(page, (pages.get(page) ?? 0) + 1)
    }
    return Object.fromEntries(pages)
  }
  const expectPages = async (zone: string, interval: Interval, from: number, to: number) => {
    const expected = byHand(zone, interval, from, to)
    const time = { from: new Date(from), to: new Date(to), interval, zone, by: ['country'], limit: 1000 } as const
    // from the sums, and from the visits one by one
    for (const filters of [{}, { class: ['human', 'bot', 'preview', 'prefetch'] }] as const) {
      const { total, points, by } = await filteredStats(reader, { account: 1 }, { ...time, filters })
      const about = `${zone} by ${interval} from ${time.from.toISOString()} to ${time.to.toISOString()}`
      const found = points.map(({ at, visits }) => [onCalendar(zone, at, interval), visits] as const)
      expect(Object.fromEntries(found), about).to.deep.equal(expected)
      expect(found.length, about).to.equal(Object.keys(expected).length)
      expect(
        points.reduce((sum, { visits }) => sum + visits, 0),
        about,
      ).to.equal(total.visits)
      const rows = by.country?.reduce((sum, { n }) => sum + n, 0)
      expect(rows, about).to.equal('class' in filters ? total.visits : total.clicks)
    }
  }

  const others = Intl.supportedValuesOf('timeZone').filter((zone) => !zones.some((one) => one === zone))
  for (const zone of [...zones, others[random(others.length)]!, others[random(others.length)]!])
    it(`have the days, weeks and months of ${zone}, as a count by hand has them`, async () => {
      for (const interval of ['day', 'week', 'month'] as const) await expectPages(zone, interval, start, end)
      const from = start + random(200 * 24 * 60) * 60_000
      await expectPages(zone, 'day', from, from + random(100 * 24 * hourMs) + 1)
    })

  it('have the hours of a night in which clocks change', async () => {
    for (const [zone, night] of [
      ['Europe/Berlin', Date.UTC(2026, 2, 29)],
      ['Europe/Berlin', Date.UTC(2026, 9, 25)],
      ['America/St_Johns', Date.UTC(2026, 10, 1)],
    ] as const)
      await expectPages(zone, 'hour', night - 6 * hourMs, night + 18 * hourMs)
  })
})
