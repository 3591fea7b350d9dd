import { z } from 'zod'
import type { QrType } from '../../events/qr/qr.ts'
import { isPayload, type QrData } from '../../qr/payload.ts'
import { email, firstProblem, must, orStop, says, text, verbatim } from '../../lib/fields.ts'
import { Failure } from '../api/errors.ts'
import { url } from '../api/fields.ts'

/** A number is accepted as its digits; `` and null count as not sent. */
const part = (schema: z.ZodType<string>) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value === '' || value === null ? undefined : value),
    schema.optional(),
  )
const needed = (schema: z.ZodType<string>) =>
  part(schema)
    .refine((value) => value !== undefined, says('required'))
    .transform((value) => value ?? '')

const noBreak = [/^\P{Cc}*$/u, orStop(says('forbidden_characters', { what: 'line' }))] as const
const line = (max: number) => text(max).regex(...noBreak)
/** A space may belong to it. */
const exactLine = (max: number) => verbatim(max).regex(...noBreak)
const address = line(254).refine((given) => email.safeParse(given).success, says('wrong_form', { what: 'email' }))
/** RFC 3966: digits, `+`, and the usual separators. */
const phone = line(64).regex(/^(?=.*\d)\+?[\d\s().*#/-]{1,63}$/, says('wrong_form', { what: 'phone' }))

const parts = <S extends z.ZodRawShape>(shape: S) => z.object(shape, must('wrong_type', { what: 'data' }))

/** A QR code knows one kind of WPA: `WPA`. */
const encryption = line(16).regex(/^(?:wpa.*|wep|nopass|none)$/i, says('not_one_of', { what: 'encryption' }))
const isOpen = (encryption: string | undefined) => encryption !== undefined && /^no/i.test(encryption)

/** Whether a network does not say its name: a phone then asks for it. */
const hidden = z.preprocess(
  (value) =>
    value === '' || value === null
      ? false
      : typeof value === 'string'
        ? value.toLowerCase() === 'true' || value
        : value,
  z.boolean(must('wrong_type', { what: 'boolean' })),
)
const wifi = parts({
  ssid: needed(
    exactLine(32).refine((ssid) => Buffer.byteLength(ssid) <= 32, says('too_long', { what: 'bytes', max: 32 })),
  ),
  pass: part(exactLine(128)),
  encryption: part(encryption),
  hidden: hidden.optional(),
})
  .refine(({ pass, encryption }) => pass !== undefined || encryption === undefined || isOpen(encryption), {
    path: ['pass'],
    error: says('required_here', { what: 'encryption' }),
  })
  .transform(({ ssid, pass, encryption = 'WPA', hidden: isHidden }) => ({
    ...(pass === undefined || isOpen(encryption)
      ? { ssid, encryption: 'nopass' }
      : { ssid, pass, encryption: encryption.slice(0, 3).toUpperCase() }),
    ...(isHidden && { hidden: 'true' }),
  }))

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
  error: says('required_here', { what: 'fname_or_lname' }),
})

/** The data of each type. Where that is an object, a string in its place sets the field `main`. */
const shapes: Readonly<Record<QrType, { readonly schema: z.ZodType; readonly main?: string }>> = {
  text: { schema: needed(verbatim(1200)) },
  link: { schema: needed(url) },
  phone: { schema: needed(phone) },
  email: {
    main: 'email',
    schema: parts({ email: needed(address), subject: part(line(255)), body: part(verbatim(1200)) }),
  },
  sms: { main: 'phone', schema: parts({ phone: needed(phone), message: part(verbatim(1200)) }) },
  wifi: { main: 'ssid', schema: wifi },
  vcard: { main: 'fname', schema: vcard },
}

/** A whole payload of the type's standard, as it is. */
const payload = verbatim(1200).regex(
  /^(?:\P{Cc}*|BEGIN:VCARD[\P{Cc}\r\n\t]*)$/iu,
  says('forbidden_characters', { what: 'control' }),
)

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
  if (!parsed.success) throw new Failure(400, firstProblem(parsed.error))
  const data = parsed.data.data as string | Readonly<Record<string, string | undefined>>
  if (typeof data === 'string') return data
  return Object.fromEntries(Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
