/** The kinds of content that a QR code can have. */
export type PayloadType = 'text' | 'vcard' | 'link' | 'email' | 'phone' | 'sms' | 'wifi'

/** The content of a QR code: one string, or the named parts of an e-mail, SMS, Wi-Fi network or contact. */
export type QrData = string | Readonly<Record<string, string>>
type Parts = Readonly<Record<string, string>>

/** Maximum size of a payload in bytes. The largest QR code with a logo (error correction level H) holds 1,273. */
export const payloadLimit = 1200

/** The beginning of a string that already is a complete payload. */
const payloads: Readonly<Partial<Record<PayloadType, RegExp>>> = {
  email: /^mailto:/i,
  phone: /^tel:/i,
  sms: /^sms(?:to)?:/i,
  wifi: /^WIFI:/i,
  vcard: /^BEGIN:VCARD\r?\n/i,
}
/** Returns whether a string is a complete payload of the type already, so that it is encoded unchanged. */
export const isPayload = (type: PayloadType, text: string): boolean => payloads[type]?.test(text) ?? false

/** Removes spaces and slashes, which are not among the visual separators of RFC 3966, 5.1.1. */
const number = (phone: string) => phone.replaceAll(/[\s/]/g, '')

const crlf = (text: string) => text.replaceAll(/\r\n?|\n/g, '\r\n')

/** RFC 6068: reserved characters are percent-encoded, and line breaks are %0D%0A. */
const mailto = ({ email = '', ...header }: Parts) => {
  const address = encodeURIComponent(email).replaceAll(/%(?:40|2B)/g, decodeURIComponent)
  const fields = (['subject', 'body'] as const)
    .filter((name) => header[name])
    .map((name) => `${name}=${encodeURIComponent(crlf(header[name] ?? ''))}`)
  return [`mailto:${address}`, fields.join('&')].filter(Boolean).join('?')
}

/** https://github.com/zxing/zxing/wiki/Barcode-Contents: `SMSTO:number:message` */
const smsto = ({ phone = '', message = '' }: Parts) => `SMSTO:${number(phone)}:${message}`

/** https://github.com/zxing/zxing/wiki/Barcode-Contents: `\ ; , : "` are escaped with a backslash. */
const wifi = ({ encryption = '', ssid = '', pass = '', hidden = '' }: Parts) => {
  const escaped = (text: string) => text.replaceAll(/[\\;,:"]/g, '\\$&')
  const secret = encryption === 'nopass' ? '' : `P:${escaped(pass)};`
  return `WIFI:T:${encryption};S:${escaped(ssid)};${secret}${hidden === 'true' ? 'H:true;' : ''};`
}

const fullName = ({ fname = '', lname = '' }: Parts) => `${fname} ${lname}`.trim()

/**
 * vCard 3.0, RFC 2426: `\ ; ,` and line breaks are escaped in texts, and lines end with CR LF. Only the given parts
 * have lines.
 */
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
    // URIs are not escaped
    ['URL', parts['site'] ?? '', 'site' in parts],
    ['ADR;TYPE=WORK', `;;${of(...address)}`, address.some((name) => name in parts)],
  ]
  const given = lines.filter(([, , isGiven]) => isGiven).map(([name, value]) => `${name}:${value}`)
  return ['BEGIN:VCARD', 'VERSION:3.0', ...given, 'END:VCARD', ''].join('\r\n')
}

const builders: Readonly<Partial<Record<PayloadType, (parts: Parts) => string>>> = {
  email: mailto,
  sms: smsto,
  wifi,
  vcard,
}

/**
 * Returns the string that is encoded. A code of type `link` encodes `scan`, the address that counts the scan, instead
 * of its destination.
 */
export const payloadOf = (type: PayloadType, data: QrData, scan: string): string => {
  if (type === 'link') return scan
  if (typeof data !== 'string') return builders[type]?.(data) ?? ''
  if (type === 'phone' && !isPayload(type, data)) return `tel:${number(data).replaceAll('#', '%23')}`
  return data
}

/** Returns the default name of a code, made from its content. */
export const nameOf = (data: QrData): string => {
  const content =
    typeof data === 'string' ? data : fullName(data) || data['email'] || data['phone'] || data['ssid'] || ''
  return Array.from(content.replaceAll(/\s+/g, ' ').trim()).slice(0, 100).join('')
}
