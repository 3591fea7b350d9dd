import { expect } from 'chai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { inSeconds, secondsLater } from '../../support/clock.ts'
import { linkClient } from '../../support/clients/link.ts'

const long = 'https://example.com/a?b=c#d'
const entries = (count: number, make: (i: number) => object) => Array.from({ length: count }, (_, i) => make(i))

describe('updating a link', () => {
  let app: TestApp
  let key: string

  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
  })
  after(() => app.close())
  const head = () => app.domainHead()
  const { add, update, details, leadsTo, free } = linkClient(
    () => app,
    () => key,
  )

  describe('an invalid field', () => {
    const target = (field: string, name: string, valid: string, possible: string) =>
      [
        [field, 'Canada', `\`${field}\` must be an array of objects`],
        [field, { [name]: 'x', link: long }, `\`${field}\` must be an array of objects`],
        [field, ['x'], `\`${field}.0`],
        [field, [{ [name]: valid }], `\`${field}.0.link\` is required`],
        [field, [{ link: long }], `\`${field}.0.${name}\` is required`],
        [field, [{ [name]: 'Atlantis', link: long }], `\`${field}.0.${name}\` must be ${possible}`],
        [field, [{ [name]: '', link: long }], `\`${field}.0.${name}\` must be ${possible}`],
        [field, [{ [name]: 5, link: long }], `\`${field}.0.${name}\` must be a string`],
        [field, [{ [name]: 'x'.repeat(65), link: long }], `\`${field}.0.${name}\` must be at most 64`],
        [field, [{ [name]: valid, link: 'ftp://example.com/' }], `\`${field}.0.link\` must be a web address`],
        [
          field,
          entries(301, () => ({ [name]: valid, link: 'https://a.example/' })),
          `\`${field}\` must have at most 300`,
        ],
      ] as const
    const expiry =
      '`expiry` must be a date and time in UTC, for example 2030-01-31 18:00:00, or a day, for example 2030-01-31.'
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
      ['expiry', 5, expiry],
      ['expiry', 'tomorrow', expiry],
      ['expiry', '2090-02-30', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-01-01 24:00:00', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-01-01T00:00:00 CET', '`expiry` must be a date and time in UTC'],
      ['expiry', '2090-01-01T00:00:00+24:00', '`expiry` must be a date and time in UTC'],
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
      // ids that do not exist yet
      ['pixels', [999999], 'pixels'],
      ['pixels', 'x', 'pixels'],
      ['channel', 0, '`channel` must be an id'],
      ['campaign', 0, '`campaign` must be an id'],
      ['campaign', 999999, '`campaign` '],
      ['channel', '999999', '`channel` '],
      ...target('geotarget', 'location', 'CA', 'a country by its English name or ISO code, for example Canada'),
      ...target(
        'devicetarget',
        'device',
        'iphone',
        'one of iphone, ipad, ios, android, mobile, tablet, desktop, windows, mac',
      ),
      ...target('browsertarget', 'browser', 'safari', 'a browser as statistics name it, for example Chrome'),
      ...target('languagetarget', 'language', 'fr', 'a language code, for example fr or pt-BR'),
    ] as const

    it('is named in a 400 on create and update, and nothing is stored', async () => {
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
          expect(json, field).to.have.all.keys('error', 'message', 'code', 'field', 'params')
          expect(json['error']).to.equal(1)
          expect(json['message'], field).to.include(message)
        }
      }
      expect(await details(id)).to.deep.equal(before)
      expect(await head()).to.equal(written)
    })

    it('gets a message of one sentence', async () => {
      for (const [field, value] of wrong) {
        const { json } = await app.post('/api/url/add', { key, body: { url: long, [field]: value } })
        expect(json['message'], field).to.match(/^`[a-z]+(\.\d+)?(\.[a-z]+)?` .{10,150}\.$/)
      }
    })
  })

  describe('PUT /api/url/:id/update', () => {
    it('returns the id and the short address as `short` and `shorturl`', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const { status, json } = await update(id, { title: 'New' })
      const address = `${app.app.baseUrl}/${alias}`
      expect([status, json]).to.deep.equal([200, { error: 0, id, short: address, shorturl: address, revision: 1 }])
    })

    const full = {
      type: 'splash',
      expiry: '2090-01-31 18:00:00',
      geotarget: [{ location: 'Canada', link: 'https://example.com/ca' }],
      devicetarget: [{ device: 'ios', link: 'https://example.com/ios' }],
      browsertarget: [{ browser: 'Safari', link: 'https://example.com/safari' }],
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
      browsertarget: ['browser', {}],
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
      expect(await details(id)).to.deep.equal({ ...before, description: 'Another', revision: 1 })
      await update(id, { url: 'https://example.org/' })
      expect(await details(id)).to.deep.equal({
        ...before,
        description: 'Another',
        longurl: 'https://example.org/',
        revision: 2,
      })
    })

    it('keeps the URL as it was sent each time', async () => {
      const alias = free()
      const { id } = await add({ custom: alias, url: 'https://EXAMPLE.com' })
      for (const [url, target] of [
        ['https://example.com', 'https://example.com/'],
        ['https://example.com/', 'https://example.com/'],
        ['https://Example.org', 'https://example.org/'],
        ['https://example.net/', 'https://example.net/'],
      ]) {
        await update(id, { url })
        expect(await details(id)).to.include({ longurl: url })
        expect(await leadsTo(alias)).to.equal(target)
        const written = await head()
        await update(id, { url })
        expect(await head()).to.equal(written)
      }
    })

    it('accepts each field alone', async () => {
      const { id } = await add({ custom: free() })
      const bare = await details(id)
      const made = await add({ custom: free(), ...full })
      const expected = await details(made.id)
      for (const [field, value] of Object.entries(full)) {
        await update(id, { [field]: value })
        const [shown] = cleared[field as keyof typeof full]
        expect((await details(id))[shown], field).to.deep.equal(expected[shown])
      }
      expect(await details(id)).to.deep.equal({
        ...expected,
        id,
        alias: bare.alias,
        shorturl: bare.shorturl,
        addresses: bare.addresses,
        date: bare.date,
        revision: Object.keys(full).length,
      })
    })

    it('clears a field that is an empty string or null', async () => {
      for (const nothing of ['', null]) {
        const { id } = await add(full)
        for (const [field, [shown, value]] of Object.entries(cleared)) {
          const { status, text } = await update(id, { [field]: nothing })
          expect(status, `${field} ${text}`).to.equal(200)
          expect((await details(id))[shown], field).to.deep.equal(value)
        }
      }
    })

    it('keeps the alias when an empty one is sent', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      const written = await head()
      for (const custom of ['', null]) expect((await update(id, { custom })).status).to.equal(200)
      expect(await details(id)).to.include({ alias })
      expect(await head()).to.equal(written)
    })

    it('succeeds without an event when nothing changes', async () => {
      const { id } = await add({ ...full, custom: free() })
      const written = await head()
      const { password: _, ...same } = full
      expect((await update(id, same)).status).to.equal(200)
      expect(await head()).to.equal(written)
    })

    it('allows updates that keep an expiry in the past', async () => {
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

    it('requires `url`', async () => {
      const { id } = await add()
      const { status, json } = await app.put(`/api/url/${id}/update`, { key, body: { title: 'x' } })
      expect([status, json]).to.deep.equal([
        400,
        { error: 1, message: '`url` is required.', code: 'required', field: 'url', params: {} },
      ])
    })

    it('takes effect for the next visitor', async () => {
      const alias = free()
      const { id } = await add({ custom: alias })
      for (let i = 0; i < 20; i++) {
        await update(id, { url: `https://example.com/${i}` })
        expect(await leadsTo(alias)).to.equal(`https://example.com/${i}`)
      }
    })
  })
})
