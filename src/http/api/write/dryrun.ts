import { failField } from '../errors.ts'

/**
 * Fails with 400 for a dry run that a route does not have: a client would believe that nothing is stored. `read` is what
 * the route understands of the fields that were `given`.
 */
export const refuseUnknownDryRun = (given: unknown, read: unknown): void => {
  if (typeof given !== 'object' || given === null) return
  const name = Object.keys(given).find((field) => /^dry[-_]?run$/i.test(field))
  if (name === undefined || (typeof read === 'object' && read !== null && Object.hasOwn(read, name))) return
  failField(name, 'not_supported', { what: 'condition' })
}
