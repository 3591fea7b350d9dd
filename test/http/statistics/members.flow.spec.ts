import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import { visitClasses } from '../../../src/queries/statistics/conditions.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { clicked } from '../../support/events.ts'
import { query, randomFrom, repeatable, seed } from '../../support/faults.ts'
import { randomClick } from '../../support/log.ts'

const [start, end] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 3, 1)]
/** Some begin or end within a quarter of an hour or a day, one ends now, and one has no whole period. */
const periods = [
  'from=2026-01-01&to=2026-03-31',
  'from=2026-01-10T07:08:09&to=2026-02-20T10:11:12',
  'from=2026-02-03T12:00:01&to=2026-02-03T12:09:00&interval=hour',
  'from=2026-01-20&tz=Asia/Kathmandu&interval=week',
  'from=2026-03-30T23:50&to=2026-04-02&interval=hour&tz=America/St_Johns',
] as const

describe(`the sums of a campaign and of a channel (${repeatable})`, () => {
  const random = randomFrom(seed)
  let app: TestApp
  let key: string
  let asked: readonly string[]

  const stats = async (question: string) => {
    const { status, json, text } = await app.get(`/api/stats?${question}`, { key })
    expect(status, `${question} ${text}`).to.equal(200)
    return json['data']
  }
  const made = async (path: string, body: object) => (await app.post(path, { key, body })).json['id'] as number
  const append = async (clicks: readonly Click[]) => {
    const actor = { kind: 'service' } as const
    const metadata = { v: 1, at: clicks.at(-1)!.at, account: null, actor, request: '', command: randomUUID() } as const
    const events = [{ ...clicked(...clicks), id: randomUUID(), metadata }]
    await app.app.ledger.store.append([{ stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events }])
  }

  before(async () => {
    app = await startTestApp()
    const registered = await app.register()
    key = registered.key
    const campaign = await made('/api/campaign/add', { name: 'Spring' })
    const channel = await made('/api/channel/add', { name: 'Shop' })
    const links: number[] = []
    for (const n of [0, 1, 2, 3])
      links.push(await made('/api/url/add', { url: 'https://example.com/', ...(n < 2 && { campaign }) }))
    const qr = await made('/api/qr/add', { type: 'text', data: 'Spring' })
    const bio = await made('/api/bio/add', { name: 'Me', alias: 'me-in-a-channel', links: [] })
    for (const [kind, item] of [
      ['qr', qr],
      ['bio', bio],
      ['links', links[0]],
      ['links', links[3]],
    ] as const)
      expect((await app.post(`/api/channel/${channel}/assign/${kind}/${item}`, { key })).status).to.equal(200)
    asked = [`campaign=${campaign}`, `channel=${channel}`, `campaign=${campaign}&channel=${channel}`]
    const clicks = Array.from({ length: 6000 }, (_, n): Click => {
      // the last link has few visits, which are not rolled up
      const link = n % 100 === 7 ? links[3]! : links[random(3)]!
      const sources = [
        { kind: 'link', id: link },
        { kind: 'qr', id: qr },
        { kind: 'bio', id: bio, entry: 1 },
      ] as const
      const source = sources[random(3)]!
      // a code and a page also lead elsewhere
      const led = source.kind !== 'link' && random(4) === 0 ? { link: 0, rule: 'link' } : { link }
      const visitor = random(400).toString(16).padStart(16, '0')
      const at = new Date(start + random((end - start) / 1000) * 1000).toISOString()
      return { ...randomClick(random, 4), account: registered.id, source, visitor, at, ...led }
    }).toSorted((a, b) => (a.at < b.at ? -1 : 1))
    for (let n = 0; n < clicks.length; n += 300) await append(clicks.slice(n, n + 300))
    await until(
      async () => (await stats('from=2025-12-01&to=2027-01-31&interval=month')).total.visits as number,
      (visits) => visits === clicks.length,
    )
  })
  after(() => app.close())

  it('are those of its visits one by one, in any period and by everything', async () => {
    const [name] = (
      await query<{ name: string }>(
        app.connection,
        `select table_name as name from information_schema.tables where table_schema = 'read' and table_name ~ '^link_stats_v\\d+_\\d+$'`,
      )
    ).map((row) => row.name)
    const rolled = await query(app.connection, `select from read.${name} where rolled is not null`)
    expect(rolled.length).to.be.greaterThan(2)
    const by = 'by=link,country,referrer,medium,source,device'
    for (const of of asked)
      for (const period of periods) {
        // a filter by classes reads the visits
        const [summed, all, human] = [
          await stats(`${of}&${period}&${by},rule,class`),
          await stats(`${of}&${period}&class=${visitClasses.join()}`),
          await stats(`${of}&${period}&class=human&${by},rule`),
        ]
        const about = `${of}&${period}`
        expect(summed.total, about).to.deep.equal(all.total)
        expect(summed.series, about).to.deep.equal(all.series)
        for (const [dimension, rows] of Object.entries(human.by as Record<string, readonly object[]>))
          expect(summed.by[dimension], `${about} by ${dimension}`).to.deep.equal(rows)
      }
    expect((await stats(`${asked[1]}&${periods[0]}`)).total.uniqueClicks).to.be.greaterThan(100)
  })
})
