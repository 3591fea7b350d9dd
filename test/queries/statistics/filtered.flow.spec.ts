import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import type { Clicked } from '../../../src/projections/statistics/clickfacts.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import type { Subject } from '../../../src/queries/statistics/facts.ts'
import {
  type BreakdownDimension,
  breakdownDimensions,
  filteredStats,
  type FilteredOptions,
} from '../../../src/queries/statistics/filtered.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import { clicked, recorded } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { openTestLog, randomClick, type TestLog } from '../../support/log.ts'

const day = 86_400_000
const first = Date.parse('2026-01-30T00:00:00Z')
const days = 4
const rules = ['link', 'link', 'device:ios', 'variant:1', 'variant:2']

const valuesOf = (click: Click): Readonly<Record<BreakdownDimension, string>> => ({
  country: click.country,
  referrer: click.referrer,
  medium: click.medium ?? '',
  browser: click.browser.family,
  os: click.os.family,
  device: click.device,
  language: click.language,
  source: click.source.kind,
  variant: /^variant:(\d+)$/.exec(click.rule)?.[1] ?? '',
  address: String(click.address ?? 1),
  rule: click.rule,
  class: click.class,
  link: String(click.link),
})

/** Counts what passes filters, without any table. */
const model = (events: readonly Clicked[], of: Subject, { filters, by, from, to }: FilteredOptions) => {
  const known = new Set<string>()
  const passed = events.flatMap(({ data }) =>
    data.clicks.flatMap((click) => {
      const visitor = `${click.link}/${click.visitor}`
      const unique = click.class === 'human' && !known.has(visitor)
      if (unique) known.add(visitor)
      const [at, values] = [Date.parse(click.at), valuesOf(click)]
      const isAsked = ('link' in of ? click.link === of.link : true) && at >= from.getTime() && at < to.getTime()
      const passes = Object.entries(filters).every(([name, some]) =>
        (some as readonly string[]).includes(values[name as BreakdownDimension]),
      )
      return isAsked && passes ? [{ ...values, unique }] : []
    }),
  )
  const rows = (name: BreakdownDimension) => {
    const counts: Record<string, number> = {}
    for (const one of passed)
      if (name === 'class' || filters.class || one.class === 'human') counts[one[name]] = (counts[one[name]] ?? 0) + 1
    return counts
  }
  return {
    total: {
      clicks: passed.filter((one) => one.class === 'human').length,
      uniques: passed.filter(({ unique }) => unique).length,
      visits: passed.length,
    },
    by: Object.fromEntries(by.map((name) => [name, rows(name)])),
  }
}

describe(`filtered statistics (${repeatable})`, () => {
  const random = randomFrom(seed)
  const pick = <T>(values: readonly T[]) => values[random(values.length)]!
  let log: TestLog
  let reader: Reader
  let events: readonly Clicked[]
  before(async () => {
    log = await openTestLog()
    const batches = Array.from({ length: 90 }, (_, n) =>
      Array.from({ length: 1 + random(60) }, () => ({
        ...randomClick(random, 3),
        account: 1,
        rule: pick(rules),
        visitor: random(300).toString(16),
        at: new Date(first + Math.floor((n / 90) * days * day) + random(day)).toISOString(),
      })),
    )
    events = (recorded(batches.map((batch) => clicked(...batch))) as Clicked[]).map((event, n) => ({
      ...event,
      metadata: { ...event.metadata, at: new Date(first + ((n + 1) / 90) * days * day).toISOString() },
    }))
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    for (let from = 0; from < events.length; from += 15)
      await stats.write(log.db, table, events.slice(from, from + 15), changesOf)
    reader = { db: log.db, table }
  })
  after(() => log.close())

  const filterOf = (): FilteredOptions['filters'] => {
    const some = <T>(values: readonly T[]) => values.filter((_, n) => n === 0 || random(2) === 0)
    const all = {
      country: some(['DE', 'CA', '']),
      browser: some(['Chrome', 'nothing has this']),
      device: some(['desktop', 'mobile']),
      variant: some(['1', '']),
      rule: some(['link', 'device:ios', 'variant:2']),
      class: some(['human', 'bot', 'preview'] as const),
    }
    return Object.fromEntries(Object.entries(all).filter(() => random(4) === 0))
  }
  const expectAgreement = async (from: Reader, known: readonly Clicked[], questions: number) => {
    for (let n = 0; n < questions; n++) {
      const subject = pick<Subject>([{ account: 1 }, { link: 1 }, { link: 2 }])
      const [a, b] = [random(days * day), random(days * day) - (random(2) ? 0 : day)]
      const [start, end] = [first + Math.min(a, b), first + Math.max(a, b) + 1]
      const question = {
        from: new Date(start),
        to: new Date(end),
        interval: pick(['hour', 'day', 'month'] as const),
        by: breakdownDimensions.filter(() => random(2) === 0),
        filters: filterOf(),
        limit: 1000,
      }
      const { total, points, by } = await filteredStats(from, subject, question)
      const found = {
        total: { clicks: total.clicks, uniques: total.uniques, visits: total.visits },
        by: Object.fromEntries(
          question.by.map((name) => [name, Object.fromEntries(by[name]!.map((one) => [one.label, one.n]))]),
        ),
      }
      const what = JSON.stringify({ subject, question })
      expect(found, what).to.deep.equal(model(known, subject, question))
      for (const name of ['clicks', 'uniques', 'visits'] as const)
        expect(
          points.reduce((sum, point) => sum + point[name], 0),
          what,
        ).to.equal(total[name])
    }
  }

  it('equal a count of the clicks for every filter and breakdown', () => expectAgreement(reader, events, 30))

  it('equal a count of the clicks up to an earlier event', async () => {
    const n = 1 + random(events.length)
    await log.db.transaction(async (tx) => {
      const earlier = await readAt(tx, reader.table, { domain: 0n, clicks: events[n - 1]!.position })
      await expectAgreement(earlier, events.slice(0, n), 15)
    })
  })
})
