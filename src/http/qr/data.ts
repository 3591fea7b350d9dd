import { z } from 'zod'
import type { QrType } from '../../events/qr/qr.ts'
import { isPayload, type QrData } from '../../qr/payload.ts'
import { email, firstProblem, must, text } from '../../lib/fields.ts'
import { fail } from '../api/errors.ts'
import { url } from '../api/fields.ts'

/** A number is accepted as its digits; `` and null count as not sent. */
const part = (schema: z.ZodType<string>) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value === '' || value === null ? undefined : value),
    schema.optional(),
  )
const needed = (schema: z.ZodType<string>) =>
  part(schema)
    .refine((value) => value !== undefined, 'is required')
    .transform((value) => value ?? '')

const line = (max: number) => text(max).regex(/^\P{Cc}*$/u, 'must be a single line without control characters')
const address = line(254).refine(
  (given) => email.safeParse(given).success,
  'must be an e-mail address, for example ann@example.com',
)
/** RFC 3966: digits, `+`, and the usual separators. */
const phone = line(64).regex(
  /^(?=.*\d)\+?[\d\s().*#/-]{1,63}$/,
  'must be a telephone number, for example +1 555 010 0199',
)

const parts = <S extends z.ZodRawShape>(shape: S) =>
  z.object(shape, must('a string, an object, or an array of objects with name and value'))

/** A QR code knows one kind of WPA: `WPA`. */
const encryption = line(16).regex(/^(?:wpa.*|wep|nopass|none)$/i, 'must be WPA, WEP or nopass')
const isOpen = (encryption: string | undefined) => encryption !== undefined && /^no/i.test(encryption)

const wifi = parts({
  ssid: needed(line(32).refine((ssid) => Buffer.byteLength(ssid) <= 32, 'must be at most 32 bytes long')),
  pass: part(line(128)),
  encryption: part(encryption),
})
  .refine(({ pass, encryption }) => pass !== undefined || encryption === undefined || isOpen(encryption), {
    path: ['pass'],
    error: 'is required with WPA and WEP',
  })
  .transform(({ ssid, pass, encryption = 'WPA' }) =>
    pass === undefined || isOpen(encryption)
      ? { ssid, encryption: 'nopass' }
      : { ssid, pass, encryption: encryption.slice(0, 3).toUpperCase() },
  )

const vcard = parts({
  fname: part(line(255)),
  lname: part(line(255)),
  org: part(line(255)),
  phone: part(line(64)),
  cell: part(line(64)),
  email: part(address),
  site: part(url),
  street: part(text(255)),
  city: part(line(255)),
  state: part(line(255)),
  zip: part(line(32)),
  country: part(line(255)),
}).refine(({ fname, lname }) => fname !== undefined || lname !== undefined, {
  path: ['fname'],
  error: 'or `lname` is required',
})

/** The data of each type. Where that is an object, a string in its place sets the field `main`. */
const shapes: Readonly<Record<QrType, { readonly schema: z.ZodType; readonly main?: string }>> = {
  text: { schema: needed(text(1200)) },
  link: { schema: needed(url) },
  phone: { schema: needed(phone) },
  email: { main: 'email', schema: parts({ email: needed(address), subject: part(line(255)), body: part(text(1200)) }) },
  sms: { main: 'phone', schema: parts({ phone: needed(phone), message: part(text(1200)) }) },
  wifi: { main: 'ssid', schema: wifi },
  vcard: { main: 'fname', schema: vcard },
}

/** A whole payload of the type's standard, as it is. */
const payload = text(1200).regex(/^(?:\P{Cc}*|BEGIN:VCARD[\P{Cc}\r\n\t]*)$/iu, 'must not contain control characters')

const pairs = z.array(z.union([z.tuple([z.string(), z.unknown()]), z.object({ name: z.string(), value: z.unknown() })]))
/** An array of `{name, value}` or of pairs counts as an object. */
const asObject = (value: unknown) => {
  const { data } = pairs.safeParse(value)
  return data ? Object.fromEntries(data.map((pair) => (Array.isArray(pair) ? pair : [pair.name, pair.value]))) : value
}

/** The `data` of a body, as a code of this type keeps it. Fails with 400. */
export const readData = (type: QrType, value: unknown): QrData => {
  const { schema, main } = shapes[type]
  const is = typeof value === 'string' && isPayload(type, value)
  const given = main === undefined || is ? value : typeof value === 'string' ? { [main]: value } : asObject(value)
  const parsed = z.object({ data: is ? payload : schema }).safeParse({ data: given })
  if (!parsed.success) return fail(400, firstProblem(parsed.error))
  const data = parsed.data.data as string | Readonly<Record<string, string | undefined>>
  if (typeof data === 'string') return data
  return Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
