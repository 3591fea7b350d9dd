import { z } from 'zod'
import { countryCode } from '../../clicks/visitor/country.ts'
import { must, says } from '../../lib/fields.ts'

const unique = <T>(items: readonly T[]) => [...new Set(items)]
const agents = z
  .array(
    z
      .string(must('wrong_type', { what: 'string' }))
      .trim()
      .toLowerCase()
      .regex(/^[a-z][a-z _-]{1,63}$/, says('wrong_form', { what: 'agent' })),
    must('wrong_type', { what: 'strings' }),
  )
  .max(50, says('too_many', { max: 50 }))
  .transform(unique)
const countries = z
  .array(
    z.string(must('wrong_type', { what: 'string' })).transform((name, context) => {
      const code = countryCode(name)
      if (code !== undefined) return code
      context.addIssue(says('wrong_form', { what: 'country' }))
      return z.NEVER
    }),
    must('wrong_type', { what: 'strings' }),
  )
  .max(250, says('too_many', { max: 250 }))
  .transform(unique)
const anHour = says('out_of_range', { what: 'number', min: 0, max: 23 })
const hours = z
  .array(
    z
      .int(must('wrong_type', { what: 'whole' }))
      .min(0, anHour)
      .max(23, anHour),
    must('wrong_type', { what: 'numbers' }),
  )
  .max(24, says('too_many', { max: 24 }))
  .transform(unique)
const visitors = z
  .array(
    z.string(must('wrong_type', { what: 'string' })).regex(/^[\da-f]{16}$/, says('wrong_form', { what: 'visitor' })),
    must('wrong_type', { what: 'strings' }),
  )
  .max(500, says('too_many', { max: 500 }))
  .transform(unique)

/** What an account's own rules leave out; a field that is not sent stays as it is. */
export const ExclusionsBody = z.object({ agents, countries, hours, visitors }).partial()
