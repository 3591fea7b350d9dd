import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { until } from '../../support/client.ts'
import { linkClient } from '../../support/clients/link.ts'
import { rounds } from '../../support/faults.ts'

const long = 'https://example.com/a?b=c#d'
const entries = (count: number, make: (i: number) => object) => Array.from({ length: count }, (_, i) => make(i))
const codes =
  'AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CL CM CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC'.split(
    ' ',
  )
const location = (i: number) => ({ location: codes[i], link: long })

describe('the link API', () => {
  let app: TestApp
  let key: string

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const { add, update, details, leadsTo, free } = linkClient(
    () => app,
    () => key,
  )

  it('creates, redirects, counts and returns a link', async () => {
    const made = await app.post('/api/url/add', { key, body: { url: long, custom: 'Hello' } })
    expect(made.json).to.include({ error: 0, shorturl: `${app.app.baseUrl}/Hello` })
    expect(await leadsTo('hello')).to.equal(long)
    const read = await until(
      () => app.get(`/api/url/${made.json['id']}`, { key }),
      ({ json }) => json['data'].clicks === 1,
    )
    expect(read.json['data']).to.include({ clicks: 1, uniqueClicks: 1 })
    expect(read.json['data'].topBrowsers).to.deep.equal({ Chrome: '1' })
  })

  describe('POST /api/url/add', () => {
    it('returns the id and the short address as `shorturl` and `short`', async () => {
      const { status, json } = await app.post('/api/url/add', { key, body: { url: long } })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'id', 'shorturl', 'short', 'revision')
      expect(json['error']).to.equal(0)
      expect(json['id']).to.be.a('number')
      expect(json['shorturl']).to.equal(json['short'])
    })

    it('draws an alias of eight unambiguous symbols when none is requested', async () => {
      const addresses = await Promise.all([add(), add({ custom: '' }), add({ custom: null })])
      const aliases = addresses.map(({ short }) => short.replace(`${app.app.baseUrl}/`, ''))
      for (const alias of aliases) expect(alias).to.match(/^[a-km-np-z2-9]{8}$/)
      expect(new Set(aliases).size).to.equal(3)
    })

    it('creates a new link each time, also for the same URL', async () => {
      const [one, two] = [await add(), await add()]
      expect(two.id).to.be.greaterThan(one.id)
      expect(two.short).not.to.equal(one.short)
    })

    it('keeps the URL as it was sent, adds a missing scheme, and redirects to it as a browser writes it', async () => {
      for (const [sent, shown, target] of [
        ['example.com', 'https://example.com', 'https://example.com/'],
        [
          'HTTP://EXAMPLE.com/Straße?q=ü#é',
          'HTTP://EXAMPLE.com/Straße?q=ü#é',
          'http://example.com/Stra%C3%9Fe?q=%C3%BC#%C3%A9',
        ],
        ['https://bücher.example/', 'https://bücher.example/', 'https://xn--bcher-kva.example/'],
        ['https://example.com:443/a/../b', 'https://example.com:443/a/../b', 'https://example.com/b'],
        [long, long, long],
      ] as const) {
        const alias = free()
        const { id } = await add({ url: sent, custom: alias })
        expect(await details(id)).to.include({ longurl: shown })
        expect((await app.get('/api/urls?limit=1', { key })).json['data'].urls[0]).to.include({ id, longurl: shown })
        expect(await leadsTo(alias)).to.equal(target)
      }
    })

    it('finds a link by its URL as sent and as a browser writes it', async () => {
      const { id } = await add({ url: 'https://Find.example.com?who=José' })
      const made = await add({ url: 'https://find.example.net/?who=Jos%C3%A9' })
      const found = async (q: string) =>
        (await app.get(`/api/urls?q=${encodeURIComponent(q)}`, { key })).json['data'].urls.map(
          (row: { id: number }) => row.id,
        )
      for (const q of ['https://Find.example.com?who=José', 'https://find.example.com/?who=Jos%C3%A9', 'who=José'])
        expect(await found(q), q).to.deep.equal([id])
      expect(await found('https://FIND.example.net?who=José')).to.deep.equal([made.id])
    })

    it('stores and returns every field', async () => {
      const { id, short } = await add({
        custom: 'Every-Field_1',
        type: 'frame',
        password: 'open sesame',
        domain: app.app.baseUrl,
        expiry: '2090-01-31 18:00:00',
        geotarget: [
          { location: 'Canada', link: 'https://example.com/ca' },
          { location: 'US', link: 'example.com/us' },
        ],
        devicetarget: [{ device: 'iPhone', link: 'https://example.com/ios' }],
        browsertarget: [{ browser: 'Samsung Internet', link: 'https://example.com/samsung' }],
        languagetarget: [{ language: 'PT', link: 'https://example.com/pt' }],
        title: 'A title',
        description: 'What it is',
        metatitle: 'Meta title',
        metadescription: 'Meta description',
        metaimage: 'https://example.com/i.png',
        parameters: [
          { name: 'utm_source', value: 'shop' },
          { name: 'n', value: 5 },
          { value: 'without a name' },
          { name: 'empty' },
        ],
        pixels: [],
        campaign: '',
        channel: null,
        tags: ['shop', 'Print'],
        notes: 'Ask Ann',
        archived: true,
        starts: '2020-05-01',
        expired_url: 'example.com/over',
        max_clicks: '1000',
        forward: true,
        variants: [{ url: 'https://example.com/a' }, { url: 'https://example.com/b', weight: 3 }],
      })
      const { status, json } = await app.get(`/api/url/${id}`, { key })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'details', 'data')
      expect(json['error']).to.equal(0)
      const { date, addresses, ...rest } = json['details']
      expect(addresses).to.have.length(1)
      expect(date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      expect(Math.abs(Date.parse(`${date.replace(' ', 'T')}Z`) - Date.now())).to.be.below(60_000)
      expect(rest).to.deep.equal({
        id,
        shorturl: short,
        longurl: long,
        title: 'A title',
        description: 'What it is',
        location: { canada: 'https://example.com/ca', us: 'https://example.com/us' },
        device: { iphone: 'https://example.com/ios' },
        browser: { 'samsung internet': 'https://example.com/samsung' },
        expiry: '2090-01-31 18:00:00',
        alias: 'Every-Field_1',
        type: 'frame',
        domain: app.app.baseUrl,
        language: { pt: 'https://example.com/pt' },
        parameters: [
          { name: 'utm_source', value: 'shop' },
          { name: 'n', value: '5' },
          { name: 'empty', value: '' },
        ],
        tags: ['shop', 'print'],
        notes: 'Ask Ann',
        archived: true,
        status: 'protected',
        starts: '2020-05-01 00:00:00',
        expired_url: 'https://example.com/over',
        max_clicks: 1000,
        forward: true,
        variants: [
          { id: 1, url: 'https://example.com/a', weight: 1 },
          { id: 2, url: 'https://example.com/b', weight: 3 },
        ],
        metatitle: 'Meta title',
        metadescription: 'Meta description',
        metaimage: 'https://example.com/i.png',
        campaign: null,
        channels: [],
        pixels: [],
        password: true,
        unframed: [],
        revision: 0,
      })
    })

    it('returns empty strings, empty objects and null for fields that were never set', async () => {
      const { id } = await add()
      const { json } = await app.get(`/api/url/${id}`, { key })
      expect(json['details']).to.deep.include({
        title: '',
        description: '',
        metatitle: '',
        metadescription: '',
        metaimage: '',
        location: {},
        device: {},
        browser: {},
        language: {},
        parameters: [],
        pixels: [],
        expiry: null,
        campaign: null,
        type: 'direct',
        password: false,
      })
      expect(json['data']).to.deep.equal({
        clicks: 0,
        uniqueClicks: 0,
        topCountries: 0,
        topReferrers: 0,
        topBrowsers: 0,
        topOs: 0,
        socialCount: { facebook: 0, twitter: 0, google: 0 },
      })
    })

    it('falls back to the meta fields for title and description', async () => {
      const { id } = await add({ metatitle: 'Meta', metadescription: 'Described' })
      expect(await details(id)).to.include({ title: 'Meta', description: 'Described' })
      const both = await add({ title: 'Own', metatitle: 'Meta' })
      expect(await details(both.id)).to.include({ title: 'Own', metatitle: 'Meta' })
    })

    it('uses the first of two targets that mean the same, by any name of it', async () => {
      const first = 'https://example.com/first'
      const { id } = await add({
        geotarget: [
          { location: 'Canada', link: first },
          { location: 'canada', link: long },
          { location: 'CA', link: long },
        ],
        devicetarget: [
          { device: 'iphone', link: first },
          { device: 'iPhone', link: long },
          { device: 'Mac', link: first },
          { device: 'macOS', link: long },
        ],
        browsertarget: [
          { browser: 'safari', link: first },
          { browser: 'Safari', link: long },
        ],
        languagetarget: [
          { language: 'pt', link: first },
          { language: 'PT', link: long },
          { language: 'zh-TW', link: first },
          { language: 'zh_tw', link: long },
          { language: 'zh-CN', link: long },
        ],
      })
      expect(await details(id)).to.deep.include({
        location: { canada: first },
        device: { iphone: first, mac: first },
        browser: { safari: first },
        language: { pt: first, 'zh-tw': first, 'zh-cn': long },
      })
    })

    it('accepts an expiry in the usual forms and shows it in UTC', async () => {
      for (const [sent, shown] of [
        ['2090-02-28 12:30', '2090-02-28 12:30:00'],
        ['2090-02-28T12:30:15', '2090-02-28 12:30:15'],
        ['2090-02-28T12:30:15.999Z', '2090-02-28 12:30:15'],
        ['2090-02-28T23:30+02:00', '2090-02-28 21:30:00'],
        ['2090-02-28 23:30:00-0130', '2090-03-01 01:00:00'],
      ]) {
        const { id } = await add({ expiry: sent })
        expect((await details(id)).expiry, sent).to.equal(shown)
      }
    })

    it('accepts an expiry as date and time, or as a day that counts to its end', async () => {
      const { id } = await add({ expiry: '2090-02-28' })
      expect(await details(id)).to.include({ expiry: '2090-02-28 23:59:59' })
    })

    it("accepts the service's own domain with or without scheme, or empty", async () => {
      const { host } = new URL(app.app.baseUrl)
      for (const domain of [`http://${host}`, `https://${host}/`, host, '', null])
        expect((await add({ domain })).short).to.match(new RegExp(`^${app.app.baseUrl}/`))
    })

    it('accepts fields at their limits', async () => {
      const { id } = await add({
        custom: 'x'.repeat(64),
        password: 'p'.repeat(1024),
        title: 't'.repeat(255),
        description: 'd'.repeat(2000),
        geotarget: entries(300, (i) => location(i % 50)),
        languagetarget: entries(300, () => ({ language: 'fr', link: 'https://a.example/' })),
        parameters: entries(20, (i) => ({ name: `${i}`.padEnd(256, 'n'), value: 'v'.repeat(256) })),
      })
      const { location: kept, parameters } = await details(id)
      expect([Object.keys(kept).length, parameters.length]).to.deep.equal([50, 20])
    })

    it('ignores unknown fields', async () => {
      const { id } = await add({ clicks: 99, id: 1, owner: 1, whatever: { deep: [1] } })
      expect(await details(id)).not.to.have.any.keys('whatever', 'owner', 'clicks')
    })
  })

  describe('DELETE /api/url/:id/delete', () => {
    it('returns a message, removes the link everywhere, and returns 404 the second time', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const { status, json } = await app.del(`/api/url/${id}/delete`, { key })
      expect([status, json]).to.deep.equal([
        200,
        { error: 0, message: 'Link has been deleted.', undo: { method: 'POST', path: `/api/url/${id}/restore` } },
      ])
      expect(await leadsTo(alias)).to.equal(404)
      expect((await app.get(`/api/url/${id}`, { key })).status).to.equal(404)
      expect((await update(id, {})).status).to.equal(404)
      expect((await app.del(`/api/url/${id}/delete`, { key })).status).to.equal(404)
      const { json: list } = await app.get('/api/urls?limit=1000', { key })
      expect(list['data'].urls.map((row: { id: number }) => row.id)).not.to.include(id)
    })
  })

  describe('reading a link right after writing it', () => {
    it('never returns a missing or stale link', async () => {
      const mine = (await app.register()).key
      for (const i of rounds(15, 100)) {
        const { id, short } = await add({ title: `made ${i}` }, mine)
        const path = new URL(short).pathname
        const [byId, list, visit] = await Promise.all([
          app.get(`/api/url/${id}`, { key: mine }),
          app.get('/api/urls', { key: mine }),
          app.visit(path),
        ])
        expect(byId.json['details'].title).to.equal(`made ${i}`)
        expect(list.json['data'].urls[0]).to.include({ id, title: `made ${i}` })
        expect(list.json['data'].result).to.equal(i + 1)
        expect(visit.status).to.equal(302)
        await update(id, { title: `changed ${i}` }, mine)
        expect((await app.get(`/api/url/${id}`, { key: mine })).json['details'].title).to.equal(`changed ${i}`)
      }
    })
  })
})
