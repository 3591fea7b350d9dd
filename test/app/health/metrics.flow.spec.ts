import { randomUUID } from 'node:crypto'
import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { codec } from '../../../src/events/codec.ts'
import { memoryStore } from '../../support/memorystore.ts'
import { hashPassword } from '../../../src/security/passwords.ts'
import { countedBy, openMetrics } from '../../../src/app/health/metrics.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { browser, until } from '../../support/client.ts'
import { memoryKeyring } from '../../support/keyring.ts'
import { makeTable } from '../../support/mmdb.ts'
import { burn } from '../../support/turns.ts'

/** Returns the samples of a text in Prometheus' format, by name and labels. */
const samples = (text: string) =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  ) as Readonly<Record<string, number>>
const metadata = {
  v: 1,
  at: '2026-01-02T03:04:05.000Z',
  account: 1,
  actor: { kind: 'service' },
  request: '',
  command: randomUUID(),
} as const
const deleted = (id: number) => ({ id: randomUUID(), type: 'LinkDeleted', data: { id }, metadata }) as const

describe('metrics', () => {
  it('count appends by outcome and time them', async () => {
    const metrics = openMetrics()
    const store = metrics.measured(await memoryStore(codec(memoryKeyring())))
    const append = () => store.append([{ stream: 'link-1', expected: 'no_stream', events: [deleted(1)] }])
    await append()
    await append()
    const big = { ...deleted(1), metadata: { ...metadata, request: 'x'.repeat(2 ** 20) } }
    await store.append([{ stream: 'link-2', expected: 'no_stream', events: [big] }]).catch(() => {})
    const { text, type } = await metrics.text()
    expect(type).to.match(/^text\/plain; version=0\.0\.4/)
    expect(samples(text)).to.include({
      'linkledger_appends_total{outcome="stored"}': 1,
      'linkledger_appends_total{outcome="conflict"}': 1,
      'linkledger_appends_total{outcome="failed"}': 1,
      linkledger_append_seconds_count: 3,
    })
  })

  it('leave out a gauge that cannot be read, and report the others', async () => {
    const { registerGauge, text } = openMetrics()
    registerGauge({ name: 'there', help: 'h', read: () => 7 })
    registerGauge({ name: 'away', help: 'h', label: 'of', read: () => Promise.reject(new Error('no answer')) })
    registerGauge({ name: 'both', help: 'h', label: 'of', read: async () => ({ a: 1, b: 2 }) })
    const read = samples((await text()).text)
    expect(read).to.include({ there: 7, 'both{of="a"}': 1, 'both{of="b"}': 2 })
    expect(Object.keys(read).filter((name) => name.startsWith('away'))).to.deep.equal([])
  })

  it('are of gauges the highest of all threads, and of all else the sum, also of threads that have ended', async () => {
    const measure = (age: number, done: number) => {
      const metrics = openMetrics()
      metrics.registerGauge({ name: 'age', help: 'h', label: 'of', read: () => ({ table: age }) })
      metrics.registerCounter({ name: 'done', help: 'h', read: () => done })
      return metrics
    }
    const [main, ended, running] = [measure(5, 1), measure(9, 10), measure(6, 100)]
    const before = await countedBy([[], await ended.values()])
    main.join(async () => [before, await running.values()])
    expect(samples((await main.text()).text)).to.include({ 'age{of="table"}': 6, done: 111 })
  })

  describe('at /metrics of a service', () => {
    let service: TestApp
    let lists = ''
    const table = (name: string, country_code: string) =>
      makeTable(name, 4, { '0': { country_code }, '1': { country_code } })
    before(async () => {
      lists = await mkdtemp(join(tmpdir(), 'linkledger-lists-'))
      const files = {
        BLOCKLIST_FILE: join(lists, 'blocked'),
        ALLOWLIST_FILE: join(lists, 'allowed'),
        GEOIP_FILE: join(lists, 'ips'),
      }
      await writeFile(files.GEOIP_FILE, table('First', 'SE'))
      await writeFile(files.BLOCKLIST_FILE, 'evil.example\nbad.example\n')
      await writeFile(files.ALLOWLIST_FILE, 'bad.example\n')
      const anHourAgo = new Date(Date.now() - 3_600_000)
      await utimes(files.BLOCKLIST_FILE, anHourAgo, anHourAgo)
      const hashNewPassword = (password: string) => {
        burn(400)
        return hashPassword(password, undefined, { N: 16, r: 8, p: 1 })
      }
      service = await startTestApp({ ...files, TRUST_PROXY: '1' }, undefined, { hashNewPassword })
    })
    after(async () => {
      await service.close()
      await rm(lists, { recursive: true })
    })
    const read = async () => samples(await (await fetch(`${service.operator.address}/metrics`)).text())

    it('report appends, projection, clicks and the process itself', async () => {
      const { key } = await service.register()
      await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'hello' } })
      await service.visit('/hello', { 'user-agent': browser })
      await fetch(`${service.app.address}/hello`, { method: 'HEAD', redirect: 'manual' })
      await service.post('/api/url/add', { key, body: { url: 'https://example.com/', custom: 'shut', password: 'p' } })
      const body = new URLSearchParams({ password: 'wrong' })
      expect((await fetch(`${service.app.address}/shut`, { method: 'POST', body })).status).to.equal(401)
      const settled = {
        linkledger_projector_active: 1,
        'linkledger_projector_lag_positions{subscription="domain"}': 0,
        'linkledger_projector_idle_seconds{subscription="domain"}': 0,
        'linkledger_projector_lag_seconds{subscription="domain"}': 0,
        'linkledger_projector_lag_positions{subscription="clicks"}': 0,
        linkledger_relay_lag_clicks: 0,
        linkledger_relay_lag_seconds: 0,
        linkledger_spool_waiting: 0,
        'linkledger_not_counted_total{what="head"}': 1,
        'linkledger_not_counted_total{what="password"}': 1,
        linkledger_clicks_dropped_total: 0,
      }
      // the visit may not be in the spool yet
      const recorded = await until(
        read,
        (now) =>
          now['linkledger_spool_bytes']! > 100 && Object.entries(settled).every(([name, value]) => now[name] === value),
      )
      expect(recorded).to.include(settled)
      expect(recorded['linkledger_appends_total{outcome="stored"}']).to.be.at.least(3)
      expect(recorded['linkledger_spool_bytes']).to.be.above(100)
      expect(recorded).to.include.keys('process_cpu_seconds_total')
    })

    it('have the age and the size of the lists of blocked and of allowed hosts', async () => {
      const { key } = await service.register()
      const add = async (url: string) => (await service.post('/api/url/add', { key, body: { url } })).status
      expect([await add('https://evil.example/'), await add('https://bad.example/')]).to.deep.equal([400, 200])
      const found = await read()
      expect(found['linkledger_blocklist_rules{list="BLOCKLIST_FILE"}']).to.equal(2)
      expect(found['linkledger_blocklist_rules{list="ALLOWLIST_FILE"}']).to.equal(1)
      expect(found['linkledger_blocklist_age_seconds{list="BLOCKLIST_FILE"}']).to.be.at.least(3600)
      expect(found['linkledger_blocklist_age_seconds{list="ALLOWLIST_FILE"}']).to.be.below(3600)
    })

    it('have the age of the table of countries, which is read again when its file changes', async () => {
      const { key } = await service.register()
      const targets = ['SE', 'JP'].map((location) => ({ location, link: `https://${location}.example/` }))
      const body = { url: 'https://example.com/', custom: 'where', geotarget: targets }
      expect((await service.post('/api/url/add', { key, body })).status).to.equal(200)
      const leadsTo = (url: string) =>
        until(
          () => service.visit('/where', { 'x-forwarded-for': '8.8.8.8' }),
          ({ headers }) => headers.get('location') === url,
        )
      await leadsTo('https://se.example/')
      expect((await read())['linkledger_country_table_age_seconds{table="First"}']).to.be.above(86_400)
      await writeFile(join(lists, 'next'), table('Second', 'JP'))
      await rename(join(lists, 'next'), join(lists, 'ips'))
      await leadsTo('https://jp.example/')
      expect(await read()).to.include.keys('linkledger_country_table_age_seconds{table="Second"}')
    })

    it('count turns of the event loop in which all other requests waited', async () => {
      await service.register()
      await until(read, (now) => now['linkledger_long_turns_total']! > 0)
    })

    it('describe the process that responds: a standby projector is not active and has no lag', async () => {
      const standby = await startTestApp({}, service.connection)
      const text = await (await fetch(`${standby.operator.address}/metrics`)).text()
      await standby.close()
      expect(samples(text)).to.include({ linkledger_projector_active: 0 })
      expect(text).not.to.include('linkledger_projector_lag_positions{')
    })
  })
})
