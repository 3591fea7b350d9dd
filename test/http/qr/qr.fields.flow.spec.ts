import { expect } from 'chai'
import { QrType } from '../../../src/events/qr/qr.ts'
import type { TestApp } from '../../support/app.ts'
import { repeatable } from '../../support/faults.ts'
import { send } from '../../support/raw.ts'
import { qrClient, qrSetUp } from '../../support/clients/qr.ts'

describe(`fields of QR codes (${repeatable})`, () => {
  const { stage, start } = qrSetUp()
  let app: TestApp
  let key: string
  before(async () => void ({ app, key } = await start()))
  after(stage.clear)
  const { add, update, create, says } = qrClient(
    () => app,
    () => key,
  )

  describe('an invalid field gets a 400 that names a valid value', () => {
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

    it('requires data for every type', async () => {
      for (const type of QrType.options)
        for (const body of [
          { type },
          { type, data: null },
          { type, data: true },
          { type, data: '' },
          { type, data: [] },
        ])
          expect((await add(body)).json['message'], JSON.stringify(body)).to.match(/^`data(\.\w+)?` /)
      const { id } = await create({ type: 'text', data: 'x' })
      expect((await update(id, { name: 'y' })).json['message']).to.match(/^`data` is required/)
    })

    it('rejects colors with too little contrast', async () => {
      for (const colours of [
        { foreground: '#fff' },
        { background: 'rgb(30,30,30)' },
        { foreground: '#ffff00' },
        { foreground: 'rgb(90,90,90)', background: 'rgb(100,100,100)' },
      ])
        expect((await add({ type: 'text', data: 'x', ...colours })).json['message']).to.match(
          /^`foreground` must differ more from `background`: their contrast is [\d.]+:1 and must be at least 3:1/,
        )
      const { id } = await create({ type: 'text', data: 'x', background: '#f0f0f0', foreground: '#101010' })
      expect((await update(id, { data: 'x', foreground: '#e0e0e0' })).status).to.equal(400)
    })

    it('answers with warnings about colors that not every scanner reads', async () => {
      const warnings = async (colors: object) =>
        (await add({ type: 'text', data: 'x', ...colors })).json['warnings'] as string[] | undefined
      expect(await warnings({})).to.equal(undefined)
      expect(await warnings({ foreground: '#777777' })).to.have.length(1)
      const inverted = await add({ type: 'text', data: 'x', background: '#101010', foreground: '#ffffff' })
      expect(inverted.json['warnings']).to.deep.equal([
        '`foreground` is lighter than `background`: many scanners read only dark codes on a light background. Swap the two colors.',
      ])
      const id = Number(inverted.json['id'])
      expect((await update(id, { data: 'y' })).json['warnings']).to.have.length(1)
      expect((await update(id, { data: 'y', foreground: '', background: '' })).json).to.not.have.property('warnings')
    })
  })

  describe('unusual input', () => {
    it('encodes data up to 1,200 bytes, and never an array as sent', async () => {
      expect((await create({ type: 'text', data: 'x'.repeat(1200) })).id).to.be.greaterThan(0)
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

    it('accepts nothing but colors as colors', async () => {
      for (const color of [
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
            (await add({ type: 'text', data: 'x', [field]: color })).json['message'],
            JSON.stringify(color),
          ).to.match(new RegExp(`^\`${field}\` must be a`))
    })

    it('keeps each value inside its field of a network or contact', async () => {
      const wifi = await create({ type: 'wifi', data: { ssid: 'a;P:x;;', pass: 'b";S:c\\' } })
      expect(await says(wifi.path)).to.equal('WIFI:T:WPA;S:a\\;P\\:x\\;\\;;P:b\\"\\;S\\:c\\\\;;')
      for (const data of [{ ssid: 'a\nP:x', pass: 'b' }, { fname: 'Ann\r\nTEL:666' }])
        expect((await add({ type: 'ssid' in data ? 'wifi' : 'vcard', data })).json['message']).to.match(
          /must be a single line/,
        )
      const vcard = await create({ type: 'vcard', data: { fname: 'Ann;Mallory', street: 'Main St 1\r\nTEL:666' } })
      const said = (await says(vcard.path)) ?? ''
      expect(said)
        .to.include('\r\nN:;Ann\\;Mallory;;;\r\n')
        .and.include('\r\nADR;TYPE=WORK:;;Main St 1\\nTEL:666;;;;\r\n')
      expect(said).not.to.include('\nTEL')
    })

    it('never serves a file for an alias', async () => {
      const { path } = await create({ type: 'text', data: 'x' })
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
})
