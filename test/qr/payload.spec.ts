import { expect } from 'chai'
import fc from 'fast-check'
import { nameOf, type PayloadType, payloadOf, type QrData } from '../../src/qr/payload.ts'
import { repeatable, seed } from '../support/faults.ts'
import { anyText } from '../support/text.ts'

const scan = 'https://go.example/qr/abcdefgh/go'
const payload = (type: PayloadType, data: QrData) => payloadOf(type, data, scan)

/** Splits text at a separator the way a phone reads it, from left to right: an escaped separator does not split. */
const pieces = (text: string, separator: string) => {
  const found: string[] = []
  let piece = ''
  for (let i = 0; i < text.length; i++) {
    if (text[i] === separator) {
      found.push(piece)
      piece = ''
    } else piece += text[i] === '\\' ? text.slice(i, ++i + 1) : text[i]
  }
  return [...found, piece]
}
const unescapedWifi = (text: string) => text.replaceAll(/\\(.)/gs, '$1')
const unescapedVcard = (text: string) =>
  text.replaceAll(/\\(.)/gs, (_, c: string) => (c.toLowerCase() === 'n' ? '\n' : c))

describe(`the payload of a QR code (${repeatable})`, () => {
  const examples: readonly (readonly [PayloadType, QrData, string])[] = [
    ['text', 'Grüße, 世界 😀', 'Grüße, 世界 😀'],
    ['text', 'WIFI:T:WPA;S:x;;', 'WIFI:T:WPA;S:x;;'],
    ['link', 'https://example.com/', scan],
    ['phone', '+1 555 010 0199', 'tel:+15550100199'],
    ['phone', '+1-555-0100', 'tel:+1-555-0100'],
    ['phone', '*31#', 'tel:*31%23'],
    ['phone', 'tel:+15550100199', 'tel:+15550100199'],
    ['email', { email: 'ann@example.com' }, 'mailto:ann@example.com'],
    [
      'email',
      { email: 'ann+qr@example.com', subject: 'Q&A?', body: 'Hello\nAnn = 100%' },
      'mailto:ann+qr@example.com?subject=Q%26A%3F&body=Hello%0D%0AAnn%20%3D%20100%25',
    ],
    ['email', { email: 'a&b?c=d%e@example.com' }, 'mailto:a%26b%3Fc%3Dd%25e@example.com'],
    ['email', 'mailto:ann@example.com?subject=Hi', 'mailto:ann@example.com?subject=Hi'],
    ['sms', { phone: '+1 555 0100' }, 'SMSTO:+15550100:'],
    ['sms', { phone: '+15550100', message: 'Meet: 10:30?' }, 'SMSTO:+15550100:Meet: 10:30?'],
    ['wifi', { ssid: 'Home', pass: 'correct horse', encryption: 'WPA' }, 'WIFI:T:WPA;S:Home;P:correct horse;;'],
    ['wifi', { ssid: 'Home', pass: 'x', encryption: 'WPA', hidden: 'true' }, 'WIFI:T:WPA;S:Home;P:x;H:true;;'],
    ['wifi', { ssid: 'Café', encryption: 'nopass' }, 'WIFI:T:nopass;S:Café;;'],
    ['wifi', { ssid: 'a;b,c:d"e\\', pass: ';', encryption: 'WEP' }, 'WIFI:T:WEP;S:a\\;b\\,c\\:d\\"e\\\\;P:\\;;;'],
    [
      'vcard',
      {
        fname: 'Ann',
        lname: 'Lee; Jr',
        org: 'Lee, Lee & Co',
        phone: '+1 555 0100',
        cell: '+1 555 0199',
        email: 'ann@example.com',
        site: 'https://example.com/a,b;c',
        street: '1 Main St\nFloor 2',
        city: 'Springfield',
        state: 'IL',
        zip: '62701',
        country: 'USA',
      },
      [
        'BEGIN:VCARD',
        'VERSION:3.0',
        'N:Lee\\; Jr;Ann;;;',
        'FN:Ann Lee\\; Jr',
        'ORG:Lee\\, Lee & Co',
        'TEL;TYPE=WORK,VOICE:+1 555 0100',
        'TEL;TYPE=CELL:+1 555 0199',
        'EMAIL;TYPE=INTERNET:ann@example.com',
        'URL:https://example.com/a,b;c',
        'ADR;TYPE=WORK:;;1 Main St\\nFloor 2;Springfield;IL;62701;USA',
        'END:VCARD',
        '',
      ].join('\r\n'),
    ],
    ['vcard', { lname: 'Lee' }, 'BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lee;;;;\r\nFN:Lee\r\nEND:VCARD\r\n'],
  ]
  for (const [type, data, expected] of examples)
    it(`for type ${type} and ${typeof data === 'string' ? 'a string' : 'an object'} is ${JSON.stringify(expected).slice(0, 60)}`, () =>
      expect(payload(type, data)).to.equal(expected))

  const line = anyText({ minLength: 1 }).filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text))
  const special = fc
    .array(fc.constantFrom('\\', ';', ',', ':', '"', 'P', 'S', 'x', '\n'), { minLength: 1 })
    .map((a) => a.join(''))
  const check = (property: fc.IProperty<[string, string]>) => fc.assert(property, { seed, numRuns: 500 })

  it('keeps a Wi-Fi name and password in their own fields, with any characters', () =>
    check(
      fc.property(fc.oneof(line, special), fc.oneof(line, special), (ssid, pass) => {
        const [, ...fields] = /^WIFI:(.*);;$/s.exec(payload('wifi', { ssid, pass, encryption: 'WPA' })) ?? []
        expect(pieces(fields.join(), ';').map(unescapedWifi)).to.deep.equal(['T:WPA', `S:${ssid}`, `P:${pass}`])
      }),
    ))
  it('keeps the parts of a vCard in their own lines and fields, with any characters', () =>
    check(
      fc.property(fc.oneof(line, special), fc.oneof(line, special), (fname, org) => {
        const lines = payload('vcard', { fname, org }).split('\r\n')
        expect(lines).to.have.length(7)
        expect(pieces(lines[2]!.slice('N:'.length), ';').map(unescapedVcard)).to.deep.equal(['', fname, '', '', ''])
        expect(pieces(lines[4]!.slice('ORG:'.length), ';').map(unescapedVcard)).to.deep.equal([org])
      }),
    ))

  it('keeps the subject and body of an e-mail in their own fields (RFC 6068)', () =>
    check(
      fc.property(fc.oneof(line, special), fc.oneof(line, special), (subject, body) => {
        const url = new URL(payload('email', { email: 'ann@example.com', subject, body }))
        expect(url.pathname).to.equal('ann@example.com')
        expect([...url.searchParams.keys()]).to.deep.equal(['subject', 'body'])
        expect(url.searchParams.get('body')).to.equal(body.replaceAll('\n', '\r\n'))
      }),
    ))

  it('gives a code a default name that is made from its content', () => {
    expect(nameOf('Hello\n  you')).to.equal('Hello you')
    expect(nameOf({ email: 'ann@example.com', subject: 'x' })).to.equal('ann@example.com')
    expect(nameOf({ ssid: 'Home', encryption: 'nopass' })).to.equal('Home')
    expect(nameOf({ fname: 'Ann', lname: 'Lee', email: 'ann@example.com' })).to.equal('Ann Lee')
    expect(nameOf('😀'.repeat(200))).to.equal('😀'.repeat(100))
  })
})
