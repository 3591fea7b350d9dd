import type { Context } from 'koa'
import { z } from 'zod'
import { aliasPattern } from '../../commands/links/alias.ts'
import { carry, must, parseMoment, says, text } from '../../lib/fields.ts'
import { safeDestination } from '../../lib/schemes.ts'
import { type SafeUrl, safeTargetUrl, withoutEnd } from '../../lib/url.ts'

/** The name of a resource. */
export const name = text(255).min(1, says('empty'))

const aliasText = z
  .string(must('wrong_type', { what: 'string' }))
  .nullable()
  .transform((input) => input?.trim() || undefined)
const aliasBy = (fits: (text: string) => boolean) =>
  aliasText.refine((text) => text === undefined || fits(text), says('wrong_form', { what: 'alias' }))
/**
 * An alias that a user chose; `` and null mean none. The decider refuses reserved words, which the resource may have
 * already.
 */
export const alias = aliasBy((text) => aliasPattern.test(text))
/** The same of a link: what else it may be depends on its domain. */
export const linkAlias = aliasBy((text) => !text.startsWith('/'))

/**
 * `#rgb` or `#rrggbb` (CSS Color 4, 5.2), with or without the hash; stored as `#rrggbb` in the letter case that was
 * sent.
 */
export const colorAsSent = z.string(must('wrong_type', { what: 'string' })).transform((input, context) => {
  const digits = /^#?([\da-f]{3}|[\da-f]{6})$/i.exec(input.trim())?.[1]
  if (digits) return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`
  context.addIssue(says('wrong_form', { what: 'color' }))
  return z.NEVER
})
/** The same in lower case. */
export const color = colorAsSent.transform((hex) => hex.toLowerCase())

/** Invisible characters at either end of a copied address. */
const isUnseen = /[\s\u200b\u2060]/u
const trimmedUrl = (input: string) => withoutEnd(input, isUnseen).replace(/^[\s\u200b\u2060]+/, '')

const addressBy = (check: (input: string) => SafeUrl) =>
  z.string(must('wrong_type', { what: 'string' })).transform((input, context) => {
    const safe = check(trimmedUrl(input))
    if (safe.ok) return safe
    context.addIssue(carry(safe.problem))
    return z.NEVER
  })
/** A web address, as it is redirected to (`url`) and as the client sent it (`entered`). */
export const urlAsSent = addressBy(safeTargetUrl)
/** The same, or an address that another program opens: `rejectSchemes` says whether the service allows its scheme. */
export const destinationAsSent = addressBy(safeDestination)
export const destination = destinationAsSent.transform((safe) => safe.url)
/** A web address, as it is stored and redirected to. */
export const url = urlAsSent.transform((safe) => safe.url)

export const flag = z.boolean(must('wrong_type', { what: 'boolean' }))
/** The same in a query; an empty value means false. */
export const truthText = z
  .enum(['true', 'false'], must('wrong_type', { what: 'boolean' }))
  .optional()
  .transform((given) => given === 'true')

/** `` and null clear the field. */
export const orEmpty = <T extends z.ZodType<string>>(schema: T) =>
  z.union([z.literal(''), z.null().transform(() => ''), schema])

/** `` and null mean null. */
export const orNone = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable())

/** `` and null reset the field to its initial value. */
export const orInitial = <T extends z.ZodType>(schema: T, initial: z.output<T>) =>
  orNone(schema).transform((value) => value ?? initial)

/** Parses an id: whole, without sign, leading zero or exponent. Returns undefined for anything else. */
export const parseId = (text: string | undefined) => {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined
  return id !== undefined && Number.isSafeInteger(id) ? id : undefined
}

/** An id in a body, as a number or a string of digits. */
export const bodyId = z.union(
  [
    z.int().positive(says('wrong_type', { what: 'id' })),
    z
      .string()
      .regex(/^[1-9]\d{0,15}$/)
      .transform(Number),
  ],
  says('wrong_type', { what: 'id' }),
)

/** An id in a path. A malformed id becomes 0, which never exists, so that it gets the response of an unknown id. */
export const pathId = z.string().transform((text) => parseId(text) ?? 0)
export const byId = z.object({ id: pathId })

/** A query is text; the API reference shows the type of its values. */
const whole = { type: 'integer', minimum: 1 } as const

const count = (initial: number, max: number) =>
  z
    .string()
    .optional()
    .transform((text) => {
      const n = text !== undefined && /^\d+$/.test(text) ? Number(text) : 0
      return n < 1 ? initial : Math.min(n, max)
    })
    .meta(whole)

/** An id to filter a list by. An invalid one is an error: a client would take the whole list for the requested part. */
export const filterId = z
  .string()
  .optional()
  .transform((text, context) => {
    const id = parseId(text)
    if (text === undefined || id !== undefined) return id
    context.addIssue(says('wrong_type', { what: 'list_id' }))
    return z.NEVER
  })
  .meta(whole)

/** The number of requested rows. */
export const limitUpTo = (max: number) => count(15, max)

/** The query of a list: `limit` and `page`. A malformed number counts as not sent, a large one is clamped. */
export const pagination = z.object({ limit: limitUpTo(1000), page: count(1, 1_000_000_000) })

/** A time, or a day with `timeOfDay`; `` counts as missing. */
export const moment = (timeOfDay: string) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      if (!text) return undefined
      const found = parseMoment(text, timeOfDay)
      if (found) return found
      context.addIssue(says('wrong_form', { what: 'moment' }))
      return z.NEVER
    })

/** Returns the parameters as they are in the path: an id that was percent-encoded is not an id. */
export const rawParams = (ctx: Context) => {
  const { params = {}, captures = [] } = ctx as unknown as { params?: object; captures?: readonly string[] }
  return Object.fromEntries(Object.keys(params).map((name, i) => [name, captures[i]]))
}
