import { failField } from '../errors.ts'

/** The fields that were sent, and what the route understands of them. */
type Sent = readonly [given: unknown, read: unknown]

/** Any spelling: `dry-run`, `dry run`, `dryRun[]`. */
const isDryRun = /^[^a-z]*dry[^a-z]*run(?![a-z])/i

/** Fails with 400 for a dry run that a route does not have: a client would believe that nothing is stored. */
export const refuseUnknownDryRun = (...sent: readonly Sent[]): void => {
  for (const [given, read] of sent) {
    if (typeof given !== 'object' || given === null) continue
    const name = Object.keys(given).find((field) => isDryRun.test(field))
    if (name === undefined || (typeof read === 'object' && read !== null && Object.hasOwn(read, name))) continue
    failField(name.slice(0, 64), 'not_supported', { what: 'condition' })
  }
}
