import type { FoundQrCode } from '../../../http/qr/contract.ts'
import type { PayloadType } from '../../../qr/payload.ts'
import { service } from '../../core/session.ts'

export type Data = Readonly<Record<string, string>>

/** A code as its form has it. */
export interface Design {
  readonly type: PayloadType
  /** the content, by the names of the API; a single text is `text` */
  readonly data: Data
  readonly name: string
  readonly foreground: string
  readonly background: string
  /** a picture that was chosen here, as a `data:` address; null: none; undefined: as it is */
  readonly logo: string | null | undefined
}

/** The fields of each type, in their order. */
export const fieldsOf: Readonly<Record<PayloadType, readonly string[]>> = {
  link: ['text'],
  text: ['text'],
  phone: ['text'],
  email: ['email', 'subject', 'body'],
  sms: ['phone', 'message'],
  wifi: ['ssid', 'pass', 'encryption'],
  vcard: ['fname', 'lname', 'org', 'phone', 'cell', 'email', 'site', 'street', 'city', 'state', 'zip', 'country'],
}
export const types = Object.keys(fieldsOf) as readonly PayloadType[]

export const blankDesign = (link: string): Design => ({
  type: 'link',
  data: { text: link },
  name: '',
  foreground: '#000000',
  background: '#ffffff',
  logo: null,
})

/** Returns the form of a code that there is. */
export const designOf = ({ details }: Pick<FoundQrCode, 'details'>): Design => ({
  // the type of a newer release has no form here
  type: details.type as PayloadType,
  data: typeof details.data === 'string' ? { text: details.data } : details.data,
  name: details.name,
  foreground: details.foreground,
  background: details.background,
  logo: details.logo ? undefined : null,
})

/** Returns the content of a form as the API takes it. */
export const dataOf = ({ type, data }: Pick<Design, 'type' | 'data'>): string | Data => {
  const names = fieldsOf[type]
  if (names[0] === 'text') return data['text']?.trim() ?? ''
  return Object.fromEntries(names.map((name) => [name, data[name] ?? '']).filter(([, value]) => value !== ''))
}

const isFilled = (data: string | Data) => (typeof data === 'string' ? data !== '' : Object.keys(data).length > 0)

/** A name of the length that the service gives: the drawing of a new code is then as large as it will be. */
const placeholder = 'xxxxxxxx'

/** Returns the address that a code of type `link` has: it counts the scan. */
export const scanAddress = (link: string | undefined): string =>
  link === undefined ? `${service.baseUrl}/qr/${placeholder}/go` : `${link}/go`

/** Returns the text in a code; undefined while its form is empty. */
export const textOf = async (design: Pick<Design, 'type' | 'data'>, link: string | undefined) => {
  const data = dataOf(design)
  if (!isFilled(data)) return undefined
  const { payloadOf } = await import('../../../qr/payload.ts')
  return payloadOf(design.type, data, scanAddress(link))
}
