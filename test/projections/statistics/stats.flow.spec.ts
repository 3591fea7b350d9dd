import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import type { Recorded } from '../../../src/events/event.ts'
import type { Event } from '../../../src/events/index.ts'
import { classes, subjects, timeOf } from '../../../src/projections/statistics/clickfacts.ts'
import { dims } from '../../../src/projections/statistics/labels.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { readCounts } from '../../../src/queries/statistics/labels.ts'
import { changesOf, type TableNames } from '../../../src/projections/engine/projection.ts'
import { newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { at, click, clicked, recorded } from '../../support/events.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { dump, openTestLog, randomClick, type TestLog } from '../../support/log.ts'

type Clicked = Recorded<Event<'LinkClicked'>>
const events = (...batches: readonly (readonly Click[])[]) =>
  recorded(batches.map((clicks) => clicked(...clicks))) as Clicked[]

describe(`the tables of statistics (${repeatable})`, () => {
  let log: TestLog
  before(async () => (log = await openTestLog()))
  after(() => log.close())

  /** New tables with these batches of events written into them. */
  const written = async (...batches: readonly (readonly Clicked[])[]) => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { generation } = await newGeneration(log.db, stats, log.store.logId)
    const names = tableNames(stats, generation)
    for (const batch of batches) await stats.write(log.db, names, batch, changesOf)
    return { names, generation }
  }
  const rowsOf = async (names: TableNames) =>
    (await log.db(names('link_stats')).orderBy('link')) as Record<string, string>[]
  const counters = async (names: TableNames) => {
    const rows = await rowsOf(names)
    return rows.map(({ link, account, clicks, uniques, visits }) =>
      [link, account, clicks, uniques, visits].map(Number),
    )
  }

  it('have room for more addresses of links than a smallint numbers', async () => {
    const { names } = await written()
    await log.db(names('labels')).insert({ dim: dims.address, id: 40_000, label: '2' })
    if ('on' in stats) throw new Error('statistics write by themselves')
    await stats.write(log.db, names, events([click({ address: 3 })]), changesOf)
    expect((await log.db(names('clicks')).select('address')) as object[]).to.deep.equal([{ address: 40_001 }])
  })

  it('count a visit of a kind that only a newer release knows, but not as a click', async () => {
    const newer = { class: 'assistant', device: 'glasses', source: { kind: 'wall', id: 42 } }
    const { names } = await written(events([click(), click(newer), click({ class: 'constructor' })]))
    expect(await counters(names)).to.deep.equal([[42, 1, 1, 1, 3]])
    const labels = (await log.db(names('labels'))) as { label: string }[]
    expect(labels.map(({ label }) => label)).to.include.members(['glasses', 'wall'])
  })

  it('have a row per visit with all its dimensions', async () => {
    const { names } = await written(
      events([click()], [click({ link: 43, class: 'bot', visitor: 'ffffffffffffffff', at: at(9) })]),
    )
    const labels = (await log.db(names('labels'))) as { id: number; dim: number; label: string }[]
    const id = (dim: keyof typeof dims, label: string) =>
      labels.find((l) => l.dim === dims[dim] && l.label === label)?.id
    const known = {
      account: '1',
      referrer: id('referrer', ''),
      country: id('country', 'CA'),
      browser: id('browser', 'Firefox'),
      os: id('os', 'Linux'),
      device: id('device', 'desktop'),
      language: id('language', 'fr'),
      medium: id('medium', ''),
      source: id('source', 'link'),
      variant: id('variant', ''),
      address: id('address', '1'),
      profile: 1,
      route: 1,
      destination: 1,
    }
    expect(Object.values(known)).not.to.include(undefined)
    expect(await log.db(names('clicks')).orderBy('seq')).to.deep.equal([
      {
        seq: '1000',
        visitor: '171',
        ...timeOf(Date.parse(at(1))),
        link: '42',
        class: classes.first,
        recorded: classes.human,
        ...known,
      },
      {
        seq: '2000',
        visitor: '-1',
        ...timeOf(Date.parse(at(9))),
        link: '43',
        class: classes.bot,
        recorded: classes.bot,
        ...known,
      },
    ])
  })

  it('count clicks, unique visitors and visits of each link', async () => {
    const [ann, bea] = [{ visitor: 'a' }, { visitor: 'b' }]
    const { names } = await written(events([click(ann), click(bea), click({ ...ann, link: 43, account: 2 })]))
    expect(await counters(names)).to.deep.equal([
      [42, 1, 2, 2, 2],
      [43, 2, 1, 1, 1],
    ])
  })

  it('keep the newest count of each other service, however the events are cut into batches', async () => {
    const declared = (source: string, clicks: number, id = 42) =>
      ({ type: 'ClicksImported', data: { id, account: 1, source, clicks, uniques: null } }) as const
    const all = [
      ...[declared('kutt', 5), declared('yourls', 2), clicked(click()), declared('kutt', 9)],
      ...[declared('kutt', 3, 43), declared('kutt', 0, 43), clicked(click(), click({ link: 44 }))],
    ]
    const events = recorded(all) as Clicked[]
    for (const size of [1, 2, events.length]) {
      const batches = events.flatMap((_, at) => (at % size === 0 ? [events.slice(at, at + size)] : []))
      const { names } = await written(...batches)
      const rows = await rowsOf(names)
      const counts = rows.map(({ link, clicks, elsewhere }) => [link, clicks, elsewhere].map(Number))
      expect(counts, `in batches of ${size}`).to.deep.equal([
        [42, 2, 11],
        [43, 0, 0],
        [44, 1, 0],
      ])
    }
  })

  it('count the scans of a QR code separately from the clicks of the link with the same id', async () => {
    const scan = click({ link: 0, source: { kind: 'qr', id: 42 } })
    const { names } = await written(events([click(), scan], [scan]))
    expect(await counters(names)).to.deep.equal([
      [-42, 1, 2, 1, 2],
      [42, 1, 1, 1, 1],
    ])
  })

  it('count a visit of a link that came by a QR code for both, and once for the account', async () => {
    const [ann, bea] = [{ visitor: 'a' }, { visitor: 'b' }]
    const scan = { source: { kind: 'qr', id: 7 } }
    const { names } = await written(
      events([
        click({ ...scan, ...ann }),
        click({ ...scan, ...ann, link: 43 }),
        click({ ...scan, ...bea, class: 'bot' }),
        click({ ...scan, ...bea, link: 0, rule: 'qr' }),
        click(bea),
      ]),
    )
    expect(await counters(names)).to.deep.equal([
      [-7, 1, 3, 2, 4],
      [42, 1, 2, 2, 3],
      [43, 1, 1, 1, 1],
    ])
    const [account] = (await log.db(names('account_stats'))) as Record<string, string>[]
    expect([account?.['clicks'], account?.['uniques'], account?.['visits']].map(Number)).to.deep.equal([4, 4, 5])
    const routes = (await log.db(names('link_routes')).where('link', '<', 0)) as Record<string, string>[]
    expect(routes.map(({ rule, clicks }) => [rule, Number(clicks)])).to.deep.equal([['qr', 1]])
  })

  it('count views of a bio page and clicks on its entries separately, and clicks that lead to a link for both', async () => {
    const [ann, bea] = [{ visitor: 'a' }, { visitor: 'b' }]
    const view = { link: 0, rule: 'view', source: { kind: 'bio', id: 42 } }
    const entry = (n: number) => ({ link: 0, rule: 'bio', source: { kind: 'bio', id: 42, entry: n } })
    const { names } = await written(
      events(
        [click({ ...view, ...ann }), click({ ...view, ...ann }), click({ ...view, ...bea, class: 'bot' })],
        [click({ ...entry(1), ...ann }), click({ ...entry(1), ...bea }), click({ ...entry(2), ...ann })],
      ),
      events(
        [],
        [],
        [click({ ...entry(2), ...ann, link: 42, rule: 'link' }), click({ ...entry(2), class: 'preview' })],
      ).slice(2),
    )
    expect(await counters(names)).to.deep.equal([
      [subjects.view(42), 1, 2, 1, 3],
      [subjects.bio(42), 1, 3, 2, 4],
      [42, 1, 1, 1, 1],
    ])
    const rows = (await log.db(names('entry_stats')).orderBy('entry')) as Record<string, string>[]
    expect(
      rows.map(({ bio, entry, clicks, uniques, visits }) => [bio, entry, clicks, uniques, visits].map(Number)),
    ).to.deep.equal([
      [42, 0, 4, 2, 5],
      [42, 1, 2, 2, 2],
      [42, 2, 2, 1, 3],
    ])
  })

  it('count a visitor once per link within an event, within a batch, and across batches', async () => {
    const [ann, bea] = [click({ visitor: 'a' }), click({ visitor: 'b' })]
    expect(await counters((await written(events([ann, ann, bea]))).names)).to.deep.equal([[42, 1, 3, 2, 3]])
    expect(await counters((await written(events([ann], [ann], [bea]))).names)).to.deep.equal([[42, 1, 3, 2, 3]])
    const apart = events([ann], [bea, ann], [ann]).map((event) => [event])
    expect(await counters((await written(...apart)).names)).to.deep.equal([[42, 1, 4, 2, 4]])
  })

  it('count bots, previews and prefetches as visits only', async () => {
    const others = (['bot', 'preview', 'prefetch'] as const).map((kind) => click({ class: kind }))
    const { names } = await written(events(others), events([], [], [click(), ...others]).slice(2))
    expect(await counters(names)).to.deep.equal([[42, 1, 1, 1, 7]])
    // a visitor who was a bot first is still a new one as a person
    expect(await log.db(names('clicks')).where({ class: classes.first }).select('seq')).to.deep.equal([{ seq: '3000' }])
  })

  it('are not changed by other events', async () => {
    if ('on' in stats) throw new Error('statistics write by themselves')
    const { names } = await written()
    await stats.write(log.db, names, recorded([{ type: 'LinkDeleted', data: { id: 42 } }]), changesOf)
    expect(await counters(names)).to.deep.equal([])
  })

  it('are exact and the same for any batch size', async () => {
    const random = randomFrom(seed)
    for (let round = 0; round < (long ? 50 : 4); round++) {
      const all = events(
        ...Array.from({ length: 60 }, () => Array.from({ length: 1 + random(6) }, () => randomClick(random, 8))),
      )
      const cuts: Clicked[][] = []
      for (let from = 0; from < all.length;) {
        const to = from + 1 + random(random(2) ? 3 : 40)
        cuts.push(all.slice(from, to))
        from = to
      }
      const [whole, cut] = [await written(all), await written(...cuts)]
      const tables = await dump(log.db, stats, whole.generation)
      expect(await dump(log.db, stats, cut.generation), `cuts ${cuts.map((part) => part.length).join()}`).to.deep.equal(
        tables,
      )

      const clicks = all.flatMap(({ data }) => data.clicks)
      const seen = clicks.flatMap((one) => {
        const { kind, id } = one.source
        return kind === 'qr' ? [one, { ...one, link: subjects.qr(id) }] : [one]
      })
      const links = [...new Set(seen.map(({ link }) => link))].toSorted((a, b) => a - b)
      const exact = links.map((link) => {
        const visits = seen.filter((c) => c.link === link)
        const people = visits.filter((c) => c.class === 'human')
        return [link, visits[0]!.account, people.length, new Set(people.map((c) => c.visitor)).size, visits.length]
      })
      expect(await counters(whole.names)).to.deep.equal(exact)
    }
  }).timeout(long ? 120_000 : 60_000)

  it('number the labels of a dimension in the order of their first occurrence in the log', async () => {
    const { names } = await written(
      events([click({ country: 'CA' })], [click({ country: 'DE' })]),
      events([], [], [click({ country: 'FR', referrer: 'DE' }), click({ country: 'CA' })]).slice(2),
    )
    const rows = (await log.db(names('labels')).orderBy('id')) as { id: number; dim: number; label: string }[]
    const labels = (wanted: number) => rows.filter(({ dim }) => dim === wanted).map(({ id, label }) => [id, label])
    expect(labels(dims.country)).to.deep.equal([
      [1, 'CA'],
      [2, 'DE'],
      [3, 'FR'],
    ])
    expect(labels(dims.referrer)).to.deep.equal([
      [1, ''],
      [2, 'DE'],
    ])
  })

  it('read at most 10,000 labels of a dimension, and count the others together', async () => {
    const labels = `(select ${dims.referrer} as dim, id, 'r' || id as label from generate_series(1, 10050) id) l`
    const clicks = `(select ${dims.referrer} as dim, id as label, case when id > 10040 then 7 else 1 end as n from generate_series(1, 10050) id)`
    const countsOf = await readCounts({ db: log.db, table: () => labels }, 'none as (select 1)', clicks)
    const { counts, others } = countsOf(dims.referrer)
    expect([counts.length, counts[0], others]).to.deep.equal([10_000, { label: 'r10041', n: 7 }, 50])
    expect(counts.map(({ label }) => label)).not.to.include('r10000')
    expect(countsOf(dims.country)).to.deep.equal({ counts: [], others: 0 })
  })
})
