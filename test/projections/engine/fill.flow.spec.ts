import { expect } from 'chai'
import { pino } from 'pino'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { fill } from '../../../src/projections/engine/fill.ts'
import type { EventStore } from '../../../src/events/store.ts'
import { projections as registered } from '../../../src/projections/index.ts'
import { links } from '../../../src/projections/links/link.ts'
import type { Projection } from '../../../src/projections/engine/projection.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { liveTables, newGeneration, prune, tableNames } from '../../../src/projections/engine/tables.ts'
import { long, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { at, clicked, fresh } from '../../support/events.ts'
import { checkpointsOf, history, randomClick } from '../../support/log.ts'
import { until } from '../../support/client.ts'
import { projections, projectorStage, silent } from '../../support/projector.ts'

describe(`the read tables (${repeatable})`, function () {
  this.timeout(long ? 300_000 : 120_000)
  const random = randomFrom(seed)
  const { log, start, caughtUp, read, build, expectCleanRun } = projectorStage()

  describe('a rebuild', () => {
    it('gives the tables of a clean run under load, and readers never see unfinished ones', async () => {
      await log().append(history(random, long ? 2000 : 600))
      const projector = start({ limit: 100 })
      await caughtUp(projector)
      const tables = liveTables(log().db, projections)
      await tables.refresh()

      let rebuilding = true
      const writing = (async () => {
        // on a busy machine a rebuild never catches up with a writer who does not end
        const last = long ? 100_000 : 30_000
        for (let from = 10_000; rebuilding && from < last; from += 1000)
          await log().append(history(random, 60, from), 20)
      })()
      const reads: { links: number; visits: number }[] = []
      const reading = (async () => {
        while (rebuilding) {
          await tables.refresh()
          const { rows } = await log().db.raw<{
            rows: Record<'links' | 'open' | 'counted' | 'visits' | 'summed', string>[]
          }>(`
            select (select count(*) from ${tables.name('links')}) as links,
              (select count(*) from ${tables.name('links')} where deleted is null) as open,
              (select sum(n) from ${tables.name('link_counts')}) as counted,
              (select count(*) from ${tables.name('clicks')}) as visits,
              (select sum(visits) from ${tables.name('link_stats')}) as summed`)
          const row = rows[0]!
          expect([row.open, row.visits], 'tables that belong together').to.deep.equal([row.counted, row.summed])
          reads.push({ links: Number(row.links), visits: Number(row.visits) })
        }
      })()
      for (let round = 0; round < (long ? 5 : 2); round++) await build()
      rebuilding = false
      await Promise.all([writing, reading])

      expect(reads.length).to.be.above(5)
      // a reader may miss what only the new tables have, but never loses what it has seen
      const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)
      expect(reads.map((row) => row.links)).to.deep.equal(sorted(reads.map((row) => row.links)))
      expect(reads.map((row) => row.visits)).to.deep.equal(sorted(reads.map((row) => row.visits)))
      await caughtUp(projector)
      await expectCleanRun()
    })

    it('reads the log once for all projections of a subscription', async () => {
      await log().append(history(random, 400))
      const read: string[] = []
      const store: EventStore = {
        ...log().store,
        subscribe: async function* (options) {
          for await (const events of log().store.subscribe(options)) {
            read.push(...events.map(({ position }) => `${options.filter} ${position}`))
            yield events
          }
        },
      }
      const all = registered.filter(({ filter }) => filter === 'domain')
      await fill({ ...log(), store, log: silent, instance: 'spec', limit: 50 }, all, new AbortController().signal)
      const events = (await log().events()).filter(({ type }) => type !== 'LinkClicked')
      expect(read).to.deep.equal(events.map(({ position }) => `domain ${position}`))
      for (const projection of all)
        expect((await checkpointsOf(log().db, projection)).map(({ live, position }) => [live, position])).to.deep.equal(
          [[true, String(events.at(-1)!.position)]],
        )
    })

    it('has the indexes that only queries need when its tables go live, and is filled without them', async () => {
      const { db, store } = log()
      const [named, names] = [tableNames(links, 1)('links'), tableNames(links, 2)('links')]
      const indexesOf = async (table: string) => {
        const { rows } = await db.raw<{ rows: { sql: string }[] }>(
          'select pg_get_indexdef(indexrelid) as sql from pg_index where indrelid = ?::regclass',
          [table],
        )
        return rows.map(({ sql }) => sql.replaceAll(/links_v\d+_\d+/g, 'links')).toSorted()
      }
      await newGeneration(db, links, store.logId)
      const complete = await indexesOf(named)
      expect(complete.length).to.be.above(5)
      await log().append(history(random, 50))
      const during: number[] = []
      const watched: EventStore = {
        ...store,
        subscribe: async function* (options) {
          for await (const events of store.subscribe(options)) {
            during.push((await indexesOf(names)).length)
            yield events
          }
        },
      }
      const options = { ...log(), store: watched, log: silent, instance: 'spec' }
      await fill(options, [links], new AbortController().signal)
      expect(during[0]).to.equal(1)
      expect(await indexesOf(names)).to.deep.equal(complete)
    })

    it('leaves tables of many links or clicks that PostgreSQL has vacuumed and analyzed when they go live', async () => {
      const { db } = log()
      const clicks = Array.from({ length: 500 }, () => randomClick(random, 40))
      const known = async (generation: number) => {
        const [schema = '', table = ''] = tableNames(stats, generation)('link_stats').split('.')
        const { rows } = await db.raw<{ rows: { analyzed: boolean; vacuumed: boolean }[] }>(
          `select last_analyze is not null as analyzed, last_vacuum is not null as vacuumed
           from pg_stat_user_tables where schemaname = ? and relname = ?`,
          [schema, table],
        )
        return rows[0]
      }
      const append = () => log().append([{ stream: 'clicks-local-0', event: fresh(clicked(...clicks), null, at(0)) }])
      const fillStats = () => fill({ ...log(), log: silent, instance: 'spec' }, [stats], new AbortController().signal)
      await append()
      await fillStats()
      expect(await known(1)).to.deep.equal({ analyzed: false, vacuumed: false })
      await append()
      await fillStats()
      const found = await until(
        () => known(2),
        (table) => table?.vacuumed === true,
      )
      expect(found).to.deep.equal({ analyzed: true, vacuumed: true })
    })

    it('is reported by the live tables of another process once per projection, unlike the first tables', async () => {
      const replaced: string[] = []
      const tables = liveTables(log().db, [links], ({ projection, generation }) =>
        replaced.push(`${projection} ${generation}`),
      )
      await tables.refresh()
      await build([links])
      await tables.refresh()
      expect(replaced).to.deep.equal([])
      await build([links])
      await Promise.all([tables.refresh(), tables.refresh()])
      expect(replaced).to.deep.equal(['links 2'])
    })

    it('logs that tables are live, for an empty log only at the level debug', async () => {
      const levels: unknown[] = []
      const write = (line: string) => void levels.push((JSON.parse(line) as { level: unknown }).level)
      const options = { ...log(), log: pino({ level: 'debug' }, { write }), instance: 'spec' }
      const fillLinks = () => fill(options, [links], new AbortController().signal)
      await fillLinks()
      await log().append(history(random, 10))
      await fillLinks()
      expect(levels).to.deep.equal([pino.levels.values['debug'], pino.levels.values['info']])
    })

    it('leaves the live tables alone when it is interrupted', async () => {
      await log().append(history(random, 500))
      await build()
      const before = await read()
      const stop = new AbortController()
      const options = { db: log().db, store: log().store, log: silent, instance: 'spec', limit: 20 }
      await fill(options, [links], stop.signal, { onProgress: () => stop.abort() })
      expect(await read()).to.deep.equal(before)
      expect((await checkpointsOf(log().db, links)).map(({ generation, live }) => [generation, live])).to.deep.equal([
        [1, true],
      ])
      await build()
      expect(await read()).to.deep.equal(before)
    })

    it('drops the tables that it has replaced, and no others', async () => {
      await log().append(history(random, 50))
      for (let n = 0; n < 3; n++) await build()
      await newGeneration(log().db, links, log().store.logId)
      await prune(log().db, projections)
      const tables = async (projection: Projection) => {
        const kept: number[] = []
        for (let generation = 1; generation <= 4; generation++) {
          const [first = ''] = Object.keys(projection.tables)
          const { rows } = await log().db.raw<{ rows: { found: boolean }[] }>(
            'select to_regclass(?) is not null as found',
            [tableNames(projection, generation)(first)],
          )
          if (rows[0]?.found) kept.push(generation)
        }
        return kept
      }
      // the third generation is live; of links, the fourth is being filled
      expect([await tables(accounts), await tables(links), await tables(stats)]).to.deep.equal([[3], [3, 4], [3]])
      expect((await checkpointsOf(log().db, links)).map(({ generation }) => generation)).to.deep.equal([3, 4])
    })
  })
})
