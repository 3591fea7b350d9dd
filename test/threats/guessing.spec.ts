import { expect } from 'chai'
import pg from 'pg'
import { operatorContext } from '../../src/app/operator/caller.ts'
import { block } from '../../src/commands/operator/block.ts'
import { until } from '../support/client.ts'
import { long as thorough, query } from '../support/faults.ts'
import { useLinks } from '../support/links.ts'

const from = (address: string) => ({ 'X-Forwarded-For': address })

/** Counts the queries of this process of some kind, until `end` returns how many there were. */
const countQueries = (isOne: (sql: string) => boolean) => {
  const clients = pg.Client.prototype as { query: (...args: unknown[]) => unknown }
  const send = Reflect.get(clients, 'query')
  let count = 0
  clients.query = new Proxy(send, {
    apply: (target, client, args: [{ readonly text?: unknown }]) => {
      if (typeof args[0].text === 'string' && isOne(args[0].text)) count++
      return Reflect.apply(target, client, args)
    },
  })
  return {
    end: () => {
      clients.query = send
      return count
    },
  }
}

describe('a visitor who guesses aliases', () => {
  const { app, add, api } = useLinks({ TRUST_PROXY: '1' })
  const misses = thorough ? 10_000 : 1000
  const random = () => Math.random().toString(36).slice(2, 10)

  const attacker = from('198.51.100.9')
  const pathOf = (address: unknown) => new URL(String(address)).pathname

  it(`learns nothing from ${misses} tries, and gets 429 after sixty in a minute`, async () => {
    const statuses: number[] = []
    const texts = new Set<string>()
    const lookUps = countQueries((sql) => sql.includes('l.expired_url'))
    for (let sent = 0; sent < misses; sent += 20) {
      const aliases = Array.from({ length: 20 }, random)
      const answers = await Promise.all(aliases.map((alias) => app().visit(`/${alias}`, attacker)))
      answers.forEach(({ status, text }, i) => {
        statuses.push(status)
        // the page shows the address that was requested
        texts.add(text.replaceAll(aliases[i]!, ''))
      })
    }
    // look-ups of one turn share a query
    expect(lookUps.end()).to.be.within(1, misses * 0.75)
    expect(texts.size).to.equal(2)
    expect(statuses.slice(0, 60)).to.deep.equal(Array<number>(60).fill(404))
    // a minute may pass on a slow machine
    expect(statuses.filter((status) => status === 429).length).to.be.above(misses * 0.8)
  }).timeout(300_000)

  it('does not fill the list of unknown addresses, also with paths that are no alias', async () => {
    const { path } = await add()
    for (let sent = 0; sent < 300; sent += 20)
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => app().visit(n % 2 ? `/-${random()}` : `${path}/${random()}`, attacker)),
      )
    expect((await app().visit(path, attacker)).status).to.equal(302)
    await until(
      () => query<{ n: string }>(app().connection, 'select sum(count) as n from state.misses'),
      // a minute may pass on a slow machine, but hardly five
      ([row]) => Number(row?.n) >= 60 && Number(row?.n) < 300,
    )
  }).timeout(300_000)

  it('still gets what exists, also what no cache has', async () => {
    const over = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      await until(
        () => app().visit(`/${random()}`, attacker),
        ({ status }) => status === 429,
      )
      return app().visit(path, { ...attacker, ...headers })
    }
    const { path } = await add()
    const { link: bio } = await api('/api/bio/add', { name: 'Ann', links: [] })
    const { link: code } = await api('/api/qr/add', { type: 'text', data: 'x' })
    const { id: campaign, rotator, list } = await api('/api/campaign/add', { name: 'c', public: true })
    await add({ campaign })
    for (const [existing, status] of [
      [path, 302],
      [pathOf(bio), 200],
      [pathOf(code), 200],
      [pathOf(rotator), 302],
      [pathOf(list), 200],
    ] as const)
      expect((await over(existing)).status, existing).to.equal(status)
    for (const unknown of [`/${random()}`, `/qr/${random()}`, `/r/${random()}`, `/u/ann/${random()}-9`]) {
      const page = await over(unknown)
      expect(page.status, unknown).to.equal(429)
      expect(Number(page.headers.get('Retry-After')), unknown).to.be.within(1, 60)
      expect(page.text).to.include('Too many requests')
      const { status, json } = await over(unknown, { Accept: 'application/json' })
      expect([status, json]).to.deep.equal([429, { error: 1, message: 'Too many requests' }])
    }
  })

  it('does not affect visitors at other addresses, and reads nothing from the log', async () => {
    expect((await app().visit(`/${random()}`, from('198.51.100.10'))).status).to.equal(404)
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
    // each unknown alias once, and not for each request
    expect(await looked('links_v%')).to.be.within(1, misses + 100)
    // writing the links and the account caused lookups too
    expect(await looked('events')).to.be.below(misses * 0.75)
  }).timeout(300_000)
})

describe('a visitor who repeatedly requests a link without a destination', () => {
  const { app, add } = useLinks({ TRUST_PROXY: '1' })

  it('is counted sixty times in a minute, whether it has ended, has not begun or is blocked', async () => {
    const [later, blocked, ended] = [
      await add({ starts: '2090-01-01 00:00:00' }),
      await add(),
      await add({ max_clicks: 1 }),
    ]
    await app().app.ledger.handler.handle(
      block,
      { type: 'Block', kind: 'link', value: String(blocked.id), reason: 'x', addresses: [] },
      operatorContext(app().config, null),
    )
    const each = [
      { kind: 'not_started', path: later.path, statuses: [404, 429] },
      { kind: 'blocked', path: blocked.path, statuses: [403] },
      { kind: 'ended', path: ended.path, statuses: [410] },
    ]
    for (const [n, { kind, path, statuses }] of each.entries()) {
      await until(
        () => app().visit(path, from(`198.51.100.${20 + n}`)),
        ({ status }) => statuses.includes(status),
      )
      for (let sent = 0; sent < 300; sent += 20)
        await Promise.all(Array.from({ length: 20 }, () => app().visit(path, from(`198.51.100.${30 + n}`))))
      // written after all the others
      const last = `after-${kind.replace('_', '-')}`
      await app().visit(`/${last}`, from(`198.51.100.${40 + n}`))
      await until(
        () => query(app().connection, `select from state.misses where path = '/${last}'`),
        (rows) => rows.length === 1,
      )
      const [row] = await query<{ n: string }>(
        app().connection,
        `select sum(count) as n from state.misses where kind = '${kind}' and path = '${path}'`,
      )
      // a minute may pass on a slow machine, but hardly five
      expect(Number(row?.n), kind).to.be.within(60, 299)
    }
  }).timeout(300_000)
})
