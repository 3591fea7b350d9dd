import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { BlockEvent, BlockKind } from '../../events/operator/block.ts'
import { hostKey } from '../../lib/blocklist.ts'
import { type Decider, refuse } from '../decider.ts'
import { aliasKey } from '../../lib/short/alias.ts'

interface Subject {
  readonly kind: z.output<typeof BlockKind>
  /** in the one spelling that it is compared in */
  readonly value: string
}
interface Block extends Subject {
  readonly type: 'Block'
  readonly reason: string
  /** what `blockedAddress` returns for each that a link or a bio page has and had */
  readonly addresses?: readonly string[]
}
export type BlockCommand = Block | (Subject & { readonly type: 'Unblock' })

/** What is blocked at the moment; `reason` is null while it is not. */
export interface BlockState {
  readonly kind: string
  readonly value: string
  readonly reason: string | null
  readonly addresses: readonly string[]
}

/**
 * Returns a short address in the spelling that it is blocked in. `site` is the address of its branded domain, undefined
 * on the service's own host: the host stays the same when its owner adds the domain again.
 */
export const blockedAddress = (site: string | undefined, alias: string): string =>
  site === undefined ? `/${aliasKey(alias)}` : blockedOn(new URL(site).hostname, alias)

/** Returns the same of a host, as a `Host` header or a URL has it, without its port. */
export const blockedOn = (host: string, alias: string): string => `${hostKey(host.toLowerCase())}/${aliasKey(alias)}`

/** Returns the id of the stream of what is blocked. A pattern may have any characters, which a name should not. */
export const blockId = ({ kind, value }: Subject): string =>
  `${kind}-${kind === 'pattern' ? createHash('sha256').update(value).digest('base64url') : value}`

const nothingBlocked: BlockState = { kind: '', value: '', reason: null, addresses: [] }

export const block: Decider<BlockCommand, BlockState, BlockEvent> = {
  kind: 'block',
  version: 2,
  id: blockId,
  initialState: nothingBlocked,
  decide: (command, state) => {
    const { kind, value } = command
    if (command.type === 'Block') {
      const { reason, addresses = [] } = command
      const isBlocked = reason === state.reason && addresses.every((address) => state.addresses.includes(address))
      if (isBlocked) return []
      return [
        {
          type: 'AddressBlocked',
          data: { kind, value, reason, ...(addresses.length > 0 && { addresses: [...addresses] }) },
        },
      ]
    }
    return state.reason === null
      ? refuse('not_found', { what: 'block', kind, value })
      : [{ type: 'AddressUnblocked', data: { kind, value } }]
  },
  evolve: (_, { type, data }) => {
    const { kind, value } = data
    if (type === 'AddressUnblocked') return { ...nothingBlocked, kind, value }
    return { kind, value, reason: data.reason, addresses: data.addresses ?? [] }
  },
}
