import { expect } from 'chai'
import { listLinks } from '../../src/queries/link.ts'
import { useLinks } from '../support/links.ts'

describe('links by clicks', () => {
  const { app, key, add } = useLinks()

  it('are the same far back as on pages before, without deleted and archived ones (fault 188)', async () => {
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
})
