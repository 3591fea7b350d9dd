import { isRefused, refuse } from '../decider.ts'
import type { ClaimKind } from './claim.ts'

/** Names that are in one field wherever they are chosen. */
const fields: Readonly<Partial<Record<ClaimKind, string>>> = {
  host: 'domain',
  slug: 'slug',
  email: 'email',
  username: 'username',
}

/**
 * Throws `Refused` because a unique name of this kind is taken. An alias is in the field that the resource has it in.
 */
export const refuseTaken = (kind: ClaimKind, field: string | undefined = fields[kind]): never =>
  refuse('taken', { what: kind, field })

/** Whether an error says that a name of this kind is taken. */
export const isTaken = (error: unknown, kind: ClaimKind): boolean => isRefused(error, 'taken') && error.what === kind
