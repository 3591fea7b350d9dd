import { expect } from 'chai'
import { listLinks } from '../../../src/queries/links/link.ts'
import { readAt } from '../../../src/queries/history/tablesat.ts'
import { beginSnapshot } from '../../../src/postgres/readsnapshot.ts'
import { useLinks } from '../../support/links.ts'

describe('links by clicks', () => {
  const { app, key, add } = useLinks()

  it('are the same far back as on pages before, without deleted and archived ones', async () => {
    await add()
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    const reader = { db: app().app.ledger.pool(1, 60_000, 'test'), table: app().app.ledger.tables.name }
    const [links, stats] = [reader.table('links'), reader.table('link_stats')]
    await reader.db.raw(
      `create temp table more as select * from ${links} cross join generate_series(1, 2600) as n where account = ${account};
       update more set id = 100000 + n, alias = 'x' || n, archived = n % 7 = 0, deleted = case when n % 11 = 0 then now() end;
       alter table more drop column n;
       insert into ${links} select * from more;
       insert into ${stats} (link, account, clicks, uniques, visits, tail)
         select id, account, 1 + id % 5, 1, 1, 0 from more where id % 3 > 0;
       insert into ${stats} (link, account, clicks, uniques, visits, tail) values (-5, ${account}, 3, 1, 1, 0)`,
    )
    for (const archived of [false, undefined]) {
      const ids = async (limit: number, page: number) =>
        (await listLinks(reader, account, { archived }, { limit, page, order: 'click' })).rows.map(({ id }) => id)
      const whole = [...(await ids(900, 1)), ...(await ids(900, 2)), ...(await ids(900, 3))]
      const { rows } = await reader.db.raw<{ rows: { id: string }[] }>(
        `select l.id from ${links} l left join ${stats} s on s.link = l.id
         where l.account = ${account} and deleted is null ${archived === false ? 'and not archived' : ''}
         order by coalesce(s.clicks, 0) desc, l.id desc`,
      )
      const expected = rows.map(({ id }) => Number(id))
      expect(whole).to.deep.equal(expected)
      for (const page of [11, 12, 13, 14, 15, 16, 20, 22])
        expect(await ids(100, page), `page ${page}`).to.deep.equal(expected.slice((page - 1) * 100, page * 100))
    }
  })

  /** Reads the first page, and returns the plan of the last statement whose text has this, as it was executed. */
  const planOf = async (order: 'date' | 'click', part: string) => {
    await add()
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    const { pool, tables } = app().app.ledger
    const reader = { db: pool(1, 60_000, 'test'), table: tables.name }
    type Sent = { readonly sql: string; readonly bindings: readonly unknown[] }
    const sent: Sent[] = []
    reader.db.on('query', (query: Sent) => sent.push(query))
    await listLinks(reader, account, { archived: false }, { limit: 20, page: 1, order })
    const { sql, bindings } = sent.findLast((query) => query.sql.includes(part))!
    const plain = sql.replaceAll(/\$(\d+)/g, (_, n) => {
      const value = bindings[Number(n) - 1]
      return Array.isArray(value) ? `'{${value.join()}}'` : String(value)
    })
    const { rows } = await reader.db.raw<{ rows: { 'QUERY PLAN': unknown }[] }>(
      `explain (analyze, format json) ${plain}`,
    )
    return JSON.stringify(rows[0]?.['QUERY PLAN'])
  }

  it('reads the links of a page alone, also before PostgreSQL has analyzed a table of thousands', async () => {
    const plan = await planOf('date', 'unnest')
    // an index with other columns between the account and the id would be read from end to end
    const used = [...plan.matchAll(/"Index Name":"links_v\d+_\d+_([a-z_]+)\d*"/g)].map(([, name]) => name)
    expect(used, plan).to.have.length(1)
    expect(['pkey', 'account_id_idx'], plan).to.include(used[0])
  })

  it('looks up the links of a page by clicks alone, also before PostgreSQL has analyzed a table of thousands', async () => {
    const plan = await planOf('click', 'clicks desc')
    const loops = [...plan.matchAll(/"Actual Loops":(\d+)/g)].map(([, n]) => Number(n))
    expect(Math.max(...loops), plan).to.be.below(40)
  })

  it('sums up only the links that existed at a moment, each of them once', async () => {
    const [most, fewer, none] = [await add(), await add(), await add()].map(({ id }) => id)
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    const { pool, tables, store } = app().app.ledger
    const db = pool(1, 60_000, 'past')
    const now = await store.head('domain')
    // links of later, with clicks that were recorded later
    await db.raw(
      `insert into ${tables.name('link_stats')} (link, account, clicks, uniques, visits, tail, last)
       select 500000 + n, ${account}, 7, 7, 7, 0, ${now + 1000n} from generate_series(1, 2000) n
       union all select ${most}, ${account}, 500, 1, 500, 0, ${now} union all select ${fewer}, ${account}, 300, 1, 300, 0, ${now + 1n}`,
    )
    await db.transaction(async (tx) => {
      const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = []
      const reader = await readAt(tx, tables.name, { domain: now, clicks: now })
      tx.on('query', (query: (typeof sent)[number]) => sent.push(query))
      const page = async (request: object) =>
        listLinks(reader, account, {}, { limit: 20, page: 1, order: 'click', ...request })
      const { rows } = await page({})
      expect(rows.slice(0, 3).map(({ id, clicks }) => [id, clicks])).to.deep.equal([
        [most, 500],
        [fewer, 300],
        [none, 0],
      ])
      const summing = sent.filter(({ sql }) => sql.includes('clicks desc'))
      expect(summing).to.have.length(1)
      const second = await page({ limit: 1, page: 2 })
      expect(second.rows.map(({ id }) => id)).to.deep.equal([fewer])
      expect((await page({ after: second.next })).rows[0]?.id).to.equal(none)
      const plain = summing[0]!.sql.replaceAll(/\$(\d+)/g, (_, n) => String(summing[0]!.bindings[Number(n) - 1]))
      const plan = JSON.stringify((await tx.raw(`explain (analyze, format json) ${plain}`)).rows)
      const loops = [...plan.matchAll(/"Actual Loops":(\d+)/g)].map(([, n]) => Number(n))
      expect(Math.max(...loops), plan).to.be.below(40)
    })
  })

  it('reads a page and how many there are with two statements of a snapshot, planned once for a connection', async () => {
    await add()
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    const { pool, tables } = app().app.ledger
    const db = pool(1, 60_000, 'snapshot')
    const sent: string[] = []
    const page = async () => {
      const snapshot = await beginSnapshot<{ n: number }>(db, 'select 1 as n')
      expect(snapshot.first).to.deep.equal([{ n: 1 }])
      const asked = (query: { readonly sql: string }) => void sent.push(query.sql)
      snapshot.db.on('query', asked)
      const reader = { db: snapshot.db, table: tables.name, oneMoment: true } as const
      const request = { limit: 10, page: 1, order: 'date' } as const
      const { total, rows } = await listLinks(reader, account, { archived: false }, request)
      snapshot.db.off('query', asked)
      await snapshot.end()
      return { total, rows: rows.length }
    }
    const first = await page()
    expect(first.total).to.be.above(0)
    expect(first.rows).to.be.above(0)
    expect(await page()).to.deep.equal(first)
    expect(sent).to.have.length(4)
    const { rows } = await db.raw<{ rows: { uses: string }[] }>(
      'select generic_plans + custom_plans as uses from pg_prepared_statements',
    )
    expect(rows.map(({ uses }) => Number(uses))).to.deep.equal([2, 2])
  })
})
