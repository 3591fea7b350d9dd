import { knownIn } from '../../events/openenum.ts'
import { type QrFields, type QrPersonal, QrType } from '../../events/qr/qr.ts'
import { ChangedByNewer } from '../../events/unknown.ts'
import { withoutEscapes } from '../../lib/blocklist.ts'
import { addressesInText } from '../../lib/schemes.ts'
import { payloadOf, type QrData } from '../../qr/payload.ts'

/** Returns the public address of a QR code's image. */
export const imageAddress = (alias: string, baseUrl: () => string) => `${baseUrl()}/qr/${alias}`
const scanAddress = (alias: string, baseUrl: () => string) => `${imageAddress(alias, baseUrl)}/go`
/** Whether the URL is the address of a QR code of this service: a scan that leads to it would loop. */
export const isScanAddress = (url: string, isMainHost: (host: string) => boolean) => {
  const { host, pathname } = new URL(url)
  return isMainHost(host) && pathname.startsWith('/qr/')
}

/** Returns what the user entered for the QR code: a string, or an object of fields. */
export const dataOf = ({ data }: Pick<QrPersonal, 'data'>): QrData => (data ? (JSON.parse(data) as QrData) : '')
/** Returns the type of a QR code. Throws `ChangedByNewer` for one that only a newer release can draw. */
export const typeOf = ({ type }: Pick<QrFields, 'type'>): QrType => {
  const known = knownIn(QrType, type)
  if (!known) throw new ChangedByNewer('The QR code')
  return known
}
/** Returns the text that the picture encodes; for a link, the address that counts the scan. */
export const payload = (fields: Pick<QrFields, 'type' | 'alias'> & QrPersonal, baseUrl: () => string) =>
  payloadOf(typeOf(fields), dataOf(fields), scanAddress(fields.alias, baseUrl))

/** Returns the web addresses that a scanner of this content opens, or that a phone makes a link in its text. */
export const addressesIn = (data: QrData): readonly string[] => {
  // the program that opens a payload such as `mailto:?body=…` reads its escapes
  const texts = typeof data === 'string' ? [data, withoutEscapes(data)] : 'ssid' in data ? [] : Object.values(data)
  return [...new Set(texts.flatMap(addressesInText))]
}
