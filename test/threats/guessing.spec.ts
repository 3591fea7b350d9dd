import { expect } from 'chai'
import { until } from '../support/client.ts'
import { long as thorough, query } from '../support/faults.ts'
import { useLinks } from '../support/links.ts'

describe('a visitor who guesses aliases (threat 21)', () => {
  const { app, add } = useLinks({ TRUST_PROXY: '1' })
  const misses = thorough ? 10_000 : 1000
  const random = () => Math.random().toString(36).slice(2, 10)
  const from = (address: string) => ({ 'X-Forwarded-For': address })

  it(`learns nothing from ${misses} tries, causes few lookups, and does not block others`, async () => {
    const { path } = await add()
    const attacker = '198.51.100.9'
    const first = await app().visit(`/${random()}`, from(attacker))
    for (let sent = 0; sent < misses; sent += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => app().visit(`/${random()}`, from(attacker))))
      for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, first.text])
    }
    expect((await app().visit(path, from('198.51.100.10'))).status).to.equal(302)
    // an unknown alias is cached: it is not looked up for each request, even from different addresses
    for (let i = 0; i < 200; i++) await app().visit('/nothing-here', from(`203.0.113.${i}`))
    await app().close()
    const looked = async (table: string) => {
      const [row] = await query<{ n: string }>(
        app().connection,
        'select sum(seq_scan + coalesce(idx_scan, 0)) as n from pg_stat_user_tables where relname like $1',
        [table],
      )
      return Number(row?.n ?? 0)
    }
    // connections report their statistics when they end
    await until(
      () =>
        query(
          app().connection,
          `select 1 from pg_stat_activity where application_name like 'linkledger-%' and datname = current_database()`,
        ),
      ({ length }) => length === 0,
    )
    expect(await looked('links_v%')).to.be.within(60, 60 + 500)
    // writing the link and the account caused lookups too
    expect(await looked('events')).to.be.below(misses * 0.75)
  }).timeout(60_000)
})
