import { expect } from 'chai'
import { once } from 'node:events'
import type { Connection } from '../../src/postgres/database.ts'
import { projections } from '../../src/projections/index.ts'
import { tableNames } from '../../src/projections/engine/tables.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { long, openStage, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { type CreateRequest, creations, expectLedger } from '../support/ledger.ts'
import {
  allCounted,
  expectExactClicks,
  makeLinks,
  type MadeLink,
  type Sent,
  type VisitRequest,
  visitsTo,
  type LoadRequest,
} from '../support/load.ts'
import { runCommand, type Service } from '../support/process.ts'

/** Makes the transaction that puts new tables of links live wait for a lock. */
const failPoint = `
  create function read.wait_here() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
  create trigger wait_here before update on read.checkpoints for each row
    when (new.live and not old.live and new.projection = 'links') execute function read.wait_here()`

describe(`rebuilding the read tables (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let connection: Connection
  let settings: Record<string, string>
  let service: Service
  let key: string
  let links: MadeLink[]
  before(async () => {
    connection = await freshDatabase()
    settings = { DATABASE_URL: urlOf(connection), SECRET: 'a secret for tests only', DATA_DIR: await stage.dir() }
    service = await stage.start(settings)
    ;({ key } = await service.register())
    links = await makeLinks(service, key, 5)
  })
  after(stage.clear)

  const rebuild = async () => {
    const { code, out, err } = await runCommand(['rebuild'], settings)
    expect(code, err).to.equal(0)
    expect(out).to.include('The read tables are rebuilt and in use.')
  }
  const live = async () => {
    const rows = await query<{ projection: string; generation: number }>(
      connection,
      'select projection, generation from read.checkpoints where live order by projection',
    )
    return new Map(rows.map(({ projection, generation }) => [projection, generation]))
  }
  const visits: Sent<VisitRequest>[] = []

  /** Runs `happens` under load. Expects no failed request, and no reader that sees less than before. */
  const underLoad = async (happens: () => Promise<unknown>) => {
    const writing = stage.load<CreateRequest>(service, 3, creations(key), 10)
    const visiting = stage.load(service, 6, visitsTo(links, random), 10)
    // one reader, so that the responses have an order
    const reading = stage.load<LoadRequest>(
      service,
      1,
      (n) => ({
        method: 'GET',
        path: n % 2 ? `/api/url/${links[0]!.id}` : '/api/urls?limit=1',
        key,
      }),
      10,
    )
    await Promise.all([writing.answers(20), visiting.answers(100), reading.answers(10)])
    await happens()
    await Promise.all([writing.answers(20), visiting.answers(100), reading.answers(10)])
    const [writes, visited, reads] = [await writing.stop(), await visiting.stop(), await reading.stop()]

    expect(new Set([...writes, ...reads].map(({ status }) => status))).to.deep.equal(new Set([200]))
    expect(new Set(visited.map(({ status }) => status))).to.deep.equal(new Set([302]))
    const answers = reads.map(({ text }) => JSON.parse(text) as { data: { result?: number; clicks?: number } })
    for (const number of ['result', 'clicks'] as const) {
      const seen = answers.flatMap(({ data }) => data[number] ?? [])
      expect(seen).to.deep.equal(
        seen.toSorted((a, b) => a - b),
        number,
      )
    }
    visits.push(...visited)
    await expectExactClicks(service, key, visits)
    await expectLedger(service, connection, key, writes)
  }

  it('replaces the old tables under load without any visible effect', async () => {
    const before = await live()
    let rebuilt = 0
    await underLoad(async () => {
      for (const _ of rounds(1, 10)) {
        await rebuild()
        rebuilt++
      }
    })
    for (const [projection, generation] of await live())
      expect(generation, projection).to.equal(before.get(projection)! + rebuilt)
  })

  it('changes nothing when the rebuild is killed in the transaction of the switch', async () => {
    await query(connection, failPoint)
    const before = await live()
    await underLoad(async () => {
      for (const _ of rounds(1, 5)) {
        const holder = await stage.connect(connection)
        await holder.query('select pg_advisory_lock(1)')
        const command = await stage.command(['rebuild'], settings)
        const waits = `select 1 from pg_locks where locktype = 'advisory' and objid = 1 and not granted
          and database = (select oid from pg_database where datname = current_database())`
        const count = await until(
          async () => (await holder.query(waits)).rowCount,
          (rows) => rows === 1,
          60_000,
        )
        expect(count, 'the rebuild waits in the switch').to.equal(1)
        command.kill('SIGKILL')
        await once(command, 'exit')
        await holder.end() // releases the lock
      }
    })
    expect((await live()).get('links')).to.equal(before.get('links'))
    await query(connection, 'drop trigger wait_here on read.checkpoints')
  })

  it('gives tables equal to the old ones', async () => {
    const rowsOf = (table: string) =>
      query<{ row: string }>(connection, `select t::text as row from ${table} t order by 1`)
    await allCounted(service, key)
    const before = await live()
    const held = new Map<string, { row: string }[]>()
    const each = async (
      generations: ReadonlyMap<string, number>,
      look: (name: string, table: string) => Promise<void>,
    ) => {
      for (const projection of projections)
        for (const table of Object.keys(projection.tables))
          await look(`${projection.name} ${table}`, tableNames(projection, generations.get(projection.name)!)(table))
    }
    await each(before, async (name, table) => void held.set(name, await rowsOf(table)))
    await rebuild()
    await each(await live(), async (name, table) => {
      expect(await rowsOf(table), name).to.deep.equal(held.get(name))
    })
    expect([...held.values()].flat().length).to.be.greaterThan(100)
  })
})
