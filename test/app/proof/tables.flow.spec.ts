import { expect } from 'chai'
import { verifyTables } from '../../../src/app/proof/tables.ts'
import { claimStream } from '../../../src/commands/claims/claim.ts'
import { compareTables } from '../../../src/projections/engine/compare.ts'
import { dropOldClicks } from '../../../src/projections/statistics/oldclicks.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { query } from '../../support/faults.ts'

describe('linkledger verify --tables', function () {
  this.timeout(300_000)
  let app: TestApp
  let key = ''
  const table = (name: string) => app.app.ledger.tables.name(name)
  const sql = (text: string) => query(app.connection, text)
  const verify = () => verifyTables(app.app.ledger)
  const leftSchemas = () => sql(`select from pg_namespace where nspname ~ '^replay_'`)

  before(async () => {
    app = await startTestApp({ QUOTA_LINKS: '0' })
    ;({ key } = await app.register())
    for (const custom of ['one', 'two', 'gone'])
      await app.post('/api/url/add', { key, body: { url: `https://example.com/${custom}`, custom } })
    await app.post('/api/campaign/add', { key, body: { name: 'Spring', slug: 'spring' } })
    await app.del('/api/url/3/delete', { key })
    await app.post('/api/url/add', { key, body: { url: 'https://example.com/again', custom: 'gone' } })
    for (let n = 0; n < 3; n++) await app.visit('/one')
    await until(
      () => app.get('/api/url/1', { key }),
      ({ json }) => Number(json['data'].clicks) >= 3,
    )
  })
  after(() => app.close())

  it('reports through which event the tables agree with the log, and leaves nothing behind', async () => {
    const { ordinals } = app.app.ledger
    const seen: number[] = []
    const { through, tables, rows, findings, notes } = await verifyTables(app.app.ledger, {
      onProgress: (events) => seen.push(events),
    })
    expect([findings, notes]).to.deep.equal([[], []])
    expect(through).to.equal((await ordinals.head()) - 1)
    expect(seen.at(-1)).to.be.at.least(through)
    expect(tables).to.be.above(50)
    expect(rows).to.be.above(50)
    expect(await leftSchemas()).to.deep.equal([])
  })

  /** Changes rows, and returns what is found. Afterwards, they are as they were. */
  const found = async (...changes: readonly (readonly [change: string, back: string])[]) => {
    for (const [change] of changes) await sql(change)
    const { findings } = await verify()
    for (const [, back] of changes) await sql(back)
    return findings
  }
  const claim = `type = 'NameClaimed' and stream = '${claimStream({ kind: 'slug', name: 'spring' })}'`

  it('names the row of each table that differs from the log, and a name that lost its claim', async () => {
    const [links, clicks, sums] = [table('links'), table('clicks'), table('link_stats')]
    expect(
      await found(
        [
          `update ${sums} set clicks = clicks + 1 where link = 1`,
          `update ${sums} set clicks = clicks - 1 where link = 1`,
        ],
        [
          `update ${links} set url = 'https://example.org/' where id = 2`,
          `update ${links} set url = 'https://example.com/two' where id = 2`,
        ],
        [
          `create table saved as select * from ${clicks} limit 1; update saved set seq = 5, link = 77; insert into ${clicks} select * from saved`,
          `delete from ${clicks} where link = 77; drop table saved`,
        ],
        [
          `create table claim as select * from log.events where ${claim}; update log.events set data = jsonb_set(data::jsonb, '{token}', '"other"')::json where ${claim}`,
          `update log.events e set data = c.data from claim c where c.position = e.position; drop table claim`,
        ],
      ),
    ).to.have.members([
      'link_stats: the row of link 1 is not what the log makes it: clicks',
      'links: the row of link 2 is not what the log makes it: url',
      'clicks: the row seq = 5 should not be there: the log does not make it',
      'claims: campaign 1 has a name (slug) that no claim in the log reserves for it, so that another one could get it',
    ])
  })

  it('names a deleted link that is there again, and a row that is missing', async () => {
    const [links, campaigns] = [table('links'), table('campaigns')]
    expect(
      await found(
        [
          `create table saved as select * from ${links} where id = 3; update ${links} set deleted = null where id = 3`,
          `update ${links} l set deleted = s.deleted from saved s where l.id = s.id; drop table saved`,
        ],
        [
          `create table gone as select * from ${campaigns}; delete from ${campaigns}`,
          `insert into ${campaigns} select * from gone; drop table gone`,
        ],
      ),
    ).to.have.members([
      'links: the row of link 3 is not what the log makes it: deleted',
      'campaigns: the row of campaign 1 is missing',
    ])
  })

  it('compares tables in parts of any size', async () => {
    const { db, ordinals } = app.app.ledger
    await sql('create schema parts')
    const names = (name: string) => `parts.${name}`
    const pair = [(name: string) => names(`${name}_live`), (name: string) => names(`${name}_fresh`)] as const
    const tables = { pairs: () => '' }
    for (const name of ['pairs_live', 'pairs_fresh'])
      await sql(
        `create table parts.${name} (a text collate "C", b int, v text, primary key (a, b)); insert into parts.${name} select chr(65 + n % 5), n, 'x' from generate_series(1, 60) n`,
      )
    const compare = (size: number) => compareTables(db, { tables }, pair, { size, ordinals })
    for (const size of [1, 7, 60, 61])
      expect(await compare(size)).to.deep.equal({ tables: 1, rows: 60, differences: [] })
    await sql(`update parts.pairs_live set v = 'y' where b in (17, 44); delete from parts.pairs_fresh where b = 60`)
    for (const size of [1, 7, 60, 61])
      expect((await compare(size)).differences[0]).to.equal(
        'pairs: the row a = A, b = 60 should not be there: the log does not make it',
      )
    await sql('drop schema parts cascade')
  })

  it('compares totals when clicks of old months were dropped, and says so', async () => {
    const days = 86_400_000
    await dropOldClicks(app.app.ledger.db, 1, new Date(Date.now() + 70 * days))
    const { findings, notes } = await verify()
    expect(findings).to.deep.equal([])
    expect(notes).to.have.length(1)
    expect(notes[0]).to.match(/^clicks before \d{4}-\d\d-01 were dropped \(CLICK_RETENTION_MONTHS\)/)
  })
})
