import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { type Clicked, subjects } from '../../../src/projections/statistics/clickfacts.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import type { Position } from '../../../src/queries/page.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import type { Filters } from '../../../src/queries/statistics/conditions.ts'
import type { Subject } from '../../../src/queries/statistics/facts.ts'
import { filteredStats } from '../../../src/queries/statistics/filtered.ts'
import { type Visit, visitsBehind } from '../../../src/queries/statistics/visits.ts'
import { clicked, recorded } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { openTestLog, randomClick, type TestLog } from '../../support/log.ts'

const day = 86_400_000
const first = Date.parse('2026-01-30T00:00:00Z')
const days = 4
const rules = ['link', 'link', 'device:ios', 'variant:1']
// longer than an entry of an index
const destinations = ['https://example.com/', 'https://example.com/a', `https://example.com/${'ü-0-é'.repeat(900)}`]
const inCampaign = [1, 3]

/** A visit as the log has it. */
interface Known {
  readonly event: bigint
  readonly index: number
  readonly click: Click
  readonly destination: string
}

/** Returns the visits that a question is about, newest first, counted without any table. */
const model = (visits: readonly Known[], of: Subject, filters: Filters, [from, to]: readonly [number, number]) => {
  const known = new Set<string>()
  const ofCode = 'link' in of && of.link < 0
  const passed = visits.flatMap((visit) => {
    const { click, destination } = visit
    const isAsked =
      'account' in of ||
      click.link === of.link ||
      (ofCode && click.source.kind === 'qr' && click.source.id === -of.link)
    const visitor = `${ofCode ? 'qr' : click.link}/${click.visitor}`
    const unique = isAsked && click.class === 'human' && !known.has(visitor)
    if (unique) known.add(visitor)
    const { class: kinds, unique: firsts, campaign, qr, bio, revision, destination: sentTo, rule, country } = filters
    const at = Date.parse(click.at)
    const passes =
      at >= from &&
      at < to &&
      (kinds?.some((one) => one === click.class) ?? true) &&
      (firsts === undefined || firsts === unique) &&
      (campaign === undefined || inCampaign.includes(click.link)) &&
      (qr === undefined || (click.source.kind === 'qr' && click.source.id === qr)) &&
      (bio === undefined || (click.source.kind === 'bio' && click.source.id === bio)) &&
      (revision === undefined || click.revision === revision) &&
      (sentTo === undefined || destination === sentTo) &&
      (rule?.includes(click.rule) ?? true) &&
      (country?.includes(click.country) ?? true)
    return isAsked && passes ? [{ ...visit, at, unique }] : []
  })
  return passed.toSorted((a, b) => b.at - a.at || Number(b.event - a.event) || b.index - a.index)
}

const shownOf = ({ event, index, click, destination, at, unique }: ReturnType<typeof model>[number]) => ({
  ...{ id: `${event}-${index}`, at, link: click.link, class: click.class, unique, destination },
  ...{ rule: click.rule, revision: click.revision, bio: click.source.kind === 'bio' ? click.source.id : null },
  ...{ qr: click.source.kind === 'qr' ? click.source.id : undefined, country: click.country },
})
const foundOf = ({ position, index, at, id, qr, labels, ...visit }: Visit) => ({
  ...{ id: `${position}-${index}`, at: at.getTime(), link: id, class: visit.class, unique: visit.unique },
  ...{ destination: visit.destination, rule: visit.rule, revision: visit.revision, bio: visit.bio, qr },
  country: labels.country,
})

describe(`the visits behind a figure (${repeatable})`, () => {
  const random = randomFrom(seed)
  const pick = <T>(values: readonly T[]) => values[random(values.length)]!
  let log: TestLog
  let reader: Reader
  let events: readonly Clicked[]
  let visits: readonly Known[]
  before(async () => {
    log = await openTestLog()
    const batches = Array.from({ length: 60 }, (_, n) =>
      Array.from({ length: 1 + random(40) }, () => ({
        ...randomClick(random, 4),
        account: 1,
        rule: pick(rules),
        revision: random(2),
        destination: random(destinations.length),
        visitor: random(200).toString(16),
        // some in one minute and in one millisecond
        at: new Date(first + Math.floor((n / 60) * days * day) + (random(3) ? random(day) : random(2))).toISOString(),
      })),
    )
    events = (recorded(batches.map((batch) => clicked(...batch))) as Clicked[]).map((event, n) => ({
      ...event,
      data: { ...event.data, destinations },
      metadata: { ...event.metadata, at: new Date(first + ((n + 1) / 60) * days * day).toISOString() },
    }))
    visits = events.flatMap(({ position, data }) =>
      data.clicks.map((click, index) => ({
        ...{ event: position, index, click },
        destination: destinations[click.destination]!,
      })),
    )
    // of many routes, those that visits of the account have are looked up
    const others = [0, 1, 2].map((n) =>
      Array.from({ length: 400 }, (_, i) => ({
        ...randomClick(random, 4),
        account: 2,
        link: 9,
        source: { kind: 'link', id: 9 } as const,
        revision: 400 * n + i,
      })),
    )
    const atTheEnd = ['00.998', '00.999', '59.999', '59.999', '59.999', '59.999'].map((time) => ({
      ...randomClick(random, 4),
      ...{ account: 3, link: 10, source: { kind: 'link', id: 10 } as const, at: `2026-02-01T12:00:${time}Z` },
    }))
    const ofOthers = (recorded([...others, atTheEnd].map((batch) => clicked(...batch))) as Clicked[]).map((event) => ({
      ...event,
      position: event.position + BigInt(batches.length),
    }))
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    for (let from = 0; from < events.length; from += 15)
      await stats.write(log.db, table, events.slice(from, from + 15), changesOf)
    await stats.write(log.db, table, ofOthers, changesOf)
    await log.db.raw(`create table campaign_links (id bigint, campaign bigint, deleted timestamptz);
      insert into campaign_links select id, 7 from unnest('{${inCampaign.join()}}'::bigint[]) as l (id)`)
    reader = { db: log.db, table: (name) => (name === 'links' ? 'campaign_links' : table(name)) }
  })
  after(() => log.close())

  const filtersOf = (subject: Subject): Filters => {
    const all: Filters = {
      // scans of a code are asked for as such
      ...(('account' in subject || subject.link > 0) && { qr: pick([2, 3]) }),
      class: pick([['human'], ['bot', 'preview']]),
      unique: random(2) === 0,
      campaign: 7,
      bio: 1 + random(3),
      revision: random(3),
      destination: pick([...destinations, 'https://example.com/never']),
      rule: pick([['link'], ['device:ios', 'variant:1']]),
      country: ['DE', ''],
    }
    return Object.fromEntries(Object.entries(all).filter(() => random(4) === 0))
  }

  /** Reads all pages, of which none may read more than `budget` visits that are left out. */
  const readAll = async (from: Reader, subject: Subject, filters: Filters, [start, end]: readonly [number, number]) => {
    const time = { from: new Date(start), to: new Date(end) }
    const [found, totals, budget]: [Visit[], number[], number] = [[], [], pick([20, 100, 100_000])]
    for (let after: Position | undefined; ;) {
      const limit = pick([1, 7, 50, 2000])
      const page = await visitsBehind(from, subject, { ...time, filters, limit, after }, budget)
      expect(page.rows.length).to.be.at.most(limit)
      found.push(...page.rows)
      totals.push(page.total)
      expect(page.total).to.be.at.least(found.length)
      after = page.next
      if (!after) return { found, totals }
    }
  }

  const expectAgreement = async (from: Reader, known: readonly Known[], questions: number) => {
    for (let n = 0; n < questions; n++) {
      const subject = pick<Subject>([
        { account: 1 },
        { account: 1 },
        { link: 1 },
        { link: 2 },
        { link: subjects.qr(2) },
      ])
      const [a, b] = [random(days * day), random(days * day)]
      const time = [first + Math.min(a, b) - random(2), first + Math.max(a, b) + 1] as const
      const filters = filtersOf(subject)
      const what = JSON.stringify({ subject, filters, time })
      const { found, totals } = await readAll(from, subject, filters, time)
      const expected = model(known, subject, filters, time)
      expect(found.map(foundOf), what).to.deep.equal(expected.map(shownOf))
      expect(totals.at(-1), what).to.equal(expected.length)
      const question = {
        from: new Date(time[0]),
        to: new Date(time[1]),
        interval: 'day',
        by: [],
        filters,
        limit: 1,
      } as const
      const { total } = await filteredStats(from, subject, question)
      const clicks = found.filter((visit) => visit.class === 'human')
      expect(
        { visits: found.length, clicks: clicks.length, uniques: found.filter(({ unique }) => unique).length },
        what,
      ).to.deep.equal({ visits: total.visits, clicks: total.clicks, uniques: total.uniques })
    }
  }

  it('are those of the log, as many as the figure says, for every filter', () => expectAgreement(reader, visits, 25))

  it('are looked up in an index, also for the rules that they have', async () => {
    const asked: string[] = []
    const listen = ({ sql }: { readonly sql: string }) => void asked.push(sql)
    log.db.on('query', listen)
    const time = { from: new Date(first), to: new Date(first + days * day) }
    await visitsBehind(reader, { account: 1 }, { ...time, filters: { rule: ['device:ios'] }, limit: 10 })
    log.db.removeListener('query', listen)
    const [ofRoutes = ''] = asked.filter((sql) => sql.startsWith('select distinct route'))
    await log.db.transaction(async (tx) => {
      // a planner that knows how few rows there are reads all of them
      await tx.raw(`analyze ${reader.table('clicks')}`)
      for (const sql of asked.filter((one) => one.startsWith('set local'))) await tx.raw(sql)
      const { rows } = await tx.raw<{ rows: Record<string, string>[] }>(`explain ${ofRoutes}`)
      expect(JSON.stringify(rows)).to.include('Index Scan').and.not.include('Seq Scan')
    })
  })

  /** Returns how PostgreSQL executes a statement of a question, with the settings that it has asked for. */
  const planOf = async (subject: Subject, filters: Filters, pattern: RegExp) => {
    const asked: string[] = []
    const bindings: (readonly unknown[])[] = []
    const listen = (query: { readonly sql: string; readonly bindings?: readonly unknown[] }) => {
      asked.push(query.sql)
      bindings.push(query.bindings ?? [])
    }
    log.db.on('query', listen)
    const time = { from: new Date(first - 1), to: new Date(first + days * day) }
    await visitsBehind(reader, subject, { ...time, filters, limit: 10 })
    log.db.removeListener('query', listen)
    const n = asked.findIndex((sql) => pattern.test(sql))
    await log.db.raw(`vacuum (analyze) ${reader.table('clicks')}`)
    return log.db.transaction(async (tx) => {
      for (const sql of asked.slice(0, n).filter((one) => one.startsWith('set local'))) await tx.raw(sql)
      // the tables of a spec are so small that reading all of them is cheapest
      await tx.raw('set local enable_seqscan = off')
      const sql = `explain ${asked[n]?.replaceAll(/\$\d+/g, '?')}`
      const { rows } = await tx.raw<{ rows: Record<string, string>[] }>(sql, bindings[n] as string[])
      return rows.flatMap((row) => Object.values(row)).join('\n')
    })
  }

  it('are found among the scans of a QR code by hashing these once, not by looking through them for each visit', async () => {
    const plan = await planOf({ link: 1 }, { qr: 2 }, /left join/)
    expect(plan).to.match(/Hash .*Join/)
    expect(plan).not.to.match(/Nested Loop|Merge/)
  })

  it('are counted without filters by an index alone, and no more rows are read than are shown', async () => {
    expect(await planOf({ link: 1 }, {}, /count\(\*\)::int/)).to.include('Index Only Scan')
    expect(await planOf({ link: 1 }, {}, /json_agg\(p\)/)).to.match(/Limit[^]*Index Scan Backward/)
  })

  it('are counted once each where a page ends in the last millisecond of a minute', async () => {
    const time = { from: new Date(first), to: new Date(first + days * day) }
    const totals: number[] = []
    for (let after: Position | undefined; ;) {
      const { rows, total, next } = await visitsBehind(reader, { link: 10 }, { ...time, filters: {}, limit: 1, after })
      totals.push(total)
      expect(rows).to.have.length(1)
      after = next
      if (!after) break
    }
    expect(totals).to.deep.equal([6, 6, 6, 6, 6, 6])
  })

  it('are those up to an earlier event', async () => {
    const last = events[random(events.length)]!.position
    await log.db.transaction(async (tx) => {
      const earlier = await readAt(tx, reader.table, { domain: 0n, clicks: last })
      // membership is of the tables of links, which have a past of their own
      const { table } = earlier
      const from = { ...earlier, table: (name: string) => (name === 'links' ? 'campaign_links' : table(name)) }
      await expectAgreement(
        from,
        visits.filter(({ event }) => event <= last),
        12,
      )
    })
  })
})
