import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { encode } from 'jpeg-js'
import { account, type AccountCommand } from '../../src/commands/account.ts'
import { QrType } from '../../src/events/qr.ts'
import { openFetch } from '../../src/lib/fetch.ts'
import { pngOf } from '../../src/qr/logo.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Answer, until } from '../support/client.ts'
import { openStage, query, randomFrom, repeatable, seed } from '../support/faults.ts'
import { noise, readPng, scanPng, scanSvg } from '../support/qr.ts'
import { send } from '../support/raw.ts'
import { startStub, type Stub } from '../support/stub.ts'

const long = 'https://example.com/menu?table=7#wine'

describe(`QR codes (${repeatable})`, () => {
  const random = randomFrom(seed)
  const picture = noise(64, 48, random)
  const logos = { png: pngOf(picture), jpeg: encode(picture, 80).data }
  const stage = openStage()
  let app: TestApp
  let stub: Stub
  let key: string
  before(async () => {
    stub = await startStub((req, res) => res.end(req.url === '/logo.jpg' ? logos.jpeg : logos.png))
    const guardedFetch = openFetch({ resolve: async () => ['127.0.0.1'], denied: () => false, ports: [stub.port] })
    app = await startTestApp({ TRUST_PROXY: '1' }, undefined, { guardedFetch })
    key = (await app.register()).key
  })
  after(async () => {
    await stage.clear()
    await app.close()
    await stub.close()
  })

  const add = (body: object, as = key) => app.post('/api/qr/add', { key: as, body })
  const update = (id: number, body: object, as = key) => app.put(`/api/qr/${id}/update`, { key: as, body })
  const details = async (id: number) => (await app.get(`/api/qr/${id}`, { key })).json['details']
  const first = async () => (await app.get('/api/qr', { key })).json['data'].qrs[0]
  const made = async (body: object, as = key) => {
    const { json } = await add(body, as)
    expect(json, JSON.stringify(json)).to.have.all.keys('error', 'id', 'link')
    return { id: Number(json['id']), path: new URL(String(json['link'])).pathname }
  }
  const image = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(app.address + path, { headers, method, redirect: 'manual' })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const says = async (path: string) => scanPng((await image(path)).bytes)
  const scans = async (id: number, clicks: number) => {
    const read = async () => (await app.get(`/api/qr/${id}`, { key })).json
    const found = await until(read, (json) => json['data'].clicks >= clicks)
    expect(found['data'].clicks).to.equal(clicks)
    return found
  }
  const events = (id: number) =>
    query<{ type: string; data: Record<string, unknown> }>(
      app.connection,
      'select type, data from log.events where stream = $1 order by revision',
      [`qr-${id}`],
    )

  /** What an operator's command does. */
  const operator = (command: Extract<AccountCommand, { id: number }>) =>
    app.app.ledger.handler.handle(account, command, {
      account: command.id,
      actor: { kind: 'operator' },
      request: '',
      command: randomUUID(),
      at: new Date().toISOString(),
    })

  it('are created, shown, scanned, read, changed and deleted', async () => {
    const { status, json } = await add({ type: 'link', data: long })
    expect(status).to.equal(200)
    expect(json).to.have.all.keys('error', 'id', 'link')
    const { id, link } = json as { id: number; link: string }
    expect(link).to.match(new RegExp(`^${app.app.baseUrl}/qr/[a-km-np-z2-9]{8}$`))
    const { pathname } = new URL(link)

    expect(await says(pathname)).to.equal(`${link}/go`)
    const scan = await app.visit(`${pathname}/go`)
    expect([scan.status, scan.headers.get('Location')]).to.deep.equal([302, long])
    expect(scan.headers.get('Cache-Control')).to.equal('private, no-store')

    const { error, details: shown, data } = await scans(id, 1)
    expect(error).to.equal(0)
    expect(shown).to.have.all.keys('id', 'link', 'scans', 'name', 'date')
    expect(shown).to.include({ id, link, scans: 1, name: long })
    expect(shown.date).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(data).to.deep.include({ clicks: 1, uniqueClicks: 1, topBrowsers: { Chrome: '1' } })
    expect(await first()).to.deep.equal(shown)

    const changed = await update(id, { data: 'https://example.com/new' })
    expect(changed.json).to.deep.equal({ error: 0, message: 'QR code has been updated.' })
    expect((await app.visit(`${pathname}/go`)).headers.get('Location')).to.equal('https://example.com/new')

    const gone = await app.del(`/api/qr/${id}/delete`, { key })
    expect(gone.json).to.deep.equal({ error: 0, message: 'QR code has been deleted.' })
    for (const path of [pathname, `${pathname}.svg`, `${pathname}/go`])
      expect((await app.visit(path)).status).to.equal(404)
    expect((await app.del(`/api/qr/${id}/delete`, { key })).status).to.equal(404)
    expect(await first()).to.equal(undefined)
  })

  it('are listed newest first, in the envelope of every list', async () => {
    const { key: mine } = await app.register()
    for (const n of [1, 2, 3]) await made({ type: 'text', data: `text ${n}` }, mine)
    const { json } = await app.get('/api/qr?limit=2&page=2', { key: mine })
    expect(json['error']).to.equal('0')
    const { qrs, ...envelope } = json['data']
    expect(envelope).to.deep.equal({ result: 3, perpage: 2, currentpage: 2, nextpage: 2, maxpage: 2 })
    expect(qrs.map((row: { name: string }) => row.name)).to.deep.equal(['text 1'])
    expect(qrs[0]).to.have.all.keys('id', 'link', 'scans', 'name', 'date')
    expect(qrs[0].scans).to.equal(0)
    const beyond = (await app.get('/api/qr?limit=2&page=9', { key: mine })).json['data']
    expect([beyond.result, beyond.qrs]).to.deep.equal([3, []])
  })

  describe('hold what their type says', () => {
    const vcard =
      'BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lee;Ann;;;\r\nFN:Ann Lee\r\nTEL;TYPE=CELL:+1 555 0100\r\nEND:VCARD\r\n'
    const network = 'WIFI:T:WPA;S:Café 7;P:s3cret\\;word;;'
    const held: readonly (readonly [QrType, unknown, string, string])[] = [
      ['text', 'Grüße, 世界', 'Grüße, 世界', 'Grüße, 世界'],
      ['text', 2026, '2026', '2026'],
      ['phone', '+1 555 010 0199', 'tel:+15550100199', '+1 555 010 0199'],
      ['email', 'ann@example.com', 'mailto:ann@example.com', 'ann@example.com'],
      [
        'email',
        { email: 'ann@example.com', subject: 'Tea & cake', body: '' },
        'mailto:ann@example.com?subject=Tea%20%26%20cake',
        'ann@example.com',
      ],
      ['sms', { phone: '+15550100', message: 'Hi: there' }, 'SMSTO:+15550100:Hi: there', '+15550100'],
      ['sms', '+15550100', 'SMSTO:+15550100:', '+15550100'],
      ['wifi', { ssid: 'Café 7', pass: 's3cret;word' }, network, 'Café 7'],
      [
        'wifi',
        [
          { name: 'ssid', value: 'Café 7' },
          { name: 'pass', value: 's3cret;word' },
        ],
        network,
        'Café 7',
      ],
      [
        'wifi',
        [
          ['ssid', 'Café 7'],
          ['pass', 's3cret;word'],
          ['encryption', 'wpa2'],
        ],
        network,
        'Café 7',
      ],
      ['wifi', 'Café 7', 'WIFI:T:nopass;S:Café 7;;', 'Café 7'],
      ['wifi', { ssid: 'x', pass: 'y', encryption: 'WEP' }, 'WIFI:T:WEP;S:x;P:y;;', 'x'],
      ['wifi', 'WIFI:T:SAE;S:x;P:y;;', 'WIFI:T:SAE;S:x;P:y;;', 'WIFI:T:SAE;S:x;P:y;;'],
      ['vcard', { fname: 'Ann', lname: 'Lee', cell: '+1 555 0100', owner: 'nobody' }, vcard, 'Ann Lee'],
      [
        'vcard',
        [
          { name: 'fname', value: 'Ann' },
          { name: 'lname', value: 'Lee' },
          { name: 'cell', value: '+1 555 0100' },
        ],
        vcard,
        'Ann Lee',
      ],
      ['vcard', 'Ann', 'BEGIN:VCARD\r\nVERSION:3.0\r\nN:;Ann;;;\r\nFN:Ann\r\nEND:VCARD\r\n', 'Ann'],
      ['vcard', vcard, vcard, 'BEGIN:VCARD VERSION:3.0 N:Lee;Ann;;; FN:Ann Lee TEL;TYPE=CELL:+1 555 0100 END:VCARD'],
    ]
    for (const [type, data, payload, name] of held)
      it(`${type}: ${JSON.stringify(data).slice(0, 80)}`, async () => {
        const { id, path } = await made({
          type,
          data,
          foreground: 'rgb(20,40,90)',
          logo: `data:image/png;base64,${logos.png.toString('base64')}`,
        })
        expect(await says(path)).to.equal(payload)
        expect(scanSvg((await image(`${path}.svg`)).bytes.toString())).to.equal(payload)
        expect((await details(id)).name).to.equal(name)
        expect((await app.visit(`${path}/go`)).status).to.equal(404)
      })
  })

  it('are named as wished, else after their data, also when it changes', async () => {
    const { id } = await made({ type: 'text', data: 'Hello', name: 'Door' })
    const { id: other } = await made({ type: 'text', data: 'Hello' })
    for (const one of [id, other]) await update(one, { data: 'Bye' })
    expect([(await details(id)).name, (await details(other)).name]).to.deep.equal(['Door', 'Bye'])
    await update(id, { data: 'Bye', name: '' })
    await update(other, { data: 'Bye', name: 'Gate' })
    expect([(await details(id)).name, (await details(other)).name]).to.deep.equal(['Bye', 'Gate'])
  })

  it('keep their type, colours and logo until another is sent', async () => {
    const colours = { foreground: '#204080', background: 'rgb(255, 255, 220)' }
    const { id, path } = await made({
      type: 'text',
      data: 'Hello',
      ...colours,
      logo: `http://pictures.example:${stub.port}/logo.jpg`,
    })
    const before = await image(`${path}.svg`)
    expect(before.bytes.toString()).to.include('#204080').and.include('#ffffdc').and.include('<image ')
    await update(id, { data: 'Bye', type: 'link' })
    const after = (await image(`${path}.svg`)).bytes.toString()
    expect(after).to.include('#204080').and.include('#ffffdc').and.include('<image ')
    expect(scanSvg(after)).to.equal('Bye')
    await update(id, { data: 'Bye', logo: null, foreground: '', background: '#fff' })
    const plain = (await image(`${path}.svg`)).bytes.toString()
    expect(plain).to.include('#000000').and.include('#ffffff').and.not.include('<image ')
    expect((await events(id)).map(({ type }) => type)).to.deep.equal(['QrCreated', 'QrUpdated', 'QrUpdated'])
  })

  it('are recorded once, however often the same is wished', async () => {
    const logo = `http://pictures.example:${stub.port}/logo.png`
    const { id } = await made({ type: 'wifi', data: { ssid: 'Home', pass: 'x' }, logo })
    for (const data of [
      { ssid: 'Home', pass: 'x' },
      [
        ['ssid', 'Home'],
        ['pass', 'x'],
      ],
    ])
      expect((await update(id, { data, logo })).status).to.equal(200)
    expect(await events(id)).to.have.length(1)
  })

  it('fetch a logo once: it stands in the event, at most 256 x 256', async () => {
    const asked = stub.requests.length
    const { id, path } = await made({
      type: 'text',
      data: 'Hello',
      logo: `http://pictures.example:${stub.port}/logo.png`,
    })
    await image(path)
    await image(`${path}?size=1000`)
    expect(stub.requests.length - asked).to.equal(1)
    const [created] = await events(id)
    const kept = readPng(Buffer.from(String(created!.data['logo']), 'base64'))
    expect([kept.width, kept.height, ...kept.data]).to.deep.equal([64, 48, ...picture.data])
  })

  describe('are shown', () => {
    let path: string
    before(async () => ({ path } = await made({ type: 'text', data: 'Hello' })))

    it('as a PNG, unless an SVG is preferred or asked for by name', async () => {
      const type = async (suffix = '', accept?: string) =>
        (await image(path + suffix, accept === undefined ? {} : { Accept: accept })).headers.get('Content-Type')
      const [png, svg] = ['image/png', 'image/svg+xml']
      for (const accept of [undefined, '*/*', 'image/*', 'image/png', 'image/png, image/svg+xml', 'application/json'])
        expect(await type('', accept), accept).to.equal(png)
      // what Chrome sends for an <img>
      expect(await type('', 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8')).to.equal(png)
      for (const accept of [svg, `${svg},*/*;q=0.8`, `image/png;q=0.5, ${svg}`, `IMAGE/SVG+XML`])
        expect(await type('', accept), accept).to.equal(svg)
      expect(await type('.svg', png)).to.equal(svg)
      expect(await type('.png', svg)).to.equal(png)
      expect((await image(path)).headers.get('Vary')).to.equal('Accept')
    })

    it('in the size that is asked for, from 64 to 2,048 pixels', async () => {
      const width = async (search: string) => readPng((await image(path + search)).bytes).width
      for (const [search, pixels] of [
        ['', 512],
        ['?size=64', 64],
        ['?size=700', 700],
        ['?size=2048', 2048],
        ['?size=1', 64],
        ['?size=99999', 2048],
        ['?size=large', 512],
        ['?size=-5', 512],
        ['.png?size=100&x=y', 100],
      ] as const)
        expect(await width(search), search).to.equal(pixels)
      expect((await image(`${path}.svg?size=300`)).bytes.toString()).to.include('width="300"')
    })

    it('once: who has the image is told that it is still the same', async () => {
      const { headers, bytes } = await image(path)
      const etag = headers.get('ETag') ?? ''
      expect(etag).to.match(/^"[\w-]+"$/)
      expect(headers.get('Cache-Control')).to.equal('public, max-age=60')
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
        const again = await image(path, { 'If-None-Match': tag })
        expect([again.status, again.bytes.length, again.headers.get('ETag')]).to.deep.equal([304, 0, etag])
      }
      expect((await image(path, { 'If-None-Match': '"other"' })).bytes.equals(bytes)).to.equal(true)
      const others = await Promise.all([`${path}.svg`, `${path}?size=600`].map((other) => image(other)))
      expect(new Set([etag, ...others.map((other) => other.headers.get('ETag'))]).size).to.equal(3)
    })

    it('to HEAD without the image, and to nothing but GET and HEAD', async () => {
      const [get, head] = [await image(path), await image(path, {}, 'HEAD')]
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0])
      expect(head.headers.get('Content-Length')).to.equal(String(get.bytes.length))
      const post = await image(path, {}, 'POST')
      expect([post.status, post.headers.get('Allow')]).to.deep.equal([405, 'GET, HEAD'])
    })

    it('so that nothing in them can run', async () => {
      const { headers } = await image(`${path}.svg`)
      expect(headers.get('X-Content-Type-Options')).to.equal('nosniff')
      expect(headers.get('Content-Security-Policy')).to.equal("default-src 'none'; img-src data:")
    })

    it('whatever the case of their alias', async () => {
      expect(await says(path.toUpperCase().replace('/QR/', '/qr/'))).to.equal('Hello')
    })
  })

  describe('of links count their scans', () => {
    const agents = {
      firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
      bot: 'Googlebot/2.1 (+http://www.google.com/bot.html)',
    }
    const scan = (path: string, address: string, headers: Record<string, string> = {}, method = 'GET') =>
      app.ask(method, `${path}/go`, {
        headers: { 'X-Forwarded-For': address, 'User-Agent': agents.firefox, ...headers },
      })

    it('by people, each as often as it happens, and each person once', async () => {
      const { id, path } = await made({ type: 'link', data: long })
      const none = (await app.get(`/api/qr/${id}`, { key })).json['data']
      expect(none).to.deep.equal({
        clicks: 0,
        uniqueClicks: 0,
        topCountries: {},
        topReferrers: {},
        topBrowsers: {},
        topOs: {},
        socialCount: { facebook: 0, twitter: 0, instagram: 0 },
      })
      await scan(path, '24.48.0.1')
      await scan(path, '24.48.0.1')
      await scan(path, '81.2.69.142', { Referer: 'https://www.instagram.com/p/1' })
      await scan(path, '8.8.8.8', { Referer: 'https://t.co/abc' })
      // none of these is a scan by a person
      await scan(path, '8.8.8.8', { 'User-Agent': agents.bot })
      await scan(path, '8.8.8.8', { 'Sec-Purpose': 'prefetch' })
      await scan(path, '8.8.8.8', {}, 'HEAD')
      await scan(path, '8.8.8.8', { Referer: 'https://facebook.com/' })
      const { data, details: shown } = await scans(id, 5)
      expect(shown.scans).to.equal(5)
      expect(data).to.deep.equal({
        clicks: 5,
        uniqueClicks: 3,
        topCountries: { Canada: '2', 'United States': '2', 'United Kingdom': '1' },
        topReferrers: { Direct: '2', 'facebook.com': '1', 'instagram.com': '1', 'twitter.com': '1' },
        topBrowsers: { Firefox: '5' },
        topOs: { Linux: '5' },
        socialCount: { facebook: 1, twitter: 1, instagram: 1 },
      })
      expect(await first()).to.include({ id, scans: 5 })
    })

    it('apart from those of a link with the same id, and of other codes', async () => {
      const { json } = await app.post('/api/url/add', { key, body: { url: long } })
      const [one, two] = [await made({ type: 'link', data: long }), await made({ type: 'link', data: long })]
      await scan(one.path, '24.48.0.1')
      await scan(two.path, '24.48.0.1')
      await scan(two.path, '24.48.0.1')
      await app.visit(new URL(String(json['short'])).pathname)
      await scans(one.id, 1)
      await scans(two.id, 2)
      const links = await until(
        async () => (await app.get('/api/urls', { key })).json['data'].urls,
        ([link]) => link.clicks === 1,
      )
      expect(links.map((link: { clicks: number }) => link.clicks)).to.deep.equal([1])
    })

    it('as facts that say which revision led where', async () => {
      const { id, path } = await made({ type: 'link', data: long })
      await update(id, { data: 'https://example.com/two' })
      await scan(path, '24.48.0.1')
      await scans(id, 1)
      const [click] = await query<{ click: Record<string, unknown>; destination: string }>(
        app.connection,
        `select c as click, data->'destinations'->>(c->>'destination')::int as destination
         from log.events, json_array_elements(data->'clicks') c where type = 'LinkClicked' and c->'source'->>'id' = $1 and c->'source'->>'kind' = 'qr'`,
        [String(id)],
      )
      expect(click!.destination).to.equal('https://example.com/two')
      expect(click!.click).to.deep.include({ link: 0, revision: 1, rule: 'qr', source: { kind: 'qr', id } })
    })

    it('and lead to a short link of ours, which counts for itself', async () => {
      const { json } = await app.post('/api/url/add', { key, body: { url: long } })
      const { id, path } = await made({ type: 'link', data: json['short'] })
      const { headers } = await scan(path, '24.48.0.1')
      expect(headers.get('Location')).to.equal(json['short'])
      await app.visit(new URL(headers.get('Location') ?? '').pathname)
      await scans(id, 1)
      const link = () => app.get(`/api/url/${json['id']}`, { key })
      expect((await until(link, (read) => read.json['data'].clicks === 1)).json['data'].clicks).to.equal(1)
    })

    it('and cannot lead in circles', async () => {
      const { id, path } = await made({ type: 'link', data: long })
      for (const data of [`${app.app.baseUrl}${path}/go`, `${app.app.baseUrl}/qr/whatever`]) {
        expect((await update(id, { data })).json['message']).to.match(/^`data` must not lead to a QR code/)
        expect((await add({ type: 'link', data })).status).to.equal(400)
      }
    })
  })

  describe('are refused with what would be right', () => {
    const refused: readonly (readonly [object, RegExp])[] = [
      [{}, /^`type` is required/],
      [{ type: 'bitcoin', data: 'x' }, /^`type` must be one of text, vcard, link, email, phone, sms, wifi\.$/],
      [{ type: 'link', data: 'javascript:alert(1)' }, /^`data` must be a web address/],
      [{ type: 'link', data: 'https://user:pw@example.com/' }, /^`data` must not contain a user name/],
      [{ type: 'phone', data: 'call me' }, /^`data` must be a telephone number, for example/],
      [{ type: 'email', data: { subject: 'Hi' } }, /^`data\.email` is required/],
      [{ type: 'email', data: 'ann at home' }, /^`data\.email` must be an e-mail address, for example/],
      [
        { type: 'email', data: { email: 'a@b.example', subject: 'x\r\nBcc: y' } },
        /^`data\.subject` must be a single line/,
      ],
      [{ type: 'sms', data: { message: 'Hi' } }, /^`data\.phone` is required/],
      [{ type: 'sms', data: { phone: '1:2' } }, /^`data\.phone` must be a telephone number/],
      [{ type: 'wifi', data: { pass: 'x' } }, /^`data\.ssid` is required/],
      [{ type: 'wifi', data: { ssid: 'é'.repeat(17) } }, /^`data\.ssid` must be at most 32 bytes/],
      [{ type: 'wifi', data: { ssid: 'x', encryption: 'WPA' } }, /^`data\.pass` is required with WPA/],
      [
        { type: 'wifi', data: { ssid: 'x', pass: 'y', encryption: 'ROT13' } },
        /^`data\.encryption` must be WPA, WEP or nopass/,
      ],
      [{ type: 'vcard', data: { org: 'Lee & Co' } }, /^`data\.fname` or `lname` is required/],
      [{ type: 'vcard', data: { fname: 'Ann', site: 'file:///etc/passwd' } }, /^`data\.site` must be a web address/],
      [{ type: 'vcard', data: { fname: true } }, /^`data\.fname` must be a string/],
      [{ type: 'text', data: 'x', name: 'n'.repeat(256) }, /^`name` must be at most 255/],
      [{ type: 'text', data: 'x', logo: 7 }, /^`logo` must be a string/],
    ]
    for (const [body, message] of refused)
      it(`${JSON.stringify(body).slice(0, 90)}`, async () => {
        const { status, json } = await add(body)
        expect([status, json['error']]).to.deep.equal([400, 1])
        expect(json['message']).to.match(message)
      })

    it('without data, of every type', async () => {
      for (const type of QrType.options)
        for (const body of [
          { type },
          { type, data: null },
          { type, data: true },
          { type, data: '' },
          { type, data: [] },
        ])
          expect((await add(body)).json['message'], JSON.stringify(body)).to.match(/^`data(\.\w+)?` /)
      const { id } = await made({ type: 'text', data: 'x' })
      expect((await update(id, { name: 'y' })).json['message']).to.match(/^`data` is required/)
    })

    it('in colours that nothing can tell apart', async () => {
      for (const colours of [
        { foreground: '#fff' },
        { background: 'rgb(30,30,30)' },
        { foreground: '#ffff00' },
        { foreground: 'rgb(90,90,90)', background: 'rgb(100,100,100)' },
      ])
        expect((await add({ type: 'text', data: 'x', ...colours })).json['message']).to.match(
          /^`foreground` must differ more from `background`: their contrast is [\d.]+:1 and must be at least 2:1/,
        )
      const { id } = await made({ type: 'text', data: 'x', background: '#101010', foreground: '#ffffff' })
      expect((await update(id, { data: 'x', foreground: '#202020' })).status).to.equal(400)
    })
  })

  describe('whatever is sent', () => {
    it('of 1,200 bytes at most is encoded, never the array that came (threat 10)', async () => {
      expect((await made({ type: 'text', data: 'x'.repeat(1200) })).id).to.be.greaterThan(0)
      for (const data of ['x'.repeat(1201), 'x'.repeat(3000), 'é'.repeat(601)])
        expect((await add({ type: 'text', data })).json['message']).to.match(/^`data` /)
      const parts = { ssid: 's'.repeat(32), pass: ';'.repeat(128) }
      expect((await add({ type: 'wifi', data: parts })).status).to.equal(200)
      const full = Object.fromEntries(
        ['fname', 'lname', 'org', 'city', 'state', 'street'].map((name) => [name, ';'.repeat(255)]),
      )
      expect((await add({ type: 'vcard', data: full })).json['message']).to.match(
        /^`data` must be at most 1200 bytes long in the code; it is \d+/,
      )
      const segments = [
        [{ data: 'x', mode: 'byte' }],
        [{ data: [1, 2, 3], mode: 'kanji' }],
        [['a', 'b', 'c']],
        { 0: 'x' },
      ]
      for (const data of segments)
        for (const type of QrType.options) expect((await add({ type, data })).status).to.equal(400)
    })

    it('as a colour is a colour or nothing (threat 10)', async () => {
      for (const colour of [
        'rgb(1,2,3"/><x',
        'rgb(999,0,0)',
        'rgb(1,2)',
        'rgb(1,2,3,4)',
        'rgb(-1,2,3)',
        'rgb(1.5,2,3)',
        'red',
        '#12345g',
        '#1234',
        'url(#x)',
        'rgb(١,2,3)',
        5,
        {},
      ])
        for (const field of ['foreground', 'background'])
          expect(
            (await add({ type: 'text', data: 'x', [field]: colour })).json['message'],
            JSON.stringify(colour),
          ).to.match(new RegExp(`^\`${field}\` must be a`))
    })

    it('stays in its field of a network or a person (threat 11)', async () => {
      const wifi = await made({ type: 'wifi', data: { ssid: 'a;P:x;;', pass: 'b";S:c\\' } })
      expect(await says(wifi.path)).to.equal('WIFI:T:WPA;S:a\\;P\\:x\\;\\;;P:b\\"\\;S\\:c\\\\;;')
      for (const data of [{ ssid: 'a\nP:x', pass: 'b' }, { fname: 'Ann\r\nTEL:666' }])
        expect((await add({ type: 'ssid' in data ? 'wifi' : 'vcard', data })).json['message']).to.match(
          /must be a single line/,
        )
      const vcard = await made({ type: 'vcard', data: { fname: 'Ann;Mallory', street: 'Main St 1\r\nTEL:666' } })
      const said = (await says(vcard.path)) ?? ''
      expect(said)
        .to.include('\r\nN:;Ann\\;Mallory;;;\r\n')
        .and.include('\r\nADR;TYPE=WORK:;;Main St 1\\nTEL:666;;;;\r\n')
      expect(said).not.to.include('\nTEL')
    })

    it('as an address finds a code or nothing, and never a file (threat 17)', async () => {
      const { path } = await made({ type: 'text', data: 'x' })
      const raw = [
        '/qr/',
        '/qr/..%2f..%2fetc%2fpasswd',
        '/qr/../qr',
        '/qr/%2e%2e/api',
        '/qr/1.png/../x',
        '/qr//etc/passwd',
        '/qr/a%00.png',
        '/qr/a.svg.png',
        `${path}/`,
        `${path}/gone`,
        `${path}.gif`,
        `${path}%2ego`,
        `${path}/go/..`,
        '/qr/zzzzzzzz',
        `/qr/${'a'.repeat(65)}`,
      ]
      for (const one of raw) {
        const headers = { 'X-Forwarded-For': `10.0.0.${raw.indexOf(one)}` }
        expect((await send(app.address, 'GET', one, { headers })).status, one).to.equal(404)
      }
    })
  })

  it('of others are as unknown ones', async () => {
    const { id } = await made({ type: 'text', data: 'x' })
    const { key: other } = await app.register()
    const ask = async (of: number | string, by: string): Promise<Answer[]> => [
      await app.get(`/api/qr/${of}`, { key: by }),
      await app.put(`/api/qr/${of}/update`, { key: by, body: { data: 'y' } }),
      await app.put(`/api/qr/${of}/update`, { key: by, body: {} }),
      await app.del(`/api/qr/${of}/delete`, { key: by }),
    ]
    const answers = [...(await ask(id, other)), ...(await ask(999_999, other))]
    for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, answers[0]!.text])
    expect(await details(id)).to.include({ name: 'x' })
  })

  it('are hidden while their account is disabled', async () => {
    const { key: mine, id } = await app.register()
    const { path } = await made({ type: 'link', data: long }, mine)
    const both = async () => [(await image(path)).status, (await app.visit(`${path}/go`)).status]
    await operator({ type: 'DisableAccount', id })
    expect(await until(both, ([status]) => status === 404)).to.deep.equal([404, 404])
    await operator({ type: 'EnableAccount', id })
    expect(await until(both, ([status]) => status === 200)).to.deep.equal([200, 302])
  })

  it('keep what is personal sealed in the log, and lose it with their account', async () => {
    const canary = `canary-${random(1_000_000)}`
    const { key: mine, id: owner } = await app.register()
    const { id, path } = await made({ type: 'wifi', data: { ssid: canary, pass: `secret-${canary}` } }, mine)
    await made({ type: 'vcard', data: { fname: canary } }, mine)
    await app.put(`/api/qr/${id}/update`, { key: mine, body: { data: { ssid: canary, pass: `other-${canary}` } } })
    expect(await says(path)).to.equal(`WIFI:T:WPA;S:${canary};P:other-${canary};;`)
    const places = async () => {
      const tables = await query<{ name: string }>(
        app.connection,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('log', 'read', 'state')`,
      )
      const found = await Promise.all(
        tables.map(async ({ name }) => ({
          name,
          rows: await query(app.connection, `select 1 from ${name} t where t::text like $1`, [`%${canary}%`]),
        })),
      )
      return found.filter(({ rows }) => rows.length > 0).map(({ name }) => name)
    }
    expect((await places()).every((name) => name.startsWith('read.qrs_v'))).to.equal(true)
    await operator({ type: 'EraseAccount', id: owner })
    expect(await until(places, (found) => found.length === 0)).to.deep.equal([])
    expect(
      (
        await until(
          () => image(path),
          ({ status }) => status === 404,
        )
      ).status,
    ).to.equal(404)
  })

  it('are what their stream says, while the tables are late', async () => {
    const [changed, gone] = [await made({ type: 'text', data: 'before' }), await made({ type: 'text', data: 'gone' })]
    const holder = await stage.connect(app.connection)
    await holder.query('begin; select * from read.checkpoints for update')
    const writes = Promise.all([
      update(changed.id, { data: 'after' }),
      app.del(`/api/qr/${gone.id}/delete`, { key }),
      add({ type: 'text', data: 'made late' }),
    ])
    expect(
      await until(
        () => says(changed.path),
        (said) => said === 'after',
        3000,
      ),
    ).to.equal('after')
    expect(
      (
        await until(
          () => image(gone.path),
          ({ status }) => status === 404,
          3000,
        )
      ).status,
    ).to.equal(404)
    const [updated, , late] = await writes
    expect([updated.status, updated.headers.get('X-Projection-Pending')]).to.deep.equal([200, '1'])
    const { pathname } = new URL(String(late.json['link']))
    expect(await says(pathname)).to.equal('made late')
    expect(await details(Number(late.json['id']))).to.include({ name: 'made late' })
    await holder.query('rollback')
    expect(await until(first, (row) => row?.name === 'made late')).to.include({ id: late.json['id'] })
    expect(await says(pathname)).to.equal('made late')
  })
})
