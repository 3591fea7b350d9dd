import type { ClaimKind } from './claim.ts'
import { refuse } from '../decider.ts'

const messages: Readonly<Record<ClaimKind, string>> = {
  alias: 'That alias is taken. Please choose another one.',
  host: '`domain` belongs to another account.',
  qr: 'That alias is taken by another QR code. Please choose another one.',
  slug: '`slug` is taken. Please choose another one.',
  email: '`email` belongs to another account.',
  username: '`username` belongs to another account.',
}

/** Throws `Refused` because a unique name of this kind is taken. */
export const refuseTaken = (kind: ClaimKind): never => refuse('taken', messages[kind], kind)
