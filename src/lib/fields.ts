import { z } from 'zod'
import { isStorable } from './storable.ts'
import { normalized } from './strangers.ts'
import { spellingsOf } from './url.ts'
import { problem, type Problem, type ProblemCode, type Rest } from './problems/problem.ts'

/** Returns `YYYY-MM-DD HH:MM:SS` in UTC, the form of every timestamp in requests and responses. */
export const timestamp = (date: Date | string) => new Date(date).toISOString().slice(0, 19).replace('T', ' ')

/** Returns a problem as an issue of a schema carries it: issues have room for a text only, which is JSON here. */
export const carry = (given: Problem): string => JSON.stringify(given)
export const says = <C extends ProblemCode>(code: C, ...rest: Rest<C>): string => carry(problem(code, ...rest))

/** Returns a problem with a field as an issue. */
export const issueOf = (given: Problem) => ({
  code: 'custom' as const,
  path: given.field === undefined ? [] : [given.field],
  message: carry(given),
})

/** Returns an error option for a schema: `required` for a missing value, else the given problem. */
export const must = <C extends ProblemCode>(code: C, ...rest: Rest<C>) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? says('required') : says(code, ...rest)),
})

/** Returns the error option of a check behind which no other is made: a long text must not reach what comes next. */
export const orStop = (message: string) => ({ error: message, abort: true })

const isDay = (text: string) => {
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

const moment =
  /^(\d{4}-\d\d-\d\d)(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/i

/**
 * The first and the last second that four digits of a year can name: PostgreSQL does not know the year 0, nor how
 * JavaScript writes the year 10,000.
 */
export const [firstMoment, lastMoment] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59Z')]
/** Whether four digits name the year of a date. */
export const isWithinYears = (date: Date) => date >= firstMoment && date <= lastMoment

/**
 * Parses a date and time, with a space or a T between them, with or without seconds and an offset (ISO 8601; UTC when
 * there is none), or a day with `timeOfDay` added. Returns undefined for anything else, also outside of the years 1 to
 * 9999.
 */
export const parseMoment = (text: string, timeOfDay: string) => {
  const [, day, time, seconds = ':00', offset = 'Z'] = moment.exec(text) ?? []
  if (!day || !isDay(day)) return undefined
  if (time === undefined) {
    // the last day of all ends a second early
    const found = new Date(Math.min(new Date(`${day}T${timeOfDay}Z`).getTime(), lastMoment.getTime()))
    return isWithinYears(found) ? found : undefined
  }
  const found = new Date(`${day}T${time}${seconds}${offset.toUpperCase().replace(/^(.\d\d)(\d\d)$/, '$1:$2')}`)
  // whole seconds, as all timestamps: what is read back equals what was sent
  const whole = new Date(Math.floor(found.getTime() / 1000) * 1000)
  return isWithinYears(whole) ? whole : undefined
}

/** What `parseMoment` accepts; `` and null mean none. Outputs ISO 8601. */
const momentOrNone = (timeOfDay: string) =>
  z
    .string(must('wrong_form', { what: 'moment' }))
    .nullable()
    .transform((given, context) => {
      const text = given?.trim() ?? ''
      if (text === '') return null
      const found = parseMoment(text, timeOfDay)
      if (found) return found.toISOString()
      context.addIssue(says('wrong_form', { what: 'moment' }))
      return z.NEVER
    })
/** A day means its end. */
export const expiry = momentOrNone('23:59:59')
/** A day means its beginning. */
export const starts = momentOrNone('00:00:00')

export const notStorable = says('forbidden_characters')

/** A string that every event store keeps unchanged, with the spaces that it begins and ends with. */
export const verbatim = (max: number) =>
  z
    .string(must('wrong_type', { what: 'string' }))
    .max(max, orStop(says('too_long', { max })))
    .refine(isStorable, orStop(notStorable))
/** The same without them: a text that was copied often has a space or a line end too much. */
export const text = (max: number) => verbatim(max).trim()

// invisible characters would make one address look like another, and control characters move the cursor of an
// operator's terminal
const emailShape = /^(?!.*[\p{Cc}\p{Cf}])[^\s@<>()[\]\\,;:"]+@[^\s@.<>()[\]\\,;:"]+(\.[^\s@.<>()[\]\\,;:"]+)+$/u
/** An e-mail address, stored and compared in lower case. */
export const email = text(254)
  .transform((address) => address.trim().toLowerCase())
  .refine((address) => emailShape.test(address), orStop(says('wrong_form', { what: 'email' })))

/**
 * Whether an address is spelled as a mail server reads it: `ｖictim.example` is the same host as `victim.example`, and
 * would be another address to every limit. A host outside ASCII has two spellings (UTS 46).
 */
const isOneSpelling = (address: string): boolean => {
  const [name = '', host = ''] = address.split('@')
  return name === normalized('email', 'NFC', name) && spellingsOf(host).includes(host)
}

/** An e-mail address that an account gets. */
export const ownEmail = email.refine(isOneSpelling, says('wrong_form', { what: 'email' }))

/** Returns the problem that an issue carries, undefined for one of zod's own texts. */
export const carried = (text: string): Problem | undefined =>
  text.startsWith('{') ? (JSON.parse(text) as Problem) : undefined

/** Returns what is wrong with the first invalid field. */
export const firstProblem = ({ issues }: z.ZodError): Problem => {
  const [issue] = issues
  const inUnion = issue?.code === 'invalid_union' ? issue.errors.at(-1)?.[0] : undefined
  const nested = inUnion && carried(inUnion.message)
  const found = nested ?? carried(issue?.message ?? '')
  const path = [...(issue?.path ?? []), ...(nested ? inUnion.path : [])].map(String).join('.')
  if (path === '') return found ?? problem('bad_request', { what: 'invalid' })
  return found ? { ...found, field: path } : problem('not_valid', { field: path })
}
