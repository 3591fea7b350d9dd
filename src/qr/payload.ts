import type { QrType } from '../events/qr.ts'

/** What a QR code says: one text, or the named parts of an e-mail, SMS, network or person. */
export type QrData = string | Readonly<Record<string, string>>
type Parts = Readonly<Record<string, string>>

/** Bytes that a code of ours holds; with a logo, the largest code there is would hold 1,273. */
export const payloadLimit = 1200

/** Texts that are payloads already, each by how its standard begins. */
const payloads: Readonly<Partial<Record<QrType, RegExp>>> = {
  email: /^mailto:/i,
  phone: /^tel:/i,
  sms: /^sms(?:to)?:/i,
  wifi: /^WIFI:/i,
  vcard: /^BEGIN:VCARD\r?\n/i,
}
export const isPayload = (type: QrType, text: string): boolean => payloads[type]?.test(text) ?? false

/** Digits, `+`, `*`, `#` and the visual separators of RFC 3966, 5.1.1; spaces are none of them. */
const number = (phone: string) => phone.replaceAll(/[\s/]/g, '')

const crlf = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n')

/** RFC 6068: all is percent-encoded that need be, line breaks as %0D%0A. */
const mailto = ({ email = '', ...header }: Parts) => {
  const address = encodeURIComponent(email).replaceAll(/%(?:40|2B)/g, decodeURIComponent)
  const fields = (['subject', 'body'] as const)
    .filter((name) => header[name])
    .map((name) => `${name}=${encodeURIComponent(crlf(header[name] ?? ''))}`)
  return [`mailto:${address}`, fields.join('&')].filter(Boolean).join('?')
}

/** https://github.com/zxing/zxing/wiki/Barcode-Contents: `SMSTO:number:message` */
const smsto = ({ phone = '', message = '' }: Parts) => `SMSTO:${number(phone)}:${message}`

/** The same page: `\ ; , : "` are escaped with a backslash. */
const wifi = ({ encryption = '', ssid = '', pass = '' }: Parts) => {
  const escaped = (text: string) => text.replaceAll(/[\\;,:"]/g, '\\$&')
  const secret = encryption === 'nopass' ? '' : `P:${escaped(pass)};`
  return `WIFI:T:${encryption};S:${escaped(ssid)};${secret};`
}

const fullName = ({ fname = '', lname = '' }: Parts) => `${fname} ${lname}`.trim()

/** vCard 3.0, RFC 2426: `\ ; ,` and line breaks are escaped in texts, lines end with CR LF. What was not given has no line. */
const vcard = (parts: Parts) => {
  const escaped = (text = '') => text.replaceAll(/[\\;,]/g, '\\$&').replaceAll(/\r\n?|\n/g, '\\n')
  const of = (...names: readonly string[]) => names.map((name) => escaped(parts[name])).join(';')
  const address = ['street', 'city', 'state', 'zip', 'country']
  const lines: readonly (readonly [string, string, boolean])[] = [
    ['N', `${of('lname', 'fname')};;;`, true],
    ['FN', escaped(fullName(parts)), true],
    ['ORG', of('org'), 'org' in parts],
    ['TEL;TYPE=WORK,VOICE', of('phone'), 'phone' in parts],
    ['TEL;TYPE=CELL', of('cell'), 'cell' in parts],
    ['EMAIL;TYPE=INTERNET', of('email'), 'email' in parts],
    // a URI stands as it is
    ['URL', parts['site'] ?? '', 'site' in parts],
    ['ADR;TYPE=WORK', `;;${of(...address)}`, address.some((name) => name in parts)],
  ]
  const given = lines.filter(([, , is]) => is).map(([name, value]) => `${name}:${value}`)
  return ['BEGIN:VCARD', 'VERSION:3.0', ...given, 'END:VCARD', ''].join('\r\n')
}

const built: Readonly<Partial<Record<QrType, (parts: Parts) => string>>> = { email: mailto, sms: smsto, wifi, vcard }

/** The one text that is encoded. `scan` is the address that counts a scan, which a `link` encodes in place of its own. */
export const payloadOf = (type: QrType, data: QrData, scan: string): string => {
  if (type === 'link') return scan
  if (typeof data !== 'string') return built[type]?.(data) ?? ''
  if (type === 'phone' && !isPayload(type, data)) return `tel:${number(data).replaceAll('#', '%23')}`
  return data
}

/** What a code is called that was given no name. */
export const nameOf = (data: QrData): string => {
  const said = typeof data === 'string' ? data : fullName(data) || data['email'] || data['phone'] || data['ssid'] || ''
  return Array.from(said.replaceAll(/\s+/g, ' ').trim()).slice(0, 100).join('')
}
