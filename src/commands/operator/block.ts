import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { BlockEvent, BlockKind } from '../../events/operator/block.ts'
import { type Decider, refuse } from '../decider.ts'

interface Subject {
  readonly kind: z.output<typeof BlockKind>
  /** in the one spelling that it is compared in */
  readonly value: string
}
export type BlockCommand =
  (Subject & { readonly type: 'Block'; readonly reason: string }) | (Subject & { readonly type: 'Unblock' })

/** What is blocked at the moment; `reason` is null while it is not. */
export interface BlockState {
  readonly kind: string
  readonly value: string
  readonly reason: string | null
}

/** Returns the id of the stream of what is blocked. A pattern may have any characters, which a name should not. */
export const blockId = ({ kind, value }: Subject): string =>
  `${kind}-${kind === 'pattern' ? createHash('sha256').update(value).digest('base64url') : value}`

export const block: Decider<BlockCommand, BlockState, BlockEvent> = {
  kind: 'block',
  version: 1,
  id: blockId,
  initialState: { kind: '', value: '', reason: null },
  decide: (command, { reason }) => {
    const { kind, value } = command
    if (command.type === 'Block')
      return reason === command.reason
        ? []
        : [{ type: 'AddressBlocked', data: { kind, value, reason: command.reason } }]
    return reason === null
      ? refuse('not_found', { what: 'block', kind, value })
      : [{ type: 'AddressUnblocked', data: { kind, value } }]
  },
  evolve: (_, { type, data }) => {
    const { kind, value } = data
    return { kind, value, reason: type === 'AddressBlocked' ? data.reason : null }
  },
}
