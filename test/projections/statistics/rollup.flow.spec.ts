import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import { type Clicked, subjects } from '../../../src/projections/statistics/clickfacts.ts'
import { changesOf, type TableNames } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { topDimensions } from '../../../src/projections/statistics/labels.ts'
import { dropOldFacts } from '../../../src/projections/statistics/retention.ts'
import { progressAfter, rollAfter } from '../../../src/projections/statistics/rollup.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { BeforeHorizon } from '../../../src/queries/statistics/facts.ts'
import { routesOf } from '../../../src/queries/history/revisions.ts'
import {
  clickSeries,
  seriesDimensions,
  type SeriesOptions,
  type Subject,
} from '../../../src/queries/statistics/series.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { linkStats } from '../../../src/queries/statistics/stats.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import { intervals, utc } from '../../../src/lib/zone.ts'
import { onCalendar } from '../../support/calendar.ts'
import { clicked, recorded } from '../../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, openTestLog, randomClick, type TestLog } from '../../support/log.ts'

type Random = (below: number) => number
const dayMs = 86_400_000
const first = Date.parse('2026-01-29T00:00:00Z')
const days = 5

/** Clicks of a few days around the end of a month: on one busy link, on some others, and in bursts by one visitor. */
const randomEvents = (random: Random, clicks: number): Clicked[] => {
  const batches: Click[][] = []
  for (let n = 0; n < clicks;) {
    const size = 1 + random(200)
    // most clicks are recorded soon, some hours later
    const delay = random(8) === 0 ? random(dayMs) : 0
    const begin = first + Math.floor((n / clicks) * days * dayMs)
    const noon = begin - (begin % dayMs) - random(3) * dayMs + dayMs / 2
    const burst = random(4) === 0 ? Math.max(first, noon) : undefined
    batches.push(
      Array.from({ length: size }, () => {
        const click = randomClick(random, 4)
        const at = new Date(
          (burst ?? Math.max(first, begin - delay + random(3 * 3_600_000))) + random(40_000),
        ).toISOString()
        const visitor = burst === undefined ? random(500).toString(16) : 'abc'
        return {
          ...click,
          at,
          visitor,
          link: random(3) === 0 ? click.link : 7,
          ...(random(3) === 0 ? {} : { source: { kind: 'qr', id: 7 } }),
          account: 1,
          rule: ['device:ios', 'variant:1', 'variant:2', 'link'][Math.min(3, random(9))]!,
        }
      }),
    )
    n += size
  }
  const events = recorded(batches.map((batch) => clicked(...batch))) as Clicked[]
  // a clock that is ahead of the log's must not matter: a part of the clicks is recorded before it happens
  return events.map((event, n) => {
    const at = new Date(first + ((n + 3) / events.length) * days * dayMs).toISOString()
    return { ...event, metadata: { ...event.metadata, at } }
  })
}

/** QR codes, one of which is scanned by most visitors. */
const [busyCode, code] = [{ link: subjects.qr(7) }, { link: subjects.qr(2) }]

/** Returns a visit, and for a QR code its scans only. */
const seenBy = (of: Subject, click: Click): readonly Click[] => {
  if (!('link' in of) || of.link >= 0) return [click]
  const { kind, id } = click.source
  return kind === 'qr' && subjects.qr(id) === of.link ? [{ ...click, link: of.link }] : []
}

/** Counts without any table. */
const model = (events: readonly Clicked[], of: Subject, { from, to, interval, zone = utc, by }: SeriesOptions) => {
  const known = new Set<string>()
  const visits = events.flatMap(({ data }) =>
    data.clicks
      .flatMap((one) => seenBy(of, one))
      .map((click) => {
        const key = `${click.link}/${click.visitor}`
        const unique = click.class === 'human' && !known.has(key)
        if (unique) known.add(key)
        return { ...click, unique }
      }),
  )
  const own = visits.filter(
    (visit) =>
      ('link' in of ? visit.link === of.link : visit.account === of.account) &&
      Date.parse(visit.at) >= from.getTime() &&
      Date.parse(visit.at) < to.getTime(),
  )
  const people = own.filter((visit) => visit.class === 'human')
  const tally = (keys: readonly string[]) => {
    const counts = new Map<string, number>()
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
    return counts
  }
  const perMinute = tally(people.map(({ link, visitor, at }) => `${link}/${visitor}/${at.slice(0, 16)}`))
  const points = tally(people.map(({ at }) => onCalendar(zone, at, interval)))
  const labels = (click: Click) => ({
    ...click,
    medium: click.medium ?? '',
    address: String(click.address ?? 1),
    browser: click.browser.family,
    os: click.os.family,
    source: click.source.kind as string,
    variant: click.rule.startsWith('variant:') ? click.rule.slice(8) : '',
  })
  return {
    total: {
      clicks: people.length,
      uniques: own.filter(({ unique }) => unique).length,
      visits: own.length,
      suspects: [...perMinute.values()].reduce((sum, n) => sum + Math.max(0, n - 30), 0),
    },
    points: Object.fromEntries(points),
    by: Object.fromEntries(
      by.map((dim) => [dim, Object.fromEntries(tally(people.map((click) => labels(click)[dim])))]),
    ),
  }
}

describe(`roll-ups of statistics (${repeatable})`, () => {
  let log: TestLog
  const random = randomFrom(seed)
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  /** New tables with these events, in batches of random sizes. */
  const written = async (events: readonly Clicked[], most: number) => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    for (let from = 0; from < events.length;) {
      const to = from + 1 + random(most)
      await stats.write(log.db, table, events.slice(from, to), changesOf)
      from = to
    }
    return { generation, reader: { db: log.db, table } }
  }
  const asked = (subject: Subject): { readonly subject: Subject; readonly options: SeriesOptions } => {
    // moments at borders of days and hours, in the middle of a minute, and before and after all clicks
    const moment = () => first + (random(days + 2) - 1) * dayMs + [0, random(24) * 3_600_000, random(dayMs)][random(3)]!
    const [a, b] = [moment(), moment() + 1]
    const interval = intervals[random(intervals.length)]!
    const zone = [undefined, 'Asia/Kathmandu', 'America/New_York'][random(3)]
    const by = seriesDimensions.filter(() => random(3) === 0)
    return {
      subject,
      options: { from: new Date(Math.min(a, b)), to: new Date(Math.max(a, b) + 1), interval, zone, by },
    }
  }

  const expectWays = async (reader: Reader, events: readonly Clicked[], link: number) => {
    const ways: Record<string, number[]> = {}
    const revisions = new Set<number>()
    for (const click of events.flatMap(({ data }) => data.clicks.filter((one) => one.link === link))) {
      const way = (ways[`${click.revision} ${click.rule}`] ??= [0, 0])
      way[0]! += click.class === 'human' ? 1 : 0
      way[1]! += 1
      revisions.add(click.revision)
    }
    const sent = await routesOf(reader, link, [...revisions])
    const found = sent.map(({ revision, rule, clicks, visits }) => [`${revision} ${rule}`, [clicks, visits]])
    expect(Object.fromEntries(found)).to.deep.equal(ways)
  }
  const expectTotals = async (reader: Reader, events: readonly Clicked[]) => {
    for (const link of [7, 1, 99, busyCode.link, code.link]) {
      if (link > 0) await expectWays(reader, events, link)
      const { clicks, uniques, ...tops } = await linkStats(reader, link)
      const all = { from: new Date(0), to: new Date('2100-01-01'), interval: 'month', by: seriesDimensions } as const
      const exact = model(events, { link }, all)
      expect({ clicks, uniques }).to.deep.equal({ clicks: exact.total.clicks, uniques: exact.total.uniques })
      for (const dim of topDimensions)
        expect(Object.fromEntries(tops[dim].map(({ label, n }) => [label, n])), `link ${link}`).to.deep.equal(
          exact.by[dim],
        )
    }
  }
  const expectSeries = async (
    reader: Reader,
    events: readonly Clicked[],
    { subject, options }: ReturnType<typeof asked>,
  ) => {
    const { total, points, by } = await clickSeries(reader, subject, options)
    const found = {
      total,
      points: Object.fromEntries(
        points
          .filter(({ clicks }) => clicks > 0)
          .map((point) => [onCalendar(options.zone ?? utc, point.at, options.interval), point.clicks]),
      ),
      by: Object.fromEntries(
        options.by.map((dim) => [
          dim,
          Object.fromEntries(by[dim]!.counts.map(({ label, n: count }) => [label, count])),
        ]),
      ),
    }
    const question = JSON.stringify({ subject, ...options })
    expect(found, question).to.deep.equal(model(events, subject, options))
  }
  const expectAgreement = async (reader: Reader, events: readonly Clicked[], questions: number) => {
    const all = [{ link: 7 }, busyCode, { account: 1 }, { link: 1 }, code, { account: 1 }, { link: 99 }]
    for (let n = 0; n < questions; n++) await expectSeries(reader, events, asked(all[n % all.length]!))
    await expectTotals(reader, events)
  }

  const drop = (names: TableNames, until: string, atOnce = { subjectsAtOnce: 10, pagesAtOnce: 10 }) =>
    dropOldFacts({
      locked: (work) => log.db.transaction(work),
      names,
      horizon: Date.parse(until) / 60_000,
      ...atOnce,
    })

  it('agree with a count of the clicks for every query, and do not depend on batches', async () => {
    const events = randomEvents(random, long ? 5000 : 2000)
    const { reader, generation } = await written(events, 6)
    const again = await written(events, 40)
    expect(await dump(log.db, stats, again.generation)).to.deep.equal(await dump(log.db, stats, generation))
    const rolled = (await log.db(reader.table('quarters')).count('* as n')) as { n: string }[]
    expect(Number(rolled[0]?.n)).to.be.above(0)

    await expectAgreement(reader, events, long ? 42 : 18)
  })

  it('return the same for the past after any event, however late clicks were recorded, and after old months are dropped', async () => {
    const events = randomEvents(random, long ? 4000 : 2500)
    const { reader } = await written(events, 20)
    const askAt = (n: number, questions: number) =>
      log.db.transaction(async (tx) => {
        const position = events[n - 1]!.position
        const earlier = await readAt(tx, reader.table, { domain: 0n, clicks: position })
        await expectAgreement(earlier, events.slice(0, n), questions)
      })
    for (let n = 0; n < (long ? 3 : 2); n++) await askAt(1 + random(events.length), long ? 8 : 6)
    // what was recorded of the month that is dropped is refused before its last event: see `ClicksDropped`
    await drop(reader.table, '2026-02-01')
    const [horizon] = (await log.db(reader.table('click_horizon'))) as { position: string }[]
    const oldest = events.findIndex(({ position }) => position >= BigInt(horizon?.position ?? 0))
    const january = events.findLastIndex(({ data }) => data.clicks.some(({ at }) => at < '2026-02'))
    expect(oldest).to.equal(january)
    for (const n of [oldest + 1, oldest + 1 + random(events.length - oldest)])
      await log.db.transaction(async (tx) => {
        const earlier = await readAt(tx, reader.table, { domain: 0n, clicks: events[n - 1]!.position })
        await expectTotals(earlier, events.slice(0, n))
      })
  })

  const visits = (n: number, day: string) =>
    Array.from({ length: n }, (_, minute) => ({
      ...randomClick(random, 4),
      at: new Date(Date.parse(day) + minute * 60_000).toISOString(),
      link: 7,
      account: 1,
    }))
  const eventsOf = (...batches: readonly Click[][]) =>
    (recorded(batches.map((batch) => clicked(...batch))) as Clicked[]).map((event) => ({
      ...event,
      metadata: { ...event.metadata, at: event.data.clicks.at(-1)!.at },
    }))
  const expectAfter = (reader: Reader, events: readonly Clicked[], n: number) =>
    log.db.transaction(async (tx) => {
      const earlier = await readAt(tx, reader.table, { domain: 0n, clicks: events[n - 1]!.position })
      await expectTotals(earlier, events.slice(0, n))
    })

  it('leave only the clicks since the last of them to be counted one by one, for a time that ends now', async () => {
    const hours = ['2026-01-05', '2026-01-06'].flatMap((day) =>
      Array.from({ length: 24 }, (_, hour) => visits(60, `${day}T${String(hour).padStart(2, '0')}:00:00Z`)),
    )
    const events = eventsOf(...hours.slice(0, 36))
    const { reader } = await written(events, 20)
    const [found] = (await log.db(reader.table('link_stats')).where({ link: 7 })) as { rolled: number }[]
    expect(found?.rolled).to.be.above(Date.parse('2026-01-06') / 60_000)
    const counted: number[] = []
    const listen = ({ sql }: { readonly sql: string }) =>
      counted.push(...[...sql.matchAll(/ c\.minute >= (\d+)/g)].map(([, minute]) => Number(minute)))
    log.db.on('query', listen)
    const [from, to] = [new Date('2026-01-05'), new Date('2026-01-06T12:00:30Z')]
    for (const subject of [{ link: 7 }, { account: 1 }])
      for (const interval of ['hour', 'day'] as const)
        await expectSeries(reader, events, { subject, options: { from, to, interval, by: ['country', 'referrer'] } })
    log.db.off('query', listen)
    expect(counted.length).to.be.at.least(8)
    expect(Math.min(...counted)).to.be.at.least(found?.rolled ?? Infinity)
  })

  it('return the same for any hour of a day, also when some of its clicks are recorded on the next day', async () => {
    const hours = ['2026-01-05', '2026-01-06', '2026-01-07'].flatMap((day) =>
      Array.from({ length: 24 }, (_, hour) => visits(50, `${day}T${String(hour).padStart(2, '0')}:00:00Z`)),
    )
    const late = (time: string) => hours.toSpliced(60, 0, visits(50, `2026-01-06T${time}Z`))
    for (const batches of [hours, late('10:00'), late('20:00')]) {
      const events = eventsOf(...batches)
      const { reader } = await written(events, 20)
      for (let n = 38; n <= 50; n += long ? 2 : 4) await expectAfter(reader, events, n)
    }
  })

  describe('of a link that had none when the clicks of a month were recorded', () => {
    it('return the same for the past when that month is dropped', async () => {
      const events = eventsOf(
        visits(500, '2026-01-31'),
        visits(rollAfter - 501, '2026-01-31T09:00Z'),
        visits(20, '2026-02-01'),
        visits(20, '2026-02-02'),
      )
      const { reader } = await written(events, 1)
      await drop(reader.table, '2026-02-01')
      for (const n of [2, 3, 4]) await expectAfter(reader, events, n)
    })

    it('return the same for the past, also when an earlier month was dropped before', async () => {
      const events = eventsOf(
        visits(400, '2026-01-31'),
        visits(300, '2026-02-20'),
        visits(rollAfter - 701, '2026-02-20T09:00Z'),
        visits(20, '2026-03-01'),
        visits(20, '2026-03-02'),
      )
      const { reader } = await written(events.slice(0, 3), 1)
      await drop(reader.table, '2026-02-01')
      if ('on' in stats) throw new Error('statistics write by themselves')
      for (const event of events.slice(3)) await stats.write(log.db, reader.table, [event], changesOf)
      await drop(reader.table, '2026-03-01')
      for (const n of [3, 4, 5]) await expectAfter(reader, events, n)
    })
  })

  it('say how many visits each revision of a link sent where, and by which rule', async () => {
    const events = randomEvents(random, 1000)
    const { reader } = await written(events, 5)
    const rows = (await log.db(reader.table('link_routes')).where({ link: 7 })) as Record<string, string>[]
    const clicks = events.flatMap(({ data }) => data.clicks.filter(({ link }) => link === 7))
    const sum = (name: string, some = rows) => some.reduce((total, row) => total + Number(row[name]), 0)
    expect(sum('visits')).to.equal(clicks.length)
    expect(sum('clicks')).to.equal(clicks.filter(({ class: kind }) => kind === 'human').length)
    const byRule = rows.filter(({ rule }) => rule === 'device:ios')
    expect(sum('visits', byRule)).to.equal(clicks.filter(({ rule }) => rule === 'device:ios').length)
    expect(rows.map(({ destination }) => destination)).to.include('https://example.com/')
  })

  it('keep all totals when the clicks of old months are dropped, and name the horizon to a question about them', async () => {
    // so many that the busy link has roll-ups before the last events for every seed
    const events = randomEvents(random, long ? 4000 : 3500)
    const [most, late] = [events.slice(0, -8), events.slice(-8)]
    const { reader } = await written(most, 20)
    const dropJanuary = () => drop(reader.table, '2026-02-01', { subjectsAtOnce: 1, pagesAtOnce: 3 })
    expect(await dropJanuary()).to.deep.equal([`${reader.table('clicks')}_2026_01`])
    expect(await dropJanuary()).to.deep.equal([])
    // clicks of the month that is gone, too
    const moved = late.map((event) => ({
      ...event,
      data: {
        ...event.data,
        clicks: event.data.clicks.map((one, n) => (n % 2 ? one : { ...one, at: '2026-01-30T05:00:00.000Z' })),
      },
    }))
    if ('on' in stats) throw new Error('statistics write by themselves')
    await stats.write(log.db, reader.table, moved, changesOf)
    expect(await dropJanuary()).to.have.length(1)

    const all = [...most, ...moved]
    const options = { from: new Date('2026-01-01'), to: new Date('2026-03-01'), interval: 'month', by: [] } as const
    for (const link of [7, 1, busyCode.link, code.link]) {
      const { clicks, uniques, ...tops } = await linkStats(reader, link)
      const exact = model(all, { link }, { ...options, by: seriesDimensions })
      expect({ clicks, uniques }).to.deep.equal({ clicks: exact.total.clicks, uniques: exact.total.uniques })
      for (const dim of topDimensions)
        expect(Object.fromEntries(tops[dim].map(({ label, n }) => [label, n])), `link ${link}`).to.deep.equal(
          exact.by[dim],
        )
    }
    const total = async (subject: Subject, from: string) => {
      const { clicks, visits } = (await clickSeries(reader, subject, { ...options, from: new Date(from) })).total
      return { clicks, visits }
    }
    const exact = (subject: Subject, from: string) => {
      const { clicks, visits } = model(all, subject, { ...options, from: new Date(from) }).total
      return { clicks, visits }
    }
    for (const subject of [{ account: 1 }, { link: 7 }, { link: 99 }, busyCode])
      for (const from of ['2026-01-30T07:00:00Z', '2026-01-30T07:45:00Z'])
        expect(await total(subject, from)).to.deep.equal(exact(subject, from))
    for (const subject of [{ account: 1 }, { link: 7 }, { link: 1 }, busyCode, code])
      expect(await total(subject, '2026-02-01T00:30:00Z')).to.deep.equal(exact(subject, '2026-02-01T00:30:00Z'))
    const refused = [
      [{ account: 1 }, '2026-01-30T07:00:01Z'],
      [{ link: 7 }, '2026-01-30T07:31:00Z'],
      [{ link: 1 }, '2026-01-30T07:00:00Z'],
    ] as const
    for (const [subject, from] of refused) {
      const problem = await total(subject, from).catch((error: unknown) => error)
      expect(problem, JSON.stringify(subject)).to.be.instanceOf(BeforeHorizon)
      expect((problem as BeforeHorizon).horizon.toISOString()).to.equal('2026-02-01T00:00:00.000Z')
    }
  })

  it('keep the totals of a link when its account was rolled up right to the end of the month that is dropped', async () => {
    const events = eventsOf(
      visits(500, '2026-01-20'),
      visits(rollAfter - 502, '2026-01-20T09:00Z'),
      visits(1, '2026-01-25').map((click) => ({ ...click, link: 1 })),
      visits(1, '2026-02-01'),
    )
    const { reader } = await written(events, 1)
    const [account] = (await log.db(reader.table('account_stats'))) as { rolled: number }[]
    expect(account?.rolled).to.equal(Date.parse('2026-01-31T23:59:00Z') / 60_000)
    await drop(reader.table, '2026-02-01')
    await expectTotals(reader, events)
  })

  it('begin with the thousandth visit, and leave out the last minutes and clocks that are ahead', () => {
    const at = (minute: number, n: number) => Array<number>(n).fill(minute)
    const none = { rolled: null, tail: 0 }
    expect(progressAfter(none, [{ recorded: 100, minutes: at(90, rollAfter - 1) }])).to.deep.equal({
      rolled: null,
      tail: rollAfter - 1,
    })
    expect(progressAfter({ rolled: null, tail: 999 }, [{ recorded: 100, minutes: [90] }])).to.deep.equal({
      rolled: 89,
      tail: 0,
    })
    expect(progressAfter(none, [{ recorded: 100, minutes: at(5000, rollAfter) }])).to.deep.equal({
      rolled: 99,
      tail: 0,
    })
    expect(progressAfter({ rolled: 89, tail: 0 }, [{ recorded: 100, minutes: at(20, rollAfter) }])).to.deep.equal({
      rolled: 89,
      tail: rollAfter,
    })
  })
})
