import { failField } from './api/errors.ts'
import type { Services } from './api/route.ts'

/** Fails with 400 when one of the addresses, by field, leads to the service itself or to a branded domain: redirects could loop. */
export const rejectOwnAddresses = (
  fields: Readonly<Record<string, readonly (string | undefined)[]>>,
  { isOurHost }: Pick<Services, 'isOurHost'>,
) => {
  for (const [field, addresses] of Object.entries(fields))
    for (const address of addresses)
      if (address && isOurHost(new URL(address).hostname))
        failField(field, "must not lead to one of this service's own addresses")
}
