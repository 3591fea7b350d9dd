import { appSchemes, isWeb, schemeOf } from '../../lib/schemes.ts'
import { failField } from '../api/errors.ts'

export interface Schemes {
  /** what the operator allows besides the usual schemes, in lower case */
  readonly allowedSchemes: readonly string[]
}

/** Fails with 400 when one of the addresses, by field, has a scheme that the service does not lead to. */
export const rejectSchemes = (
  fields: Readonly<Record<string, readonly (string | undefined)[]>>,
  { allowedSchemes }: Schemes,
) => {
  const allowed = [...appSchemes, ...allowedSchemes]
  for (const [field, addresses] of Object.entries(fields))
    for (const address of addresses)
      if (address && !isWeb(address) && !allowed.includes(schemeOf(address)))
        failField(field, 'wrong_address', { what: 'scheme', values: ['https', 'http', ...allowed].join(', ') })
}
