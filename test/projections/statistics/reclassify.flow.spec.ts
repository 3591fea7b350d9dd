import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { DomainEvent, Event } from '../../../src/events/index.ts'
import { type Exclusions, noExclusions } from '../../../src/events/statistics/exclusions.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import { type Clicked, subjects } from '../../../src/projections/statistics/clickfacts.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import type { Reader } from '../../../src/queries/reader.ts'
import { routesOf } from '../../../src/queries/history/revisions.ts'
import { clickSeries } from '../../../src/queries/statistics/series.ts'
import { linkStats } from '../../../src/queries/statistics/stats.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import { at, clicked, recorded } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, openTestLog, randomClick, type TestLog } from '../../support/log.ts'

type Random = (below: number) => number
type Part = Event<'ClicksReclassified'>['data']

const agents = ['Mozilla X Linux Firefox', 'Mozilla iPhone Safari', 'AhrefsBot', 'Monitor Uptime', 'curl']
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!
const account = 1
const code = subjects.qr(2)

/** A batch of clicks of a day; some visitors click in bursts. */
const batchOf = (random: Random, day: number) => {
  const burst = random(3) === 0
  const clicks = Array.from({ length: 1 + random(80) }, (): Click => {
    const click = randomClick(random, 3)
    const seconds = burst ? 7200 + random(40) : random(86_400)
    return {
      ...click,
      account,
      link: random(8) === 0 ? 0 : random(3) === 0 ? click.link : 7,
      at: new Date(Date.parse(at(0)) + day * 86_400_000 + seconds * 1000).toISOString(),
      visitor: burst ? 'abc' : random(40).toString(16),
      revision: random(3),
      rule: pick(random, ['link', 'link', 'device:ios', 'variant:1', 'view']),
      agent: random(agents.length),
    }
  })
  const { data, type } = clicked(...clicks)
  return { type, data: { ...data, agents } }
}

const partOf = (random: Random, id: string, part: number): Part => {
  const some = <T>(items: readonly T[], one = 3) => items.filter(() => random(one) === 0)
  const exclusions: Exclusions = {
    agents: some(['uptime', 'iphone'], 5),
    countries: some(['CA', 'DE', ''], 5),
    hours: some([2, 9, 15], 4),
    visitors: some(['0000000000000abc', '0000000000000001', '000000000000000a'], 4),
  }
  const from = random(2) === 0 ? 0 : random(4)
  const moment = (day: number) => new Date(Date.parse(at(0)) + day * 86_400_000).toISOString()
  return {
    reclassification: id,
    account,
    part,
    link: some([1, 2, 3, 7], 2),
    qr: some([1, 2, 3], 2),
    bio: some([1, 2, 3], 2),
    view: some([1, 2, 3], 2),
    from: moment(from),
    to: moment(from + 1 + random(5)),
    since: moment(-365),
    rules: 2,
    agents: some(agents).map((agent) => ({
      agent,
      bot: null,
      rules: 1,
      class: pick(random, ['human', 'bot', 'preview']),
    })),
    exclusions,
  }
}

/** What was visited, as a part names it. */
const isIn = ({ link, qr, bio, view, from, to }: Part, click: Click) => {
  if (click.at < from || click.at >= to) return false
  if (click.link !== 0) return link.includes(click.link)
  const { kind, id } = click.source
  if (kind !== 'bio') return qr.includes(id)
  return click.rule === 'view' ? view.includes(id) : bio.includes(id)
}
const classBy = (part: Part, click: Click) => {
  const ruled = part.agents.find(({ agent }) => agent === agents[click.agent])?.class
  const value = click.class === 'prefetch' ? click.class : (ruled ?? click.class)
  const { exclusions } = part
  const isExcluded =
    exclusions.agents.some((word) => agents[click.agent]!.toLowerCase().includes(word)) ||
    exclusions.countries.includes(click.country) ||
    exclusions.hours.includes(Number(click.at.slice(11, 13))) ||
    exclusions.visitors.includes(click.visitor.padStart(16, '0'))
  return value === 'human' && isExcluded ? 'excluded' : value
}

/** The classes of all clicks, by the place of their event and their own. */
class Model {
  readonly clicks: { readonly event: Clicked; classes: string[] }[] = []
  readonly parts: { readonly part: Part; before: string[][] }[] = []
  add(event: Clicked) {
    this.clicks.push({ event, classes: event.data.clicks.map((click) => click.class) })
  }
  reclassify(part: Part) {
    this.parts.push({ part, before: this.clicks.map(({ classes }) => [...classes]) })
    for (const one of this.clicks)
      one.classes = one.classes.map((now, i) => {
        const click = one.event.data.clicks[i]!
        return isIn(part, click) ? classBy(part, click) : now
      })
  }
  /** Clicks that were recorded since then keep their classes. */
  undo() {
    const { part, before } = this.parts.pop()!
    before.forEach((classes, n) => {
      this.clicks[n]!.classes = classes
    })
    return part
  }
  /** The same clicks, as if they had been recorded with the classes that they have now. */
  events = () =>
    this.clicks.map(({ event, classes }): Clicked => ({
      ...event,
      data: { ...event.data, clicks: event.data.clicks.map((click, i) => ({ ...click, class: classes[i]! })) },
    }))
}

describe(`reclassifications (${repeatable})`, () => {
  let log: TestLog
  const random = randomFrom(seed)
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  const open = async () => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { write } = stats
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const names = tableNames(stats, generation)
    return {
      generation,
      names,
      write: async (events: readonly Recorded<DomainEvent>[], most = 5) => {
        for (let from = 0; from < events.length;) {
          const to = from + 1 + random(most)
          await write(log.db, names, events.slice(from, to), changesOf)
          from = to
        }
      },
    }
  }
  /** All rows but those that say what was changed when. */
  const counted = async (generation: number) => {
    const names = tableNames(stats, generation)
    const without = async (table: string, ...columns: readonly string[]) => {
      const { rows } = await log.db.raw<{ rows: { row: string }[] }>(
        `select (to_jsonb(c) - '{${columns.join()}}'::text[])::text as row from ${names(table)} c order by 1`,
      )
      return rows.map(({ row }) => row)
    }
    const said = [
      'corrections',
      'corrected_days',
      'corrected_quarters',
      'reclassifications',
      'rolls',
      'route_rolls',
      'entry_log',
    ]
    const tables = Object.entries(await dump(log.db, stats, generation)).filter(([name]) => !said.includes(name))
    return {
      ...Object.fromEntries(tables),
      clicks: await without('clicks', 'recorded'),
      link_stats: await without('link_stats', 'last'),
      account_stats: await without('account_stats', 'last'),
      link_routes: await without('link_routes', 'changed', 'traced'),
    }
  }
  const by = ['country', 'browser', 'variant'] as const
  /** What answers with statistics say. */
  const answers = async (reader: Reader) => {
    const day = (n: number) => new Date(Date.parse(at(0)) + n * 86_400_000)
    const found: unknown[] = []
    for (const of of [{ link: 7 }, { link: 1 }, { link: code }, { account }])
      for (const [from, to] of [
        [day(-3), day(9)],
        [day(1), new Date(day(2).getTime() + 9_876_543)],
      ] as const)
        found.push(await clickSeries(reader, of, { from, to, interval: 'hour', by }))
    found.push(await linkStats(reader, code))
    for (const link of [7, 1]) found.push(await linkStats(reader, link), await routesOf(reader, link, [0, 1, 2]))
    found.push(
      await reader
        .db(reader.table('entry_stats'))
        .where('visits', '>', 0)
        .orderBy('bio')
        .orderBy('entry')
        .select('bio', 'entry', 'clicks', 'uniques'),
    )
    return found
  }

  it('leave every table as if the clicks had been recorded so, for any batches, and undo restores the former tables', async () => {
    const [model, tables] = [new Model(), await open()]
    const events: Recorded<DomainEvent>[] = []
    const append = async (event: DomainEvent) => {
      const [last] = recorded([...events, event]).slice(-1)
      const next = last!
      // the log's clock is ahead of the clicks, so that links and the account are rolled up
      const soon = { ...next, metadata: { ...next.metadata, at: at(20 * 86_400) } }
      events.push(soon)
      await tables.write([soon])
      return soon
    }
    const undo = (part: Part) => ({
      type: 'ReclassificationUndone' as const,
      data: { reclassification: part.reclassification, account, part: part.part, since: at(-86_400 * 365) },
    })
    const expectSame = async (what: string) => {
      const fresh = await open()
      await fresh.write(model.events(), 9)
      expect(await counted(tables.generation), what).to.deep.equal(await counted(fresh.generation))
    }
    // parts may change nothing, also all of them: this one does
    const certain: Partial<Part> = {
      link: [7],
      from: at(-86_400),
      to: at(86_400 * 30),
      agents: [],
      exclusions: { ...noExclusions, countries: ['CA'] },
    }
    const snapshots = new Map<bigint, readonly Clicked[]>()
    const remember = () => snapshots.set(events.at(-1)!.position, model.events())
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 14; n++) model.add((await append(batchOf(random, round + random(2)))) as Clicked)
      remember()
      const [id, before] = [randomUUID(), await counted(tables.generation)]
      const parts = Array.from({ length: 1 + random(3) }, (_, n) => ({
        ...partOf(random, id, n),
        ...(round + n === 0 ? certain : {}),
      }))
      for (const data of parts) {
        await append({ type: 'ClicksReclassified', data })
        model.reclassify(data)
        remember()
      }
      await expectSame(`round ${round}`)
      if (random(2) === 0) continue
      if (random(2) === 0) {
        for (const _ of parts) await append(undo(model.undo()))
        expect(await counted(tables.generation), `undone in round ${round}`).to.deep.equal(before)
      } else {
        // others click meanwhile, perhaps for the first time
        model.add((await append(batchOf(random, round))) as Clicked)
        for (const _ of parts) await append(undo(model.undo()))
        await expectSame(`undone later in round ${round}`)
      }
    }
    remember()
    const all = [...snapshots]
    for (let n = 0; n < 2; n++) {
      const [position, then] = pick(random, all)
      const fresh = await open()
      await fresh.write(then, 20)
      await log.db.transaction(async (tx) => {
        const earlier = await readAt(tx, tables.names, { domain: 0n, clicks: position })
        const exact = await answers({ db: log.db, table: fresh.names })
        expect(await answers(earlier), `at ${position}`).to.deep.equal(exact)
      })
    }
    const rows = async (table: string) => Number((await log.db(tables.names(table)).count('* as n'))[0]?.['n'])
    expect(await rows('quarters')).to.be.above(0)
    expect(await rows('corrections')).to.be.above(0)
    const again = await open()
    await again.write(events, 12)
    expect(await dump(log.db, stats, again.generation)).to.deep.equal(await dump(log.db, stats, tables.generation))
  })

  it('know the class that a visit had at any position of the log', async () => {
    const tables = await open()
    const click = clicked(
      ...['1', '1', '2'].map((visitor) => ({
        ...batchOf(random, 0).data.clicks[0]!,
        link: 7,
        source: { kind: 'link', id: 7 },
        visitor,
        class: 'human' as const,
        country: 'CA',
      })),
    )
    const part: Part = {
      ...partOf(random, randomUUID(), 0),
      link: [7],
      from: at(-86_400),
      to: at(86_400 * 30),
      agents: [],
      exclusions: { ...noExclusions, visitors: ['0000000000000001'] },
    }
    const events = recorded([click, { type: 'ClicksReclassified', data: part }])
    await tables.write(events)
    const classes = async (position: number) => {
      const { rows } = await log.db.raw<{ rows: { class: number }[] }>(
        `select coalesce((select k.was from ${tables.names('corrections')} k where k.seq = c.seq and k.position > ${position}
           order by k.position limit 1), c.class) as class from ${tables.names('clicks')} c order by c.seq`,
      )
      return rows.map((row) => row.class)
    }
    expect(await classes(1)).to.deep.equal([-1, 0, -1])
    expect(await classes(2)).to.deep.equal([4, 4, -1])
  })
})
