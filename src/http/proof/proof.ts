import { z } from 'zod'
import { isOrdinal, type Ordinals, parseClickId } from '../../events/ordinals.ts'
import type { Proofs, Receipt } from '../../events/proof/receipt.ts'
import { refuse } from '../../commands/decider.ts'
import { timestamp } from '../../lib/fields.ts'
import type { Reader } from '../../queries/reader.ts'
import { fail } from '../api/errors.ts'
import { endpoint, type Route } from '../api/route.ts'
import { asSent } from '../streams/publicevent.ts'
import { proofContract } from './contract.ts'

/** What proofs are made of. */
export interface ProofServices {
  readonly ordinals: Ordinals
  readonly proofs: Proofs
}

type Proved = 'event' | 'click'

const signed = <R extends Receipt>(what: Proved, found: R | 'unsigned' | undefined): R => {
  if (found === undefined) return refuse('not_found', { what })
  if (found === 'unsigned') return fail(409, 'not_signed_yet', { what }, { 'Retry-After': '60' })
  return found
}

// what cannot be an id is one that never exists
const ordinal = z.string().transform((text) => (/^\d{1,15}$/.test(text) && isOrdinal(Number(text)) ? Number(text) : -1))
const clickId = z.string().transform((text) => (parseClickId(text) ? text : ''))

/** Throws unless the event was in the log at the requested moment. */
const requireStored = async (
  what: Proved,
  event: number | undefined,
  { upTo, clicksUpTo }: Reader,
  ordinals: Ordinals,
) => {
  if (clicksUpTo === undefined || event === undefined) return
  const last = what === 'click' ? clicksUpTo : upTo
  const position = await ordinals.positionOf(event)
  if (position === undefined || last === undefined || position > last) refuse('not_found', { what })
}

export const proofRoutes = ({ ordinals, proofs }: ProofServices): readonly Route[] => [
  endpoint(proofContract, 'GET /api/proof', {
    scope: 'read',
    nowOnly: 'proof',
    run: async () => {
      const { key, events, checkpoint, verified } = await proofs.state()
      return {
        key,
        events,
        checkpoint: checkpoint ? { ...checkpoint, at: timestamp(checkpoint.at) } : null,
        verified: verified ? { ...verified, at: timestamp(verified.at) } : null,
      }
    },
  }),
  endpoint(proofContract, 'GET /api/events/:event/proof', {
    scope: 'read',
    params: z.object({ event: ordinal }),
    run: async ({ account, params, may, reader }) => {
      await requireStored('event', params.event, reader, ordinals)
      // a receipt shows as much as the stream of events does
      const scopes = { read: true, account: may('account'), never: false, unknown: false }
      const found = await proofs.ofEvent(
        params.event,
        (event) => event.metadata.account === account && scopes[asSent.shownTo(event)],
      )
      return signed('event', found)
    },
  }),
  endpoint(proofContract, 'GET /api/clicks/:id/proof', {
    scope: 'read',
    params: z.object({ id: clickId }),
    run: async ({ account, params, reader }) => {
      await requireStored('click', parseClickId(params.id)?.ordinal, reader, ordinals)
      return signed('click', await proofs.ofClick(params.id, account))
    },
  }),
]
