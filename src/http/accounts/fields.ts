import { z } from 'zod'
import { Scope } from '../../events/accounts/scope.ts'
import { expiry, must, says, text } from '../../lib/fields.ts'
import { isNetwork } from '../../lib/networks.ts'

const scopes = z
  .array(
    z.enum(Scope.options, says('not_one_of', { what: 'some', values: Scope.options.join(', ') })),
    must('wrong_type', { what: 'scopes' }),
  )
  .min(1, says('too_few', { what: 'one_of', values: Scope.options.join(', ') }))
  .transform((all) => Scope.options.filter((scope) => all.includes(scope)))

const address = z
  .string(must('wrong_type', { what: 'network' }))
  .trim()
  .toLowerCase()
  .refine(isNetwork, says('wrong_form', { what: 'network' }))
/** A list, as it is stored: separated by spaces; null for an empty one, which allows any address. */
const addresses = z
  .array(address, must('wrong_type', { what: 'networks' }))
  .max(50, says('too_many', { max: 50 }))
  .nullable()
  .transform((all) => (all === null || all.length === 0 ? null : [...new Set(all)].join(' ')))

const name = text(255).refine((word) => word.trim() !== '', says('empty'))
/** The fields of an API key, as they are sent. */
export const keyFields = { name, scopes, expires: expiry.optional(), addresses: addresses.optional() }
