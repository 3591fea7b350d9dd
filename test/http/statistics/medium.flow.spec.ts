import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { type Answer, until } from '../../support/client.ts'
import { click, clicked, fresh } from '../../support/events.ts'

const agents = {
  chrome: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  bot: 'Googlebot/2.1 (+http://www.google.com/bot.html)',
}
type Json = Answer['json']

describe('how visitors came', () => {
  let app: TestApp
  let key: string
  let id = 0
  let moment = ''
  const ask = async (path: string, headers = {}) => app.get(path, { key, headers })
  const stats = async (query: string) => (await ask(`/api/stats?link=${id}&by=medium&${query}`)).json['data'] as Json
  const rows = async (query = '') => (await stats(query))['by'].medium as { value: string; count: number }[]
  const counts = async (query = '') => Object.fromEntries((await rows(query)).map(({ value, count }) => [value, count]))

  before(async () => {
    app = await startTestApp()
    const registered = await app.register()
    key = registered.key
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    id = Number(made.json['id'])
    // as a release without the field has recorded it
    const old = click({ link: id, account: registered.id, at: new Date().toISOString(), source: { kind: 'link', id } })
    const batch = clicked(old)
    await app.app.ledger.store.append([
      {
        stream: `clicks-test-${randomUUID()}`,
        expected: 'no_stream',
        events: [fresh({ ...batch, data: { ...batch.data, agents: ['Mozilla X Linux x AppleWebKit Chrome Safari'] } })],
      },
    ])
    await until(counts, (found) => found['none'] === 1)
    moment = String((await ask('/api/stats')).headers.get('linkledger-at'))
    const { pathname } = new URL(String(made.json['short']))
    const visit = (referrer: string, query = '', agent: string = agents.chrome) =>
      app.get(`${pathname}${query}`, { headers: { 'User-Agent': agent, ...(referrer && { Referer: referrer }) } })
    for (const [referrer, query, agent] of [
      ['', ''],
      ['', '?utm_medium=email'],
      ['https://chatgpt.com/', '', agents.firefox],
      ['https://www.google.com/', ''],
      ['https://www.google.com/', '?gclid=Cj0KCQiA'],
      ['https://l.facebook.com/', '?fbclid=IwAR'],
      ['https://example.org/', ''],
      ['android-app://com.google.android.gm/', '', agents.bot],
    ] as const)
      await visit(referrer, query, agent)
    await until(
      () => stats(''),
      ({ total }) => total.visits === 9,
    )
  })
  after(() => app.close())

  const all = { none: 1, direct: 1, mail: 1, ai: 1, search: 1, ads: 1, social: 1, other: 1 }

  it('are counted by seven media, and clicks of older releases by none', async () => {
    expect(await counts()).to.deep.equal(all)
    expect(await counts('tz=Asia/Kathmandu&interval=hour')).to.deep.equal(all)
    expect(await counts('class=bot')).to.deep.equal({ mail: 1 })
    expect(await counts('medium=ai,ads')).to.deep.equal({ ai: 1, ads: 1 })
    expect((await rows()).find(({ value }) => value === 'none')).to.include({ name: 'Unknown' })
    const of = async (path: string) => (await ask(`${path}/stats?by=medium`)).json['data'].by.medium as object
    const named = { ...all, Unknown: 1, none: undefined }
    for (const path of [`/api/url/${id}`, '/api/account'])
      expect({ none: undefined, ...(await of(path)) }).to.deep.equal(named)
  })

  it('are known as they were at an earlier moment', async () => {
    expect(await counts(`at=${encodeURIComponent(moment)}`)).to.deep.equal({ none: 1 })
  })

  it('are a filter of the visits behind the numbers, which say it in each form', async () => {
    for (const { value, count } of await rows()) {
      const { visits } = (await ask(`/api/visits?link=${id}&class=human&medium=${value}`)).json['data'] as Json
      expect(visits, value).to.have.length(count)
      expect(visits[0].medium).to.equal(value === 'none' ? '' : value)
    }
    const wrong = await ask('/api/visits?medium=email')
    expect([wrong.status, wrong.json['message']]).to.deep.equal([
      400,
      '`medium` must be one or more of none, direct, search, social, mail, ai, ads, other, separated by commas.',
    ])
    const path = `/api/visits?link=${id}&medium=ai&fields=referrer,medium`
    expect((await ask(path, { Accept: 'text/csv' })).text).to.equal('referrer,medium\r\nchatgpt.com,ai\r\n')
    expect(JSON.parse((await ask(path, { Accept: 'application/x-ndjson' })).text)).to.deep.equal({
      ...{ referrer: 'chatgpt.com', medium: 'ai' },
    })
  })

  it('are in the stream of clicks, in each form', async () => {
    const lines = (await ask(`/api/clicks?link=${id}`, { Accept: 'application/x-ndjson' })).text.trim().split('\n')
    const shown = lines.map((line) => JSON.parse(line) as Json)
    expect(shown.map(({ medium }) => medium as unknown)).to.have.members([
      ...[undefined, 'direct', 'mail', 'ai', 'search', 'ads', 'social', 'other', 'mail'],
    ])
    const csv = (await ask(`/api/clicks?link=${id}`, { Accept: 'text/csv' })).text.trim().split('\r\n')
    expect(csv[0]).to.match(/,medium$/)
    expect(csv.filter((line) => line.endsWith(',ai'))).to.have.length(1)
  })

  it('keep nothing of the query by which they are known', async () => {
    const { rows } = await app.app.ledger.db.raw<{ rows: { data: string }[] }>(
      `select data::text as data from log.events where type = 'LinkClicked'`,
    )
    const stored = rows.map(({ data }) => data).join()
    expect(stored).to.match(/"medium": ?"ads"/)
    expect(stored).not.to.match(/Cj0KCQiA|fbclid|IwAR|utm_medium/)
  })

  it('stay as they were recorded when visits are classified again', async () => {
    await app.put('/api/account/exclusions', { key, body: { agents: ['firefox'] } })
    expect((await app.post('/api/account/reclassify', { key, body: {} })).json['visits']).to.equal(1)
    const { ai: _, ...others } = all
    await until(counts, (found) => found['ai'] === undefined)
    expect(await counts()).to.deep.equal(others)
    expect(await counts('class=excluded')).to.deep.equal({ ai: 1 })
    expect(await counts('classes=then')).to.deep.equal(all)
    expect((await ask(`/api/account/stats?by=medium`)).json['data'].by.medium).not.to.have.property('ai')
  })
})
