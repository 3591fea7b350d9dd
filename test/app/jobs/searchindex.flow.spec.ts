import { expect } from 'chai'
import { schemaOfTrigrams, installTrigrams, trigrams } from '../../../src/postgres/trigrams.ts'
import { linkText, listLinks } from '../../../src/queries/links/link.ts'
import { buildSearchIndex } from '../../../src/queries/links/searchindex.ts'
import { until } from '../../support/client.ts'
import { randomFrom, repeatable, seed } from '../../support/faults.ts'
import { useLinks } from '../../support/links.ts'

describe(`the index for searching links (${repeatable})`, () => {
  const { app, key, add } = useLinks()
  const random = randomFrom(seed)
  const letter = () => 'abÄß%_\\'[random(7)]!
  const word = (length: number) => Array.from({ length }, letter).join('')
  const reader = () => ({ db: app().app.ledger.pool(1, 60_000, 'search'), table: app().app.ledger.tables.name })

  const titles: string[] = []
  before(async () => {
    for (let n = 0; n < 20; n++) titles.push(word(12).trim())
    await Promise.all(titles.map((title) => add({ title })))
  })
  const found = async (q: string) => {
    const { json } = await app().get(`/api/urls?limit=100&q=${encodeURIComponent(q)}`, { key: key() })
    return json['data'].urls.map(({ id }: { id: number }) => id) as number[]
  }

  it('is used, and finds the same links as reading all of them', async () => {
    const account = Number((await app().get('/api/account', { key: key() })).json['data'].id)
    const needles = titles.map((title) => title.slice(random(6), 7 + random(5)))
    const withoutIndex: (readonly number[])[] = []
    for (const needle of needles) withoutIndex.push(await found(needle))
    const own = reader()
    // after half a minute, the service has built it itself
    await buildSearchIndex(own)
    expect(await buildSearchIndex(own), 'built once').to.equal(false)
    const links = own.table('links')
    await own.db.raw(
      `create temp table more as select * from ${links} cross join generate_series(1, 3000) as n;
       update more set id = 1000000 + n, account = 999, alias = 'x'; alter table more drop column n;
       insert into ${links} select * from more on conflict do nothing;
       select gin_clean_pending_list('${links}_search'); analyze ${links}`,
    )
    await own.db.raw('set enable_seqscan = off; set enable_indexscan = off')
    const { rows } = await own.db.raw<{ rows: object[] }>(
      `explain select id from ${links} where deleted is null and ${linkText} ilike '%abcdef%'`,
    )
    expect(JSON.stringify(rows)).to.include('_search')
    for (const [n, needle] of needles.entries()) {
      const request = { q: [needle], order: 'date', limit: 100, page: 1 } as const
      const listed = await listLinks(own, account, {}, request)
      expect(
        listed.rows.map(({ id }) => id),
        needle,
      ).to.deep.equal(withoutIndex[n])
    }
  })

  it('is built again when an earlier build was interrupted', async () => {
    const own = reader()
    const index = `${own.table('links')}_search`
    const { db } = own
    // what an interrupted build leaves behind, as far as a role without special rights can do it
    const again = async () => {
      await db.raw(`drop index if exists ${index}`)
      return buildSearchIndex(own)
    }
    // the service may be faster
    expect(await until(again, Boolean)).to.equal(true)
  })

  it('is skipped where PostgreSQL does not allow the extension, and search still finds links', async () => {
    const { db } = app().app.ledger
    await db.raw(`drop extension ${trigrams} cascade`)
    await db.raw(
      `do $$ begin execute format('revoke create on database %I from current_user', current_database()); end $$`,
    )
    expect(await installTrigrams(db)).to.match(/permission denied to create extension/)
    expect(await schemaOfTrigrams(db)).to.equal(undefined)
    expect(await buildSearchIndex(reader())).to.equal(false)
    expect(await found(titles[0]!.slice(0, 6))).not.to.deep.equal([])
    await db.raw(
      `do $$ begin execute format('grant create on database %I to current_user', current_database()); end $$`,
    )
    expect(await installTrigrams(db)).to.equal(undefined)
  })
})
