import type { Blocks } from '../../cache/blocks.ts'
import { failField } from './errors.ts'

export interface Blocking {
  readonly blocks: Blocks
}

/**
 * Fails with 400 when one of the addresses, by field, is blocked. The message says by which rule, and the operator's
 * reason.
 */
export const rejectBlocked = (
  fields: Readonly<Record<string, readonly (string | undefined)[]>>,
  { blocks }: Blocking,
) => {
  for (const [field, addresses] of Object.entries(fields))
    for (const address of addresses) {
      const blocked = address ? blocks.destination(address) : undefined
      if (!blocked) continue
      const { rule, reason } = blocked
      failField(field, 'blocked', reason ? { what: 'reason', rule, reason } : { rule })
    }
}

/** Fails with 400 when something was blocked at a short address. `site` is that of its branded domain. */
export const rejectBlockedAlias = (
  field: string,
  { site, alias }: { readonly site: string | undefined; readonly alias: string },
  { blocks }: Blocking,
) => {
  if (blocks.address(site, alias)) failField(field, 'blocked', { what: 'host' })
}
