import { expect } from 'chai'
import type { FoundQrCode } from '../../../../src/http/qr/contract.ts'
import type { PayloadType } from '../../../../src/qr/payload.ts'
import type * as ContentModule from '../../../../src/web/screens/qr/content.ts'
import { usePage } from '../../page.ts'

let content: typeof ContentModule

const answer = (details: Partial<FoundQrCode['details']>): Pick<FoundQrCode, 'details'> => ({
  details: {
    ...{
      id: 7,
      link: 'https://links.example/qr/abc',
      scans: 0,
      name: 'Poster',
      date: '2026-04-09 08:30:00',
      revision: 0,
    },
    ...{ type: 'text', data: 'Hello', foreground: '#000000', background: '#ffffff', logo: false },
    ...details,
  },
})

describe('the form of a QR code', () => {
  usePage(async () => {
    content = await import('../../../../src/web/screens/qr/content.ts')
  })

  it('has the content of a code by its fields, a single text as one of them', () => {
    expect(content.designOf(answer({})).data).to.deep.equal({ text: 'Hello' })
    const data = { ssid: 'Guests', pass: 'welcome', encryption: 'WPA' }
    expect(content.designOf(answer({ type: 'wifi', data })).data).to.deep.equal(data)
  })

  it('keeps a logo that the service has, and knows when there is none', () => {
    expect(content.designOf(answer({ logo: true })).logo).to.equal(undefined)
    expect(content.designOf(answer({ logo: false })).logo).to.equal(null)
    expect(content.blankDesign('https://links.example/a').logo).to.equal(null)
  })

  it('sends only the fields of its type that are filled in', () => {
    const sent: readonly (readonly [
      type: PayloadType,
      data: Readonly<Record<string, string>>,
      sent: string | object,
    ])[] = [
      ['link', { text: ' https://links.example/a ' }, 'https://links.example/a'],
      ['phone', { text: '+49 30 1', ssid: 'left over' }, '+49 30 1'],
      ['wifi', { ssid: 'Guests', pass: '', encryption: 'nopass' }, { ssid: 'Guests', encryption: 'nopass' }],
      ['email', { text: 'left over', email: 'a@example.com' }, { email: 'a@example.com' }],
      ['vcard', {}, {}],
      ['text', {}, ''],
    ]
    for (const [type, data, body] of sent) expect(content.dataOf({ type, data }), type).to.deep.equal(body)
  })

  it('gets the same content back from the API', () => {
    const filled: readonly (readonly [PayloadType, string | Readonly<Record<string, string>>])[] = [
      ['sms', { phone: '+49 30 1', message: 'Hi' }],
      ['text', 'Hello'],
      ['vcard', { fname: 'Ann', country: 'DE' }],
    ]
    for (const [type, data] of filled)
      expect(content.dataOf(content.designOf(answer({ type, data }))), type).to.deep.equal(data)
  })

  it('draws the address that counts the scans of a link, in its later length while it has none', async () => {
    expect(await content.textOf({ type: 'link', data: { text: 'https://links.example/a' } }, undefined)).to.equal(
      'https://links.example/qr/xxxxxxxx/go',
    )
    const link = 'https://links.example/qr/abc'
    expect(await content.textOf({ type: 'link', data: { text: 'https://links.example/a' } }, link)).to.equal(
      `${link}/go`,
    )
    expect(await content.textOf({ type: 'text', data: { text: 'Hello' } }, link)).to.equal('Hello')
  })

  it('draws nothing while it is empty', async () => {
    for (const type of content.types)
      expect(await content.textOf({ type, data: {} }, undefined), type).to.equal(undefined)
  })
})
