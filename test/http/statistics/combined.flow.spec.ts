import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Click } from '../../../src/events/statistics/click.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { clicked } from '../../support/events.ts'
import { randomFrom } from '../../support/faults.ts'
import { randomClick } from '../../support/log.ts'

describe('the visits of a QR code and the views of a bio page, together with a campaign and a channel', () => {
  let app: TestApp
  let key: string
  const ids = { campaign: 0, empty: 0, linkChannel: 0, channel: 0, within: 0, out: 0, qr: 0, bio: 0 }
  const made = async (path: string, body: object) => Number((await app.post(path, { key, body })).json['id'])
  const stats = async (asked: string) => (await app.get(`/api/stats?${asked}`, { key })).json['data']
  const visits = (asked: string, headers = {}) => app.get(`/api/visits?${asked}&limit=1000`, { key, headers })

  before(async () => {
    app = await startTestApp()
    const registered = await app.register()
    key = registered.key
    for (const name of ['campaign', 'empty'] as const) ids[name] = await made('/api/campaign/add', { name })
    for (const name of ['channel', 'linkChannel'] as const) ids[name] = await made('/api/channel/add', { name })
    const url = 'https://example.com/'
    ids.within = await made('/api/url/add', { url, campaign: ids.campaign })
    ids.out = await made('/api/url/add', { url })
    ids.qr = await made('/api/qr/add', { type: 'text', data: 'Spring' })
    ids.bio = await made('/api/bio/add', { name: 'Me', alias: 'me-in-one', links: [] })
    for (const path of [
      `${ids.channel}/assign/qr/${ids.qr}`,
      `${ids.channel}/assign/bio/${ids.bio}`,
      `${ids.linkChannel}/assign/links/${ids.within}`,
    ])
      expect((await app.post(`/api/channel/${path}`, { key })).status).to.equal(200)
    const [byCode, byPage] = [
      { kind: 'qr', id: ids.qr },
      { kind: 'bio', id: ids.bio, entry: 1 },
    ] as const
    const kinds = [
      { n: 7, link: ids.within, source: byCode },
      { n: 5, link: ids.out, source: byCode },
      { n: 3, link: 0, source: byCode, rule: 'link' },
      { n: 11, link: ids.within, source: { kind: 'link', id: ids.within } },
      { n: 2, link: 0, source: byPage, rule: 'bio' },
      { n: 4, link: 0, source: { kind: 'bio', id: ids.bio, entry: null }, rule: 'view' },
    ] as const
    const random = randomFrom(1)
    const clicks = kinds.flatMap(({ n, ...of }) =>
      Array.from({ length: n }, (_, i): Click => {
        const at = new Date(Date.UTC(2026, 0, 2, 3, 4 + (i % 3), i)).toISOString()
        const { source, ...others } = { ...randomClick(random, 4), account: registered.id, at, ...of }
        return { ...others, class: 'human', country: i === 0 ? '' : 'DE', source } as Click
      }),
    )
    // in several events, so that numbers of visits and of scans are beside each other
    for (let n = 0; n < clicks.length; n += 4) {
      const some = clicks.slice(n, n + 4)
      const actor = { kind: 'service' } as const
      const metadata = { v: 1, at: some[0]!.at, account: null, actor, request: '', command: randomUUID() } as const
      const events = [{ ...clicked(...some), id: randomUUID(), metadata }]
      await app.app.ledger.store.append([{ stream: `clicks-test-${randomUUID()}`, expected: 'no_stream', events }])
    }
    await until(
      async () => [(await stats(period)).total.visits, (await stats(views())).total.visits],
      ([all, seen]) => all === 28 && seen === 4,
    )
  })
  after(() => app.close())

  const period = 'from=2026-01-01&to=2026-01-31'
  const views = () => `${period}&bio=${ids.bio}&rule=view`

  it('are those that led to its items, as figures and as lists', async () => {
    const { campaign, empty, linkChannel, channel, within, qr, bio } = ids
    for (const [asked, n] of [
      [`qr=${qr}`, 15],
      [`qr=${qr}&campaign=${campaign}`, 7],
      [`link=${within}&qr=${qr}&campaign=${campaign}`, 7],
      [`campaign=${campaign}&source=qr`, 7],
      [`qr=${qr}&campaign=${campaign}&country=DE`, 6],
      [`qr=${qr}&campaign=${empty}`, 0],
      [`qr=${qr}&channel=${linkChannel}`, 7],
      [`qr=${qr}&channel=${channel}`, 15],
      [`qr=${qr}&channel=${linkChannel}&campaign=${campaign}`, 7],
      [`bio=${bio}&rule=view`, 4],
      [`bio=${bio}&rule=view&channel=${channel}`, 4],
      [`bio=${bio}&rule=view&channel=${linkChannel}`, 0],
      [`bio=${bio}&channel=${channel}`, 2],
      // views are no clicks of the account
      [`channel=${channel}`, 17],
      [`channel=${channel}&country=DE,none`, 17],
    ] as const) {
      const { total } = await stats(`${period}&${asked}`)
      expect([total.clicks, total.visits], asked).to.deep.equal([n, n])
      const { result, visits: rows } = (await visits(`${period}&${asked}`)).json['data']
      expect([result, rows.length], asked).to.deep.equal([n, n])
    }
    const { visits: led } = (await visits(`${period}&qr=${qr}&campaign=${campaign}`)).json['data']
    for (const visit of led) expect(visit).to.include({ link: within, qr })
  })

  it('name the page that was seen, as for clicks on its entries', async () => {
    const { by } = await stats(`${views()}&by=link`)
    expect(by.link).to.deep.equal([{ value: `bio/${ids.bio}`, name: 'Me', count: 4 }])
  })

  it('have a line each in a file with a single column, also where they have no value', async () => {
    const asked = `${period}&qr=${ids.qr}&campaign=${ids.campaign}&fields=country`
    const { text } = await visits(asked, { Accept: 'text/csv' })
    expect(text).to.equal(`country\r\n${'DE\r\n'.repeat(6)}""\r\n`)
  })
})
