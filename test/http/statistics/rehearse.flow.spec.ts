import { expect } from 'chai'
import type { EventStore } from '../../../src/events/store.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'

type Json = Answer['json']

describe('POST /api/url/:id/rehearse', () => {
  let app: TestApp
  let key: string
  let link = 0
  let alias = ''
  before(async () => {
    app = await startTestApp()
    ;({ key } = await app.register())
    const body = {
      url: 'https://example.com/',
      devicetarget: [{ device: 'iphone', link: 'https://example.com/app' }],
      languagetarget: [{ language: 'fr', link: 'https://example.com/fr' }],
    }
    const { json } = await app.post('/api/url/add', { key, body })
    link = json['id'] as number
    alias = new URL(json['shorturl'] as string).pathname
  })
  after(() => app.close())

  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Safari/604.1'
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'
  const visit = (agent: string, language: string) =>
    app.get(alias, { headers: { 'User-Agent': agent, 'Accept-Language': language } })
  const rehearse = async (body: object = {}, id = link) => app.post(`/api/url/${id}/rehearse`, { key, body })
  const found = async (body: object = {}) => (await rehearse(body)).json['data'] as Json
  const recorded = (visits: number) =>
    until(
      () => found(),
      (data) => data['total'].visits === visits,
    )

  it('sends each click where it was sent, by the rules of its time', async () => {
    await visit(iphone, 'fr')
    await visit(firefox, 'de, nl, it, es, en, fr')
    await visit(firefox, 'de')
    await visit('Googlebot/2.1', '')
    await recorded(4)
    const changes = {
      url: 'https://example.com/new',
      languagetarget: [{ language: 'de', link: 'https://example.com/de' }],
    }
    expect((await app.put(`/api/url/${link}/update`, { key, body: changes })).status).to.equal(200)
    await visit(firefox, 'de')
    const data = await recorded(5)
    const none = { clicks: 0, visits: 0 }
    expect(data).to.deep.include({
      draft: false,
      total: { clicks: 4, visits: 5 },
      reproduced: { clicks: 4, visits: 5 },
      not_decidable: { ...none, reasons: {} },
      moves: [],
    })
    const one = { clicks: 1, visits: 1 }
    expect(data['destinations']).to.have.deep.members([
      { destination: 'https://example.com/app', rule: 'device:iphone', recorded: one, rehearsed: one },
      { destination: 'https://example.com/fr', rule: 'language:fr', recorded: one, rehearsed: one },
      {
        destination: 'https://example.com/',
        rule: 'link',
        recorded: { clicks: 1, visits: 2 },
        rehearsed: { clicks: 1, visits: 2 },
      },
      { destination: 'https://example.com/de', rule: 'language:de', recorded: one, rehearsed: one },
    ])
  })

  it('takes days and times by the clocks of a zone', async () => {
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const [from, to] = [at(-2), at(3)]
    const data = await found({ from, to, tz: 'Asia/Kolkata' })
    expect([data['from'], data['to']]).to.deep.equal([`${at(-3)} 18:30:00`, `${to} 18:30:00`])
    expect(await found({ from: `${from}T00:00+05:30`, to: `${to} 18:30`, tz: 'UTC' })).to.deep.equal(data)
    const { status, json } = await rehearse({ tz: 'Asia/Nowhere' })
    expect([status, json['field']]).to.deep.equal([400, 'tz'])
  })

  it('reports where clicks would go under a draft, and undecidable ones', async () => {
    const nl = [{ language: 'nl', link: 'https://example.com/nl' }]
    const data = await found({ draft: { devicetarget: [], languagetarget: nl } })
    expect(data['moves']).to.deep.include({
      from: { destination: 'https://example.com/fr', rule: 'language:fr' },
      to: { destination: 'https://example.com/nl', rule: 'language:nl' },
      clicks: 1,
      visits: 1,
    })
    expect(data['total']).to.deep.equal({ clicks: 4, visits: 5 })
    const firefoxes = [{ browser: 'firefox', link: 'https://example.com/firefox' }]
    const byBrowser = await found({ draft: { devicetarget: [], browsertarget: firefoxes } })
    expect(byBrowser['not_decidable'].visits).to.equal(0)
    expect(
      (byBrowser['destinations'] as Json[]).find(({ rule }) => rule === 'browser:firefox')?.['rehearsed'],
    ).to.deep.equal({
      clicks: 3,
      visits: 3,
    })
    // the sixth language is in the click only because it decided
    const fr = [{ language: 'fr', link: 'https://example.com/fr' }]
    const { not_decidable } = await found({ draft: { devicetarget: [], languagetarget: fr } })
    expect(not_decidable).to.deep.equal({
      clicks: 1,
      visits: 1,
      reasons: { languages: { clicks: 1, visits: 1 } },
    })
    const ended = await found({ draft: { max_clicks: 1, expired_url: 'https://example.com/over' } })
    const rules = (ended['destinations'] as Json[]).flatMap(({ rule, rehearsed }) =>
      rehearsed.clicks > 0 ? [[rule, rehearsed.clicks]] : [],
    )
    expect(rules).to.have.deep.members([
      ['device:iphone', 1],
      ['expired_url', 3],
    ])
    const before = await found({ draft: { starts: '2100-01-01' } })
    expect((before['destinations'] as Json[]).find(({ rule }) => rule === 'not-started')?.['rehearsed']).to.deep.equal({
      clicks: 4,
      visits: 5,
    })
    // nothing has changed
    expect(((await app.get(`/api/url/${link}`, { key })).json['details'] as Json)['revision']).to.equal(1)
  })

  it('ends once its key has ended', async () => {
    const body = { name: 'short', scopes: ['stats:read'] }
    const { key: short, id } = (await app.post('/api/key/add', { key, body })).json
    const store = app.app.ledger.store as { read: EventStore['read'] }
    const { read } = store
    let [isReading, goOn] = [false, () => {}]
    const ended = new Promise<void>((resolve) => (goOn = resolve))
    store.read = async function* (...asked) {
      if (asked[0] === `link-${link}`) {
        isReading = true
        await ended
      }
      yield* read.apply(store, asked)
    }
    try {
      const answer = app.post(`/api/url/${link}/rehearse`, { key: String(short), body: {} })
      await until(async () => isReading, Boolean)
      await app.del(`/api/key/${String(id)}/delete`, { key })
      goOn()
      expect((await answer).status).to.equal(401)
    } finally {
      store.read = read
    }
  })

  it('refuses an invalid draft, another account, and a second rehearsal at the same time', async () => {
    const stranger = (await app.register()).key
    expect((await app.post(`/api/url/${link}/rehearse`, { key: stranger, body: {} })).status).to.equal(404)
    for (const [body, field] of [
      [
        { draft: { devicetarget: [{ device: 'toaster', link: 'https://example.com' }] } },
        'draft.devicetarget.0.device',
      ],
      [
        { draft: { browsertarget: [{ browser: 'Netscape', link: 'https://example.com' }] } },
        'draft.browsertarget.0.browser',
      ],
      [{ draft: { url: `${app.app.baseUrl}/x` } }, 'url'],
      [{ draft: null }, '`draft` must be a JSON object'],
      [{ draft: [] }, '`draft` must be a JSON object'],
      [{ from: '2026-01-02', to: '2026-01-01' }, 'from'],
      [{ tz: 'Mars/Olympus' }, 'tz'],
      [{ tz: ['Europe/Berlin'] }, 'tz'],
      [{ tz: 'Europe/Berlin', from: 5 }, 'from'],
    ] as const) {
      const { status, json } = await rehearse(body)
      expect([status, json['message']].join(' ')).to.match(new RegExp(`^400 .*${field}`))
    }
    const both = await Promise.all([rehearse(), rehearse(), rehearse()])
    expect(both.map(({ status }) => status)).to.include(200)
    for (const { status } of both) expect(status).to.be.oneOf([200, 409])
    expect((await rehearse()).status).to.equal(200)
  })
})
