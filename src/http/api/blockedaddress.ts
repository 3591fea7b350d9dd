import { failField } from './errors.ts'
import type { Services } from './route.ts'

/** Fails with 400 when one of the addresses, by field, is blocked. The message says by which rule, and the operator's reason. */
export const rejectBlocked = (
  fields: Readonly<Record<string, readonly (string | undefined)[]>>,
  { blocks }: Pick<Services, 'blocks'>,
) => {
  for (const [field, addresses] of Object.entries(fields))
    for (const address of addresses) {
      const blocked = address ? blocks.destination(address) : undefined
      if (!blocked) continue
      const why = blocked.reason ? `: ${blocked.reason}` : ''
      failField(field, `must not lead to ${blocked.rule}, which the operator of this service blocks${why}`)
    }
}
