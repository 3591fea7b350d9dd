import { z } from 'zod'
import type { Listed, Page } from '../../queries/page.ts'
import { aliasProblem } from '../../commands/alias.ts'
import { safeTargetUrl } from '../../lib/url.ts'

/** `YYYY-MM-DD HH:MM:SS`, UTC: how every timestamp is given. */
export const timestamp = (date: Date | string) => new Date(date).toISOString().slice(0, 19).replace('T', ' ')

const isDay = (text: string) => {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** What a field must be, or that it is missing. */
export const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : `must be ${what}`),
})

/** The moment that `YYYY-MM-DD HH:MM:SS` or, with the time of day that is missing, `YYYY-MM-DD` names; UTC. */
export const moment = (text: string, timeOfDay: string) => {
  const [, day, time = timeOfDay] = /^(\d{4}-\d\d-\d\d)(?: ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d))?$/.exec(text) ?? []
  return day && isDay(day) ? new Date(`${day}T${time}Z`) : undefined
}

/** `YYYY-MM-DD HH:MM:SS` or `YYYY-MM-DD` (the end of that day), UTC; `` and null are none. Gives ISO 8601. */
export const expiry = z
  .string(must('a timestamp like 2030-01-31 18:00:00'))
  .nullable()
  .transform((text, context) => {
    if (text === null || text === '') return null
    const found = moment(text, '23:59:59')
    if (found) return found.toISOString()
    context.addIssue('must be a timestamp like 2030-01-31 18:00:00, or a day like 2030-01-31')
    return z.NEVER
  })

const storable = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Text that any engine keeps as it is. */
export const text = (max: number) =>
  z
    .string(must('a text'))
    .max(max, `must have at most ${max.toLocaleString('en')} characters`)
    .refine(storable, 'must not contain NUL characters or lone surrogates')

/** What a thing is called. */
export const name = text(255).min(1, 'must not be empty')

/** An alias that a user chose; `` and null are none. */
export const alias = z
  .string(must('a text'))
  .nullable()
  .transform((input) => input || undefined)
  .superRefine((input, context) => {
    const problem = input === undefined ? undefined : aliasProblem(input)
    if (problem) context.addIssue(problem)
  })

/** `#rgb` or `#rrggbb` (CSS Color 4, 5.2), with or without the hash; stored as `#rrggbb` in lower case. */
export const color = z.string(must('a text')).transform((input, context) => {
  const digits = /^#?([\da-f]{3}|[\da-f]{6})$/i.exec(input)?.[1]?.toLowerCase()
  if (digits) return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`
  context.addIssue('must be a HEX colour like #1d4ed8 or #fff')
  return z.NEVER
})

/** A web address, as it will be stored and sent. */
export const url = z.string(must('a text')).transform((input, context) => {
  const safe = safeTargetUrl(input)
  if (safe.ok) return safe.url
  context.addIssue(safe.problem)
  return z.NEVER
})

/** `` and null clear a field. */
export const orEmpty = <T extends z.ZodType<string>>(schema: T) =>
  z.union([z.literal(''), z.null().transform(() => ''), schema])

/** `` and null are null. */
export const orNone = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable())

/** `` and null set a field back to what it is when it is not sent. */
export const orInitial = <T extends z.ZodType>(schema: T, initial: z.output<T>) =>
  orNone(schema).transform((value) => value ?? initial)

/** An id in a body, as a number or as digits. */
export const bodyId = z.union(
  [
    z.int().positive(),
    z
      .string()
      .regex(/^[1-9]\d{0,15}$/)
      .transform(Number),
  ],
  'must be an id',
)

/** An id in a path: whole, without sign, leading zero or exponent. */
export const pathId = (text: string | undefined) => {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
  return id !== undefined && Number.isSafeInteger(id) ? id : undefined
}

const counting = (text: string | undefined, otherwise: number, max: number) => {
  const n = text !== undefined && /^\d+$/.test(text) ? Number(text) : 0
  return n < 1 ? otherwise : Math.min(n, max)
}

/** `limit` 15, at most 1,000, and `page` 1; whatever cannot be read counts as not sent. */
export const page = (query: Readonly<Record<string, string>>): Page => ({
  limit: counting(query['limit'], 15, 1000),
  page: counting(query['page'], 1, 1_000_000_000),
})

/** The envelope of every list. Here `error` is a string. */
export const list = <R>(
  name: string,
  { limit, page: current }: Page,
  { rows, total }: Listed<R>,
  present: (row: R) => object,
) => {
  const maxpage = Math.max(1, Math.ceil(total / limit))
  return {
    error: '0',
    data: {
      result: total,
      perpage: limit,
      currentpage: current,
      nextpage: Math.min(current + 1, maxpage),
      maxpage,
      [name]: rows.map(present),
    },
  }
}

/** One sentence that names the first field that is wrong, and what would be right. */
export const firstProblem = ({ issues }: z.ZodError): string => {
  const [issue] = issues
  if (!issue) return 'The request is not valid.'
  const nested = issue.code === 'invalid_union' ? issue.errors.at(-1)?.[0] : undefined
  const path = [...issue.path, ...(nested?.path ?? [])].map(String).join('.')
  const message = nested?.message ?? issue.message
  return path ? `${path}: ${message}.` : `${message}.`
}
