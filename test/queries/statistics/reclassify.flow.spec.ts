import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { DomainEvent } from '../../../src/events/index.ts'
import { noExclusions } from '../../../src/events/statistics/exclusions.ts'
import { changesOf } from '../../../src/projections/engine/projection.ts'
import { dropOldFacts } from '../../../src/projections/statistics/retention.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { readCounted } from '../../../src/queries/statistics/facts.ts'
import { listReclassifications, newerReclassification } from '../../../src/queries/statistics/reclassifications.ts'
import { planReclassification, type Rules, type Wanted } from '../../../src/queries/statistics/reclassify.ts'
import { alikeVisits } from '../../../src/queries/statistics/rehearse.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import { clicked, recorded } from '../../support/events.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, openTestLog, randomClick, type TestLog } from '../../support/log.ts'

const agents = ['Mozilla X Linux Firefox', 'NewBot Crawler', 'Monitor Uptime']
const account = 1
const first = Date.parse('2026-01-28T00:00:00Z')
/** The next version of the rules knows one more bot. */
const rules: Rules = {
  version: 2,
  decide: ({ agent, class: before }) => ({ class: agent.startsWith('NewBot') ? 'bot' : before, rule: 'NewBot' }),
}

describe(`a plan of a reclassification (${repeatable})`, () => {
  let log: TestLog
  const random = randomFrom(seed)
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  const events = () => {
    const batches = Array.from({ length: 30 }, (_, n) => {
      const clicks = Array.from({ length: 60 }, (): Click => {
        const at = new Date(first + (n / 30) * 8 * 86_400_000 + random(86_400_000)).toISOString()
        const { source: _, ...click } = randomClick(random, 4)
        const link = random(2) === 0 ? 7 : click.link
        return {
          ...click,
          account,
          link,
          source: random(3) === 0 ? { kind: 'qr', id: 3 } : { kind: 'link', id: link },
          at,
          visitor: random(99).toString(16),
          agent: random(3),
        }
      })
      const { type, data } = clicked(...clicks)
      return { type, data: { ...data, agents } }
    })
    return recorded(batches).map((event) => {
      const metadata = { ...event.metadata, at: new Date(first + 20 * 86_400_000).toISOString() }
      return { ...event, metadata }
    })
  }
  const open = async () => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { write } = stats
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const table = tableNames(stats, generation)
    const horizon = Date.parse('2026-02-01T00:00:00Z') / 60_000
    return {
      generation,
      reader: { db: log.db, table },
      write: (some: readonly Recorded<DomainEvent>[], tx = log.db) => write(tx, table, some, changesOf),
      drop: () =>
        dropOldFacts({
          locked: (work) => log.db.transaction(work),
          names: table,
          horizon,
          subjectsAtOnce: 9,
          pagesAtOnce: 9,
        }),
    }
  }
  /** What happens after some events, with positions that follow. */
  const following = (before: readonly Recorded<DomainEvent>[], next: readonly DomainEvent[]) =>
    recorded([...before, ...next]).slice(before.length)
  const applied = (id: string, { parts }: Awaited<ReturnType<typeof planReclassification>>): DomainEvent[] =>
    parts.map((data, part) => ({ type: 'ClicksReclassified', data: { ...data, reclassification: id, part } }))
  const wanted: Wanted = {
    account,
    exclusions: { ...noExclusions, agents: ['uptime'], hours: [3, 4] },
    perPart: 50,
  }

  it('reports the changes of its parts, leaves none to do, and may be interrupted and undone', async () => {
    const [tables, all] = [await open(), events()]
    await tables.write(all)
    const before = await dump(log.db, stats, tables.generation)
    const totals = async () => ({
      links: await log
        .db(tables.reader.table('link_stats'))
        .orderBy('link')
        .select('link', 'clicks', 'uniques', 'visits'),
      accounts: await log.db(tables.reader.table('account_stats')).select('clicks', 'uniques', 'visits'),
    })
    const totalsBefore = await totals()
    const plan = await planReclassification(tables.reader, rules, wanted)
    expect(plan.parts.length).to.be.above(5)
    expect(plan.changes.map(({ from, to, rule }) => `${from} ${to} ${rule}`)).to.include.members([
      'human bot NewBot',
      'human excluded exclusions',
    ])
    const id = randomUUID()
    const parts = following(all, applied(id, plan))
    await tables.write(parts.slice(0, 3))
    // interrupted: what remains is less, and is done by another one
    const rest = await planReclassification(tables.reader, rules, wanted)
    const count = (some: typeof plan) => some.changes.reduce((sum, { visits }) => sum + visits, 0)
    expect(count(rest)).to.be.within(1, count(plan) - 1)
    await tables.write(parts.slice(3))
    // a visit by way of a QR code is one, also where the code's scan changes with it
    const changed = await log.db(tables.reader.table('corrections')).whereRaw('greatest(was, 0) <> greatest(now, 0)')
    expect(changed.length).to.be.above(count(plan))
    expect((await listReclassifications(tables.reader)).map(({ visits }) => visits)).to.deep.equal([count(plan)])
    expect((await planReclassification(tables.reader, rules, wanted)).parts).to.deep.equal([])

    const second = randomUUID()
    const others = await planReclassification(tables.reader, rules, { ...wanted, exclusions: noExclusions })
    const more = following([...all, ...parts], applied(second, others))
    await tables.write(more)
    const newer = () => newerReclassification(tables.reader, id, { account, part: 0 })
    expect(await newer()).to.equal(second)
    const undo = (which: string, part: number): DomainEvent => ({
      type: 'ReclassificationUndone',
      data: { reclassification: which, account, part, since: '1970-01-01T00:00:00.000Z' },
    })
    const back = [
      ...others.parts.map((_, n) => undo(second, others.parts.length - 1 - n)),
      ...plan.parts.map((_, n) => undo(id, plan.parts.length - 1 - n)),
    ]
    const undone = following([...all, ...parts, ...more], back)
    await tables.write(undone)
    expect(await newer()).to.equal(undefined)
    const said = [
      ...[
        'corrections',
        'corrected_days',
        'corrected_quarters',
        'reclassifications',
        'rolls',
        'route_rolls',
        'entry_log',
      ],
      ...['link_stats', 'account_stats', 'link_routes'],
    ]
    const counted = (all: typeof before) => Object.entries(all).filter(([name]) => !said.includes(name))
    expect(counted(await dump(log.db, stats, tables.generation))).to.deep.equal(counted(before))
    expect(await totals()).to.deep.equal(totalsBefore)
  })

  it('leaves the answers of before it to the roll-ups, and moves no first visit from part to part', async () => {
    const [tables, all] = [await open(), events()]
    await tables.write(all)
    const plan = await planReclassification(tables.reader, rules, {
      ...wanted,
      exclusions: { ...noExclusions, agents: ['mozilla', 'newbot', 'uptime'] },
    })
    const parts = following(all, applied(randomUUID(), plan))
    expect(plan.parts.length).to.be.above(5)
    await tables.write(parts)
    const corrected = await log.db(tables.reader.table('corrections')).where('link', '>', 0)
    const changed = plan.changes.reduce((sum, { visits }) => sum + visits, 0)
    // some visits are in the batches of later ones
    expect(corrected.length).to.be.within(changed, changed * 1.05)
    await log.db.transaction(async (tx) => {
      const at = { domain: 0n, clicks: all.at(-1)!.position }
      const { earlier, rolled } = await readCounted(await readAt(tx, tables.reader.table, at), { account })
      expect([earlier?.corrected, earlier?.changed, rolled !== null]).to.deep.equal([true, [], true])
    })
  })

  it('leaves visits alone that are not kept one by one, so that a rebuild gives the same', async () => {
    const [tables, all] = [await open(), events()]
    await tables.write(all)
    await tables.drop()
    const plan = await planReclassification(tables.reader, rules, wanted)
    for (const { from } of plan.parts) expect(from >= '2026-02-01').to.equal(true)
    const parts = following(all, applied(randomUUID(), plan))
    await tables.write(parts)
    const rebuilt = await open()
    await rebuilt.write([...all, ...parts])
    await rebuilt.drop()
    const sums = async ({ generation }: typeof tables) => {
      const { link_stats, account_stats, hours, visitors, clicks, link_routes, route_rolls } = await dump(
        log.db,
        stats,
        generation,
      )
      return { link_stats, account_stats, hours, visitors, clicks, link_routes, route_rolls }
    }
    expect(await sums(tables)).to.deep.equal(await sums(rebuilt))
  })

  describe('of visitors that make up ever other programs', () => {
    const visits = 3000
    const made = () =>
      recorded(
        Array.from({ length: visits / 100 }, (_, batch) => {
          const clicks = Array.from({ length: 100 }, (__, n): Click => {
            const { source: _source, ...click } = randomClick(random, 4)
            const at = new Date(first + batch * 100 + n).toISOString()
            return {
              ...click,
              account,
              link: 7,
              source: { kind: 'link', id: 7 },
              at,
              agent: n,
              visitor: `${batch}${n}`,
            }
          })
          const { type, data } = clicked(...clicks)
          return { type, data: { ...data, agents: clicks.map((__, n) => `NewBot made up ${batch} ${n}`) } }
        }),
      )

    it('takes visitors of many kinds some at a time', async () => {
      const { reader, write } = await open()
      await write(made())
      const sizes: number[] = []
      log.db.on('query-response', (rows: readonly unknown[] | { readonly rows: readonly unknown[] }) =>
        sizes.push('rows' in rows ? rows.rows.length : rows.length),
      )
      const { changes, parts } = await planReclassification(reader, rules, wanted)
      expect(changes.map(({ rule }) => rule)).to.include('NewBot')
      expect(parts.every(({ agents: some }) => some.length === 1000)).to.equal(true)
      expect(Math.max(...sizes)).to.be.within(999, 1000)
      log.db.removeAllListeners('query-response')
    })

    it('reads so many visits in a statement, however close together they are', async () => {
      const { reader, write } = await open()
      await write(made())
      const period = { link: 7, from: new Date(first - 86_400_000), to: new Date(first + 86_400_000) }
      const batches: number[] = []
      const question = { asked: ['profile' as const], moments: [], last: undefined }
      for await (const batch of alikeVisits(reader, period, question, 700))
        batches.push(batch.reduce((sum, one) => sum + one.visits, 0))
      expect(batches).to.deep.equal([700, 700, 700, 700, 200])
    })

    it('is applied and taken back by reading each minute some times, not once for each of its visits', async () => {
      const { reader, write } = await open()
      const all = made()
      await write(all)
      const hours = Array.from({ length: 24 }, (_, hour) => hour)
      const plan = await planReclassification(reader, rules, { ...wanted, exclusions: { ...noExclusions, hours } })
      expect(plan.parts).to.have.length(1)
      const id = randomUUID()
      const since = new Date(0).toISOString()
      const undone: DomainEvent = {
        type: 'ReclassificationUndone',
        data: { reclassification: id, part: 0, account, since },
      }
      const parts = following(all, [...applied(id, plan), undone])
      await log.db.transaction(async (tx) => {
        for (const part of parts) await write([part], tx)
        const { rows } = await tx.raw<{ rows: { read: string }[] }>(
          `select sum(idx_tup_fetch + seq_tup_read) as read from pg_stat_xact_user_tables where relname like 'clicks_v%'`,
        )
        expect(Number(rows[0]?.read)).to.be.within(4 * visits, 100 * visits)
      })
    })
  })
})
