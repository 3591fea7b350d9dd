import { randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { DomainEvent, Event } from '../../../src/events/index.ts'
import { noExclusions } from '../../../src/events/statistics/exclusions.ts'
import { type Interval, utc } from '../../../src/lib/zone.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { topDimensions } from '../../../src/projections/statistics/labels.ts'
import { dropOldFacts } from '../../../src/projections/statistics/retention.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { clickSeries, seriesDimensions, type Subject } from '../../../src/queries/statistics/series.ts'
import { linkStats } from '../../../src/queries/statistics/stats.ts'
import { visitsBehind } from '../../../src/queries/statistics/visits.ts'
import { onCalendar } from '../../support/calendar.ts'
import { clicked, metadata } from '../../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, openTestLog, randomClick, type TestLog } from '../../support/log.ts'

type Random = (below: number) => number
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!
const account = 1
const dayMs = 86_400_000
/** when the first event is recorded */
const start = Date.parse('2026-03-10T10:00:00Z')
const visitors = ['1', 'ab', 'c0ffee', '8000000000000000', '7', '8', '9', 'a', 'b', 'c']

/** A visit as the model has it. */
interface Visit {
  readonly click: Click
  readonly seq: number
  /** of the import, undefined for a click */
  readonly of: string | undefined
  readonly revision: number
  readonly class: string
}

/** The id of an import. */
const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** What a log says of visits, counted without any table. */
class Model {
  visits: readonly Visit[] = []
  parts: { readonly id: string; readonly before: ReadonlyMap<number, string> }[] = []
  #seq = 0

  apply({ type, data, revision }: Recorded<DomainEvent>) {
    if (type === 'LinkClicked' || type === 'VisitsImported')
      this.visits = [
        ...this.visits,
        ...data.clicks.map((click): Visit => {
          const of = type === 'VisitsImported' ? data.import : undefined
          return { click, seq: this.#seq++, of, revision: Number(revision), class: click.class }
        }),
      ]
    if (type === 'ImportedVisitsWithdrawn')
      this.visits = this.visits.filter((visit) => visit.of !== data.import || visit.revision < data.from)
    if (type === 'ClicksReclassified') {
      const before = new Map(this.visits.map((visit) => [visit.seq, visit.class]))
      const excluded = data.exclusions.visitors
      const classOf = ({ click }: Visit) =>
        click.class === 'human' && excluded.includes(click.visitor.padStart(16, '0')) ? 'excluded' : click.class
      this.visits = this.visits.map((visit) =>
        data.link.includes(visit.click.link) ? { ...visit, class: classOf(visit) } : visit,
      )
      this.parts = [...this.parts, { id: data.reclassification, before }]
    }
    if (type === 'ReclassificationUndone') {
      const { before } = this.parts.at(-1)!
      this.parts = this.parts.slice(0, -1)
      this.visits = this.visits.map((visit) => ({ ...visit, class: before.get(visit.seq) ?? visit.class }))
    }
  }

  /** Returns the numbers of the visits that are the first of a person on a link. */
  firsts() {
    const firsts = new Map<string, Visit>()
    for (const visit of this.visits) {
      const { visitor, link, at } = visit.click
      if (visit.class !== 'human' || visitor === '') continue
      const key = `${link}/${visitor}`
      const first = firsts.get(key)
      if (!first || (visit.of !== undefined && at < first.click.at)) firsts.set(key, visit)
    }
    return new Set([...firsts.values()].map(({ seq }) => seq))
  }

  count(subject: Subject, from: Date, to: Date, interval: Interval) {
    const firsts = this.firsts()
    const own = this.visits.filter(
      ({ click }) =>
        ('link' in subject ? click.link === subject.link : click.account === subject.account) &&
        Date.parse(click.at) >= from.getTime() &&
        Date.parse(click.at) < to.getTime(),
    )
    const people = own.filter((visit) => visit.class === 'human')
    const tally = (keys: readonly string[]) => {
      const counts: Record<string, number> = {}
      for (const key of keys) counts[key] = (counts[key] ?? 0) + 1
      return counts
    }
    const known = people.filter(({ click }) => click.visitor !== '')
    const minutes = tally(known.map(({ click }) => `${click.link}/${click.visitor}/${click.at.slice(0, 16)}`))
    const point = ({ click }: Visit) => onCalendar(utc, new Date(click.at), interval)
    const labels = ({ click }: Visit) => ({
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
        uniques: people.filter(({ seq }) => firsts.has(seq)).length,
        visits: own.length,
        suspects: Object.values(minutes).reduce((sum, n) => sum + Math.max(0, n - 30), 0),
      },
      clicks: tally(people.map(point)),
      uniques: tally(people.filter(({ seq }) => firsts.has(seq)).map(point)),
      visits: tally(own.map(point)),
      by: Object.fromEntries(seriesDimensions.map((dim) => [dim, tally(people.map((one) => labels(one)[dim]))])),
    }
  }
}

/** Makes a log of clicks that happen and of visits that are imported and taken back beside them. */
class Writer {
  readonly events: Recorded<DomainEvent>[] = []
  readonly #revisions = new Map<string, bigint>()
  readonly random: Random
  now = start
  constructor(random: Random) {
    this.random = random
  }

  add(event: DomainEvent, stream: string): Recorded<DomainEvent> {
    const { random } = this
    this.now += random(4 * 3_600_000)
    const at = new Date(this.now).toISOString()
    const revision = (this.#revisions.get(stream) ?? -1n) + 1n
    this.#revisions.set(stream, revision)
    const position = BigInt(this.events.length + 1)
    const added = { ...event, id: randomUUID(), metadata: metadata(account, at), stream, revision, position, at }
    this.events.push(added)
    return added
  }

  #clicks(most: number, at: () => number): Click[] {
    const { random } = this
    return Array.from({ length: 1 + random(most) }, () => {
      const click = randomClick(random, 3)
      return {
        ...click,
        account,
        link: random(3) === 0 ? click.link : 7,
        source: { kind: 'link', id: click.link },
        at: new Date(at()).toISOString(),
        visitor: pick(random, visitors),
      }
    })
  }

  click = () => {
    const burst = this.random(4) === 0 ? this.now - this.random(60_000) : undefined
    return this.add(
      clicked(...this.#clicks(150, () => burst ?? this.now - this.random(this.random(9) === 0 ? dayMs : 60_000))),
      'clicks-a-0',
    )
  }

  /** `inOrder`: the visits of an import come by their times. */
  import(id: number, inOrder: boolean, { size = 500, since }: { size?: number; since?: string } = {}) {
    const { random } = this
    const years = 4 * 365 * dayMs
    const done = Number(this.#revisions.get(`visits-${id}`) ?? -1n)
    const from = inOrder ? start - years + done * 30 * dayMs : start - years
    const minute = from + random(years / 2)
    const at = () => (random(8) === 0 ? minute : Math.min(this.now, from + random(inOrder ? 30 * dayMs : years)))
    const clicks = this.#clicks(size, at).map((click) => ({
      ...click,
      revision: 0,
      rule: 'imported',
      visitor: random(5) === 0 ? '' : click.visitor,
    }))
    if (inOrder) clicks.sort((a, b) => (a.at < b.at ? -1 : 1))
    const { upTo: _, ...batch } = clicked(...clicks).data
    const data: Event<'VisitsImported'>['data'] = {
      ...batch,
      ...{ import: idOf(id), account, salt: 's', upTo: done },
      ...(since === undefined ? {} : { since }),
    }
    return this.add({ type: 'VisitsImported', data }, `visits-${id}`)
  }

  withdraw(id: number, from = 0) {
    return this.add({ type: 'ImportedVisitsWithdrawn', data: { import: idOf(id), account, from } }, `visits-${id}`)
  }

  exclude(id: string) {
    const { random } = this
    const list = visitors.filter(() => random(4) === 0).map((visitor) => visitor.padStart(16, '0'))
    const data: Event<'ClicksReclassified'>['data'] = {
      ...{ reclassification: id, account, part: 0, link: [7, 1], qr: [], bio: [], view: [] },
      ...{ from: '1990-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', since: '1990-01-01T00:00:00.000Z' },
      ...{ rules: 2, agents: [], exclusions: { ...noExclusions, visitors: list } },
    }
    return this.add({ type: 'ClicksReclassified', data }, `reclassification-${id}`)
  }

  undo(id: string) {
    const data = { reclassification: id, account, part: 0, since: '1990-01-01T00:00:00.000Z' }
    return this.add({ type: 'ReclassificationUndone', data }, `reclassification-${id}`)
  }
}

describe(`visits of other services (${repeatable})`, () => {
  let log: TestLog
  const random = randomFrom(seed)
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  const open = async () => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { write } = stats
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    const reader: Reader = { db: log.db, table }
    const writeAll = async (events: readonly Recorded<DomainEvent>[], most: number) => {
      for (let from = 0; from < events.length;) {
        const to = from + 1 + random(most)
        await write(log.db, table, events.slice(from, to), changesOf)
        from = to
      }
    }
    return { generation, table, reader, write: writeAll }
  }

  const modelOf = (events: readonly Recorded<DomainEvent>[]) => {
    const model = new Model()
    for (const event of events) model.apply(event)
    return model
  }

  const expectSeries = async (reader: Reader, model: Model, subject: Subject, what: string) => {
    const moment = () => start - 4 * 365 * dayMs + random(4 * 365 + 60) * dayMs + pick(random, [0, random(dayMs)])
    const [a, b] = random(3) === 0 ? [0, Date.parse('2100-01-01')] : [moment(), moment()]
    const [from, to] = [new Date(Math.min(a, b)), new Date(Math.max(a, b) + 1)]
    const isLong = to.getTime() - from.getTime() > 2000 * dayMs
    const interval = isLong ? 'month' : pick(random, ['hour', 'day', 'week', 'month'] as const)
    const { total, points, by } = await clickSeries(reader, subject, { from, to, interval, by: seriesDimensions })
    const pointsOf = (of: 'clicks' | 'uniques' | 'visits') =>
      Object.fromEntries(
        points.filter((point) => point[of] > 0).map((point) => [onCalendar(utc, point.at, interval), point[of]]),
      )
    const found = {
      total,
      clicks: pointsOf('clicks'),
      uniques: pointsOf('uniques'),
      visits: pointsOf('visits'),
      by: Object.fromEntries(
        seriesDimensions.map((dim) => [dim, Object.fromEntries(by[dim]!.counts.map(({ label, n }) => [label, n]))]),
      ),
    }
    const question = JSON.stringify({ what, subject, from, to, interval })
    expect(found, question).to.deep.equal(model.count(subject, from, to, interval))
  }

  const always = [new Date(0), new Date('2100-01-01')] as const
  const expectAll = async (reader: Reader, model: Model, what: string) => {
    for (const subject of [{ link: 7 }, { account }, { link: 1 }, { account }])
      await expectSeries(reader, model, subject, what)
    for (const link of [7, 1]) {
      const { clicks, uniques, ...tops } = await linkStats(reader, link)
      const exact = model.count({ link }, ...always, 'month')
      expect({ clicks, uniques }, what).to.deep.equal({ clicks: exact.total.clicks, uniques: exact.total.uniques })
      for (const dim of topDimensions)
        expect(
          Object.fromEntries(tops[dim].map(({ label, n }) => [label, n])),
          `${what}: ${link} ${dim}`,
        ).to.deep.equal(exact.by[dim])
    }
    const [from, to] = always
    const { rows } = await visitsBehind(reader, { account }, { from, to, filters: {}, limit: 1000 })
    const firsts = model.firsts()
    const newest = model.visits
      .toSorted((a, b) => (a.click.at === b.click.at ? b.seq - a.seq : a.click.at < b.click.at ? 1 : -1))
      .slice(0, 1000)
      .map((visit) => [visit.click.at, visit.click.rule, visit.class, firsts.has(visit.seq)])
    expect(rows.map((row) => [row.at.toISOString(), row.rule, row.class, row.unique])).to.deep.equal(newest)
  }

  const expectAt = (table: Reader['table'], events: readonly Recorded<DomainEvent>[], n: number) =>
    log.db.transaction(async (tx) => {
      const clicks = events[n - 1]!.position
      const earlier = await readAt(tx, table, { domain: 0n, clicks })
      await expectAll(earlier, modelOf(events.slice(0, n)), `at ${clicks} (${events[n - 1]!.type})`)
    })

  /** A log in which everything happens beside everything else. */
  const randomLog = (count: number): Recorded<DomainEvent>[] => {
    const writer = new Writer(random)
    const ordered = new Map(Array.from({ length: 40 }, (_, id) => [id, random(2) === 0]))
    let [current, parts] = [1, [] as string[]]
    while (writer.events.length < count) {
      const dice = random(20)
      if (dice < 9) writer.click()
      else if (dice < 17) writer.import(random(4) === 0 ? current + 1 : current, ordered.get(current) ?? false)
      else if (dice === 17) {
        const newest = writer.import(current, false).revision
        if (random(2) === 0) writer.withdraw(current, Number(newest) - random(Number(newest) + 1))
        writer.withdraw(current)
        if (random(3) === 0) writer.withdraw(current)
        current += 2
      } else if (dice === 18) {
        const id = randomUUID()
        writer.exclude(id)
        parts.push(id)
      } else if (parts.length > 0) writer.undo(parts.pop()!)
    }
    return writer.events
  }

  it('are counted at their own times, together with any clicks, exclusions and withdrawals, also at earlier positions', async () => {
    for (let round = 0; round < (long ? 12 : 1); round++) {
      const events = randomLog(60)
      const { reader, table, generation, write } = await open()
      await write(events, 6)
      await expectAll(reader, modelOf(events), 'now')
      for (let n = 0; n < 6; n++) await expectAt(table, events, 1 + random(events.length))
      const again = await open()
      await again.write(events, 30)
      expect(await dump(log.db, stats, again.generation)).to.deep.equal(await dump(log.db, stats, generation))
    }
  })

  it('halt nothing when a recorded value cannot be stored, or is no country', async () => {
    const odd = ['\0', '\ud800', '\ufffd', 'D\0', 'GERMANY', randomBytes(20_000).toString('base64')]
    const writer = new Writer(random)
    const visits = writer.import(1, false)
    if (visits.type !== 'VisitsImported') throw new Error('no visits')
    const [click] = visits.data.clicks
    const clicks = odd.map((text) => ({ ...click!, class: 'human' as const, country: text, referrer: text }))
    const data = { ...visits.data, clicks, destinations: ['https://example.com/\0'] }
    const { reader, write } = await open()
    await write([{ ...visits, data }], 1)
    const whole = { from: new Date(0), to: new Date('2100-01-01'), interval: 'month' as const }
    const { by } = await clickSeries(reader, { account }, { ...whole, by: ['country', 'referrer'] })
    const [countries, referrers] = [by.country!, by.referrer!].map(({ counts }) => counts.map(({ label }) => label))
    expect(countries).to.deep.equal([''])
    expect(referrers).to.have.members(['\ufffd', 'D\ufffd', 'GERMANY', odd.at(-1)!.slice(0, 255)])
  })

  it('leave nothing in any answer once they are taken back', async () => {
    const writer = new Writer(random)
    const live: Recorded<DomainEvent>[] = []
    for (let n = 0; n < 12; n++) {
      live.push(writer.click())
      writer.import(1, random(2) === 0)
      if (random(2) === 0) writer.import(2, true)
    }
    writer.withdraw(1, 3)
    live.push(writer.click())
    writer.withdraw(1)
    writer.withdraw(2)
    const { reader, table, write } = await open()
    await write(writer.events, 5)
    await expectAll(reader, modelOf(live), 'as without them')
    const sums = async (name: string) =>
      (await log.db(table(name)).where({ clicks: 0 }).count('* as n'))[0] as { n: string }
    for (const name of ['days', 'tops']) expect(Number((await sums(name)).n)).to.equal(0)
    const [link] = (await log.db(table('link_stats')).where({ link: 7 })) as { imported: string }[]
    expect(Number(link?.imported)).to.equal(0)
  })

  it('keep their sums in months without single clicks, and do not change answers from before the import', async () => {
    const since = '2026-02-01T00:00:00.000Z'
    const writer = new Writer(random)
    for (let n = 0; n < 10; n++) writer.click()
    const live = writer.events.length
    const [early, late] = [random(2) === 0, random(2) === 0]
    for (let n = 0; n < 3; n++) writer.import(1, early, { since })
    for (let n = 0; n < 3; n++) writer.import(2, late, { since, size: 1 + random(400) })
    writer.click()
    const { reader, table, write } = await open()
    await write(writer.events, 4)
    const exact = modelOf(writer.events)
    const expectSums = async (of: Reader, model: Model, what: string) => {
      for (const link of [7, 1, 2]) {
        const { clicks, uniques, ...tops } = await linkStats(of, link)
        const { total, by } = model.count({ link }, ...always, 'month')
        expect({ clicks, uniques }, `${what} ${link}`).to.deep.equal({ clicks: total.clicks, uniques: total.uniques })
        for (const dim of topDimensions)
          expect(Object.fromEntries(tops[dim].map(({ label, n }) => [label, n])), `${what} ${dim}`).to.deep.equal(
            by[dim],
          )
      }
      const [from, to] = always
      const { total, by } = await clickSeries(of, { account }, { from, to, interval: 'month', by: ['country'] })
      const expected = model.count({ account }, from, to, 'month')
      expect(total, what).to.deep.equal(expected.total)
      const countries = by.country!.counts.map(({ label, n }) => [label, n])
      expect(Object.fromEntries(countries), what).to.deep.equal(expected.by['country'])
    }
    await expectSums(reader, exact, 'kept')
    const dropped = await dropOldFacts({
      locked: (work) => log.db.transaction(work),
      names: table,
      horizon: Date.parse(since) / 60_000,
      subjectsAtOnce: 10,
      pagesAtOnce: 10,
    })
    expect(dropped).to.include(`${table('clicks')}_2022`)
    await expectSums(reader, exact, 'dropped')
    const [horizon] = (await log.db(table('click_horizon'))) as { position: string }[]
    expect(Number(horizon?.position)).to.be.at.most(live)
    await log.db.transaction(async (tx) => {
      const earlier = await readAt(tx, table, { domain: 0n, clicks: BigInt(live) })
      await expectSums(earlier, modelOf(writer.events.slice(0, live)), 'before them')
    })
  })
})
