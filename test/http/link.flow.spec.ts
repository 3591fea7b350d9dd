import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { inSeconds, secondsLater } from '../support/clock.ts'

const long = 'https://example.com/a?b=c#d'
const entries = (count: number, make: (i: number) => object) => Array.from({ length: count }, (_, i) => make(i))
const location = (i: number) => ({ location: `place ${i}`, link: long })

describe('short links over HTTP', () => {
  let app: TestApp
  let key: string
  const add = async (body: object = {}, by = key) => {
    const { json, status } = await app.post('/api/url/add', { key: by, body: { url: long, ...body } })
    expect(status, JSON.stringify(json)).to.equal(200)
    return json as { id: number; shorturl: string; short: string }
  }
  const update = (id: number, body: object, by = key) =>
    app.put(`/api/url/${id}/update`, { key: by, body: { url: long, ...body } })
  const details = async (id: number) => (await app.get(`/api/url/${id}`, { key })).json['details']
  const head = () => app.app.ledger.store.head('domain')
  const leadsTo = async (alias: string) => {
    const { status, headers } = await app.visit(`/${alias}`)
    return status === 302 ? headers.get('Location') : status
  }
  const free = (() => {
    let n = 0
    return () => `alias-${++n}`
  })()

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())

  it('are created, followed, counted and read back', async () => {
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

  describe('adding one', () => {
    it('answers its id and its short address, under both names', async () => {
      const { status, json } = await app.post('/api/url/add', { key, body: { url: long } })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'id', 'shorturl', 'short')
      expect(json['error']).to.equal(0)
      expect(json['id']).to.be.a('number')
      expect(json['shorturl']).to.equal(json['short'])
    })

    it('draws an alias of eight unmistakable symbols when none is wished', async () => {
      const addresses = await Promise.all([add(), add({ custom: '' }), add({ custom: null })])
      const aliases = addresses.map(({ short }) => short.replace(`${app.app.baseUrl}/`, ''))
      for (const alias of aliases) expect(alias).to.match(/^[a-km-np-z2-9]{8}$/)
      expect(new Set(aliases).size).to.equal(3)
    })

    it('always makes a new link, of the same address too', async () => {
      const [one, two] = [await add(), await add()]
      expect(two.id).to.be.greaterThan(one.id)
      expect(two.short).not.to.equal(one.short)
    })

    it('completes an address without scheme, and stores it as browsers write it', async () => {
      for (const [sent, stored] of [
        ['example.com', 'https://example.com/'],
        ['HTTP://EXAMPLE.com/Straße?q=ü#é', 'http://example.com/Stra%C3%9Fe?q=%C3%BC#%C3%A9'],
        ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
      ]) {
        const { id } = await add({ url: sent })
        expect(await details(id)).to.include({ longurl: stored })
      }
    })

    it('keeps every field and gives it back', async () => {
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
      })
      const { status, json } = await app.get(`/api/url/${id}`, { key })
      expect(status).to.equal(200)
      expect(json).to.have.all.keys('error', 'details', 'data')
      expect(json['error']).to.equal(0)
      const { date, ...rest } = json['details']
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
        metatitle: 'Meta title',
        metadescription: 'Meta description',
        metaimage: 'https://example.com/i.png',
        campaign: null,
        pixels: [],
        password: true,
      })
    })

    it('gives empty texts, empty objects and null for what was never set', async () => {
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

    it('takes title and description from the meta fields when they are not given themselves', async () => {
      const { id } = await add({ metatitle: 'Meta', metadescription: 'Described' })
      expect(await details(id)).to.include({ title: 'Meta', description: 'Described' })
      const both = await add({ title: 'Own', metatitle: 'Meta' })
      expect(await details(both.id)).to.include({ title: 'Own', metatitle: 'Meta' })
    })

    it('lets the first of two targets with one name count, whatever their case', async () => {
      const first = 'https://example.com/first'
      const { id } = await add({
        geotarget: [
          { location: 'Canada', link: first },
          { location: 'canada', link: long },
        ],
        devicetarget: [
          { device: 'iphone', link: first },
          { device: 'iPhone', link: long },
        ],
        languagetarget: [
          { language: 'pt', link: first },
          { language: 'PT', link: long },
        ],
      })
      expect(await details(id)).to.deep.include({
        location: { canada: first },
        device: { iphone: first },
        language: { pt: first },
      })
    })

    it('takes an expiry to the second, or a day to its end', async () => {
      const { id } = await add({ expiry: '2090-02-28' })
      expect(await details(id)).to.include({ expiry: '2090-02-28 23:59:59' })
    })

    it('takes its own domain with or without scheme, and as nothing', async () => {
      const { host } = new URL(app.app.baseUrl)
      for (const domain of [`http://${host}`, `https://${host}/`, host, '', null])
        expect((await add({ domain })).short).to.match(new RegExp(`^${app.app.baseUrl}/`))
    })

    it('takes as much as is allowed', async () => {
      const { id } = await add({
        custom: 'x'.repeat(64),
        password: 'p'.repeat(1024),
        title: 't'.repeat(255),
        description: 'd'.repeat(2000),
        geotarget: entries(50, location),
        parameters: entries(20, (i) => ({ name: `${i}`.padEnd(256, 'n'), value: 'v'.repeat(256) })),
      })
      const { location: kept, parameters } = await details(id)
      expect([Object.keys(kept).length, parameters.length]).to.deep.equal([50, 20])
    })

    it('ignores fields that it does not know', async () => {
      const { id } = await add({ clicks: 99, id: 1, owner: 1, whatever: { deep: [1] } })
      expect(await details(id)).not.to.have.any.keys('whatever', 'owner', 'clicks')
    })
  })

  describe('a wrong field', () => {
    const target = (field: string, name: string) =>
      [
        [field, 'Canada', `\`${field}\` must be an array of objects`],
        [field, { [name]: 'x', link: long }, `\`${field}\` must be an array of objects`],
        [field, ['x'], `\`${field}.0`],
        [field, [{ [name]: 'x' }], `\`${field}.0.link\` is required`],
        [field, [{ link: long }], `\`${field}.0.${name}\` is required`],
        [field, [{ [name]: 5, link: long }], `\`${field}.0.${name}\` must be a string`],
        [field, [{ [name]: 'x'.repeat(65), link: long }], `\`${field}.0.${name}\` must be at most 64`],
        [field, [{ [name]: 'x', link: 'ftp://example.com/' }], `\`${field}.0.link\` must be a web address`],
        [field, entries(51, (i) => ({ [name]: `${i}`, link: long })), `\`${field}\` must have at most 50`],
      ] as const
    const wrong = [
      ['url', undefined, '`url` is required'],
      ['url', null, '`url` must be a string'],
      ['url', 5, '`url` must be a string'],
      ['url', '', '`url` must not be empty'],
      ['url', 'javascript:alert(1)', '`url` must be a web address'],
      ['url', `https://example.com/${'a'.repeat(2048)}`, '`url` must be at most 2,048'],
      ['url', 'https://user:word@example.com/', '`url` must not contain a user name'],
      ['custom', 5, '`custom` must be a string'],
      ['custom', 'a b', '`custom` must be 1 to 64 letters'],
      ['custom', '-a', '`custom` must be 1 to 64 letters'],
      ['custom', 'x'.repeat(65), '`custom` must be 1 to 64 letters'],
      ['custom', 'Api', '`custom` must not be a reserved word'],
      ['type', {}, '`type` '],
      ['type', 'iframe', '`type` must be direct, frame or splash'],
      ['type', '999999', '`type` '],
      ['type', 'splash-999999', '`type` '],
      ['type', 'overlay-999999', '`type` '],
      ['password', 5, '`password` must be a string'],
      ['password', 'p'.repeat(1025), '`password` must be at most 1,024'],
      ['domain', 5, '`domain` must be a string'],
      ['domain', 'https://other.example', '`domain` '],
      ['domain', '999999', '`domain` '],
      ['expiry', 5, '`expiry` must be a date and time in UTC'],
      ['expiry', 'tomorrow', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-02-30', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-01-01 24:00:00', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-01-01T00:00:00Z', '`expiry` must be a date and time in UTC'],
      ['expiry', '2020-01-01 00:00:00', '`expiry` must be a future date'],
      ['title', 5, '`title` must be a string'],
      ['title', 't'.repeat(256), '`title` must be at most 255'],
      ['description', 'd'.repeat(2001), '`description` must be at most 2,000'],
      ['metatitle', true, '`metatitle` must be a string'],
      ['metatitle', 't'.repeat(256), '`metatitle` must be at most 255'],
      ['metadescription', [], '`metadescription` must be a string'],
      ['metadescription', 'd'.repeat(2001), '`metadescription` must be at most 2,000'],
      ['metaimage', 5, '`metaimage` must be a string'],
      ['metaimage', '/i.png', '`metaimage` must be a web address'],
      ['parameters', 'a=b', '`parameters` must be an array of objects'],
      ['parameters', ['a=b'], 'parameters.0'],
      ['parameters', [{ name: 5, value: 'x' }], '`parameters.0.name` must be a string'],
      ['parameters', [{ name: 'x', value: {} }], 'parameters.0.value'],
      ['parameters', [{ name: 'n'.repeat(257), value: 'x' }], '`parameters.0.name` must be at most 256'],
      ['parameters', [{ name: 'x', value: 'v'.repeat(257) }], '`parameters.0.value` must be at most 256'],
      ['parameters', entries(21, (i) => ({ name: `${i}`, value: '' })), '`parameters` must have at most 20'],
      // nobody has these yet: a resource that is not one's own is refused by its name
      ['pixels', [999999], 'pixels'],
      ['pixels', 'x', 'pixels'],
      ['campaign', 999999, '`campaign` '],
      ['channel', '999999', '`channel` '],
      ...target('geotarget', 'location'),
      ...target('devicetarget', 'device'),
      ...target('languagetarget', 'language'),
    ] as const

    it('is refused by its name, on create and on update, and nothing happens', async () => {
      const alias = free()
      const { id } = await add({ custom: alias, title: 'As it was' })
      const [before, written] = [await details(id), await head()]
      for (const [field, value, message] of wrong) {
        const body = { url: long, custom: free(), [field]: value }
        for (const { status, json, text } of [
          await app.post('/api/url/add', { key, body }),
          await app.put(`/api/url/${id}/update`, { key, body }),
        ]) {
          expect(status, `${field} ${text}`).to.equal(400)
          expect(json, field).to.have.all.keys('error', 'message')
          expect(json['error']).to.equal(1)
          expect(json['message'], field).to.include(message)
        }
      }
      expect(await details(id)).to.deep.equal(before)
      expect(await head()).to.equal(written)
    })

    it('says what would be right in one sentence', async () => {
      for (const [field, value] of wrong) {
        const { json } = await app.post('/api/url/add', { key, body: { url: long, [field]: value } })
        expect(json['message'], field).to.match(/^`[a-z]+(\.\d+)?(\.[a-z]+)?` .{10,150}\.$/)
      }
    })
  })

  describe('updating one', () => {
    it('answers its id and its short address, under both names', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const { status, json } = await update(id, { title: 'New' })
      const address = `${app.app.baseUrl}/${alias}`
      expect([status, json]).to.deep.equal([200, { error: 0, id, short: address, shorturl: address }])
    })

    const full = {
      type: 'splash',
      expiry: '2090-01-31 18:00:00',
      geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }],
      devicetarget: [{ device: 'ios', link: 'https://example.com/ios' }],
      languagetarget: [{ language: 'pt', link: 'https://example.com/pt' }],
      title: 'Title',
      description: 'Description',
      metatitle: 'Meta title',
      metadescription: 'Meta description',
      metaimage: 'https://example.com/i.png',
      parameters: [{ name: 'a', value: 'b' }],
      password: 'open sesame',
    }
    /** where details show a body field, and what it shows once the field is cleared */
    const cleared = {
      type: ['type', 'direct'],
      expiry: ['expiry', null],
      geotarget: ['location', {}],
      devicetarget: ['device', {}],
      languagetarget: ['language', {}],
      title: ['title', 'Meta title'],
      description: ['description', 'Meta description'],
      metatitle: ['metatitle', ''],
      metadescription: ['metadescription', ''],
      metaimage: ['metaimage', ''],
      parameters: ['parameters', []],
      password: ['password', false],
    } as const satisfies Record<keyof typeof full, readonly [string, unknown]>

    it('changes only the fields that are sent', async () => {
      const { id } = await add({ custom: free(), ...full })
      const before = await details(id)
      await update(id, { description: 'Another' })
      expect(await details(id)).to.deep.equal({ ...before, description: 'Another' })
      await update(id, { url: 'https://example.org/' })
      expect(await details(id)).to.deep.equal({ ...before, description: 'Another', longurl: 'https://example.org/' })
    })

    it('takes each field by itself', async () => {
      const { id } = await add({ custom: free() })
      const bare = await details(id)
      const made = await add({ custom: free(), ...full })
      const wished = await details(made.id)
      for (const [field, value] of Object.entries(full)) {
        await update(id, { [field]: value })
        const [shown] = cleared[field as keyof typeof full]
        expect((await details(id))[shown], field).to.deep.equal(wished[shown])
      }
      expect(await details(id)).to.deep.equal({
        ...wished,
        id,
        alias: bare.alias,
        shorturl: bare.shorturl,
        date: bare.date,
      })
    })

    it('clears a field by an empty text or by null', async () => {
      for (const nothing of ['', null]) {
        const { id } = await add(full)
        for (const [field, [shown, value]] of Object.entries(cleared)) {
          const { status, text } = await update(id, { [field]: nothing })
          expect(status, `${field} ${text}`).to.equal(200)
          expect((await details(id))[shown], field).to.deep.equal(value)
        }
      }
    })

    it('changes nothing by an empty alias', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const written = await head()
      for (const custom of ['', null]) expect((await update(id, { custom })).status).to.equal(200)
      expect(await details(id)).to.include({ alias })
      expect(await head()).to.equal(written)
    })

    it('to what already holds is success, and no event', async () => {
      const { id } = await add({ ...full, custom: free() })
      const written = await head()
      const { password: _, ...same } = full
      expect((await update(id, same)).status).to.equal(200)
      expect(await head()).to.equal(written)
    })

    it('keeps an expiry that has passed since, as long as it is not set anew', async () => {
      const { id } = await add({ expiry: inSeconds(60) })
      const alias = (await details(id)).alias as string
      await secondsLater(61, async () => {
        expect((await app.visit(`/${alias}`)).status).to.equal(410)
        expect((await update(id, { title: 'Still mine' })).status).to.equal(200)
        expect((await update(id, { expiry: (await details(id)).expiry, title: 'Again' })).status).to.equal(200)
        expect((await update(id, { expiry: null })).status).to.equal(200)
        expect(await leadsTo(alias)).to.equal(long)
      })
    })

    it('needs the address', async () => {
      const { id } = await add()
      const { status, json } = await app.put(`/api/url/${id}/update`, { key, body: { title: 'x' } })
      expect([status, json]).to.deep.equal([400, { error: 1, message: '`url` is required.' }])
    })

    it('is seen at once by a visitor', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      for (let i = 0; i < 20; i++) {
        await update(id, { url: `https://example.com/${i}` })
        expect(await leadsTo(alias)).to.equal(`https://example.com/${i}`)
      }
    })
  })

  describe('an alias', () => {
    let other: string
    before(async () => (other = (await app.register()).key))
    const taken = async (custom: string, by: string) => {
      const { status, json } = await app.post('/api/url/add', { key: by, body: { url: long, custom } })
      expect([status, json['error']]).to.deep.equal([400, 1])
      expect(json['message']).to.include('alias is taken')
    }

    it('is shown as typed, and compared without regard to case', async () => {
      const { short } = await add({ custom: 'MixedCase' })
      expect(short).to.equal(`${app.app.baseUrl}/MixedCase`)
      for (const alias of ['MixedCase', 'mixedcase', 'MIXEDCASE']) expect(await leadsTo(alias)).to.equal(long)
      await taken('mixedCASE', key)
      await taken('mixedCASE', other)
    })

    it('can change its case', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const { json } = await update(id, { custom: alias.toUpperCase() })
      expect(json['short']).to.equal(`${app.app.baseUrl}/${alias.toUpperCase()}`)
      expect(await leadsTo(alias)).to.equal(long)
    })

    it('that was given up by a change stops working, and stays reserved for its owner', async () => {
      const [old, now] = [free(), free()]
      const { id } = await add({ custom: old })
      expect(await leadsTo(old)).to.equal(long)
      expect((await update(id, { custom: now })).json['short']).to.equal(`${app.app.baseUrl}/${now}`)
      expect([await leadsTo(old), await leadsTo(now)]).to.deep.equal([404, long])
      await taken(old, other)
      const again = await add({ custom: old, url: 'https://example.org/' })
      expect(await leadsTo(old)).to.equal('https://example.org/')
      expect(again.id).not.to.equal(id)
    })

    it('can be taken back by the same link', async () => {
      const [old, now] = [free(), free()]
      const { id } = await add({ custom: old })
      await update(id, { custom: now })
      expect((await update(id, { custom: old })).status).to.equal(200)
      expect([await leadsTo(old), await leadsTo(now)]).to.deep.equal([long, 404])
    })

    it('of a deleted link never goes to another account, but its owner may take it again', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      expect(await leadsTo(alias)).to.equal(long)
      await app.del(`/api/url/${id}/delete`, { key })
      expect(await leadsTo(alias)).to.equal(404)
      await taken(alias, other)
      const theirs = await add({}, other)
      const renamed = await update(theirs.id, { custom: alias }, other)
      expect(renamed.status).to.equal(400)
      expect(renamed.json['message']).to.include('alias is taken')
      await add({ custom: alias, url: 'https://example.org/' })
      expect(await leadsTo(alias)).to.equal('https://example.org/')
    })

    it('is taken on update as on create', async () => {
      const alias = free()
      await add({ custom: alias })
      const { id } = await add()
      const before = await details(id)
      const { status, json } = await update(id, { custom: alias, title: 'Not this either' })
      expect([status, json['error']]).to.deep.equal([400, 1])
      expect(json['message']).to.include('alias is taken')
      expect(await details(id)).to.deep.equal(before)
    })
  })

  describe('deleting one', () => {
    it('answers a message; after that it is nowhere, and deleting it again is 404', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const { status, json } = await app.del(`/api/url/${id}/delete`, { key })
      expect([status, json]).to.deep.equal([200, { error: 0, message: 'Link has been deleted.' }])
      expect(await leadsTo(alias)).to.equal(404)
      expect((await app.get(`/api/url/${id}`, { key })).status).to.equal(404)
      expect((await update(id, {})).status).to.equal(404)
      expect((await app.del(`/api/url/${id}/delete`, { key })).status).to.equal(404)
      const { json: list } = await app.get('/api/urls?limit=1000', { key })
      expect(list['data'].urls.map((row: { id: number }) => row.id)).not.to.include(id)
    })
  })

  describe('reading what was just written', () => {
    it('never finds it missing or old', async () => {
      const mine = (await app.register()).key
      for (let i = 0; i < 40; i++) {
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

  describe('the list', () => {
    let mine: string
    let made: number[]
    const ids = (json: Answer['json']) => json['data'].urls.map(({ id }: { id: number }) => id) as number[]
    const page = async (query: string) => {
      const { status, json } = await app.get(`/api/urls${query}`, { key: mine })
      expect(status, query).to.equal(200)
      const { urls: _, ...envelope } = json['data']
      return { json, envelope, ids: ids(json) }
    }
    before(async () => {
      mine = (await app.register()).key
      made = []
      for (let i = 0; i < 33; i++) made.unshift((await add({ title: `t${i}` }, mine)).id)
    })

    it('has the envelope of the contract, newest first, fifteen on a page', async () => {
      const { json, envelope, ids } = await page('')
      expect(json).to.have.all.keys('error', 'data')
      expect(json['error']).to.equal('0')
      expect(envelope).to.deep.equal({ result: 33, perpage: 15, currentpage: 1, nextpage: 2, maxpage: 3 })
      expect(ids).to.deep.equal(made.slice(0, 15))
    })

    it('gives each link as the contract says, and a little more', async () => {
      const { short, id } = await add({ custom: free(), title: 'Row', metadescription: 'Of a list' }, mine)
      const { json } = await page('?limit=1')
      const [row] = json['data'].urls
      expect(row.date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      expect({ ...row, date: '' }).to.deep.equal({
        id,
        alias: short.split('/').at(-1),
        shorturl: short,
        longurl: long,
        clicks: 0,
        title: 'Row',
        description: 'Of a list',
        date: '',
        uniqueclicks: 0,
        domain: app.app.baseUrl,
        campaign: null,
      })
      await app.del(`/api/url/${id}/delete`, { key: mine })
    })

    it('pages through all of them once', async () => {
      const seen: number[] = []
      for (let n = 1; n <= 4; n++) {
        const { envelope, ids } = await page(`?limit=10&page=${n}`)
        expect(envelope).to.deep.equal({
          result: 33,
          perpage: 10,
          currentpage: n,
          nextpage: Math.min(n + 1, 4),
          maxpage: 4,
        })
        seen.push(...ids)
      }
      expect(seen).to.deep.equal(made)
    })

    it('is empty past the end, and still counts them all', async () => {
      const { envelope, ids } = await page('?limit=10&page=9')
      expect(ids).to.deep.equal([])
      expect(envelope).to.deep.equal({ result: 33, perpage: 10, currentpage: 9, nextpage: 4, maxpage: 4 })
    })

    it('never fails for a limit or page: what cannot be read counts as not sent, too much is clamped', async () => {
      const first = await page('')
      for (const odd of ['0', '-1', 'abc', '1.5', '1e3', '', '٣', '0x10', ' 5', '5 ', 'NaN', 'null', '%00'])
        for (const name of ['limit', 'page'])
          expect(await page(`?${name}=${encodeURIComponent(odd)}`), `${name}=${odd}`).to.deep.equal(first)
      for (const much of ['1001', '99999999999999999999', '9'.repeat(400)])
        expect((await page(`?limit=${much}`)).envelope, much).to.include({ perpage: 1000, maxpage: 1 })
      for (const much of ['9007199254740993', '9'.repeat(400)]) {
        const { envelope, ids } = await page(`?page=${much}&limit=1000`)
        expect(ids).to.deep.equal([])
        expect(envelope).to.include({ result: 33, nextpage: 1, maxpage: 1 })
        expect(Number.isSafeInteger(envelope.currentpage)).to.equal(true)
      }
    })

    it('takes the first of a repeated key', async () => {
      expect((await page('?limit=2&limit=5&page=2&page=1')).envelope).to.include({ perpage: 2, currentpage: 2 })
    })

    it('takes an unknown order for the order by date', async () => {
      for (const order of ['date', 'clicks', 'CLICK', '', 'id;--']) {
        const query = `?order=${encodeURIComponent(order)}`
        expect((await page(query)).ids, order).to.deep.equal(made.slice(0, 15))
      }
    })

    it('puts the most clicked first when asked to, then the newest', async () => {
      const [often, once] = [made[20]!, made[30]!]
      for (const [id, times] of [
        [often, 2],
        [once, 1],
      ] as const) {
        const { json } = await app.get(`/api/url/${id}`, { key: mine })
        for (let i = 0; i < times; i++) await app.visit(`/${json['details'].alias}`)
      }
      const wished = [often, once, ...made.filter((id) => id !== often && id !== once)]
      const { ids, json } = await until(
        () => page('?order=click&limit=100'),
        ({ json }) => json['data'].urls[0].clicks === 2 && json['data'].urls[1].clicks === 1,
      )
      expect(ids).to.deep.equal(wished)
      expect(json['data'].urls.slice(0, 3)).to.have.nested.property('[0].uniqueclicks', 1)
      expect((await page('?order=click&limit=10&page=2')).ids).to.deep.equal(wished.slice(10, 20))
    })

    it('of an account without links is one empty page', async () => {
      const { json } = await app.get('/api/urls', { key: (await app.register()).key })
      expect(json).to.deep.equal({
        error: '0',
        data: { result: 0, perpage: 15, currentpage: 1, nextpage: 1, maxpage: 1, urls: [] },
      })
    })
  })
})
