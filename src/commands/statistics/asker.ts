import { createHash } from 'node:crypto'
import type { Account } from '../accounts/state.ts'
import type { Actor } from '../../events/event.ts'
import { allows } from '../../events/accounts/scope.ts'
import { account as accounts } from '../accounts/account.ts'
import { refuse } from '../decider.ts'
import type { Load } from '../load.ts'

/** Who has asked for a reclassification in the background: by a session, the one of `account`. */
export interface Asker extends Actor {
  readonly account?: number
  /** missing in jobs of an older release */
  readonly session?: number | undefined
  /** tells the password of then; empty since the session was thrown out */
  readonly password?: string
}

const markOf = ({ password }: Account) =>
  createHash('sha256')
    .update(password ?? '')
    .digest('hex')

/** Returns who asks by a session of an account. */
export const askerBySession = async (load: Load, account: number, actor: Asker): Promise<Asker> => {
  const { state } = await load(accounts, account)
  return { ...actor, account, password: markOf(state) }
}

const requireKey = ({ keys }: Account['keys'], asked: string | undefined) => {
  const key = keys.find((one) => one.key === asked)
  const isOver = key?.expires && key.expires <= new Date().toISOString()
  if (!key || isOver || !allows(key.scopes, 'account')) refuse('key_ended')
}

/**
 * Throws `Refused` when the key that has asked for a job has ended since, or has lost the right to. The job of a
 * session goes on when that signs out, but not when the owner or the operator has thrown it out.
 */
export const requireAsker = async (load: Load, asker: Asker | undefined, own: number): Promise<void> => {
  const { kind, key, password, account = kind === 'key' ? own : undefined } = asker ?? refuse('key_ended')
  // of an earlier release
  if (account === undefined) return
  const { state } = await load(accounts, account)
  if (kind === 'key') return requireKey(state.keys, key)
  if (kind === 'operator' && !(state.operator && state.status === 'active')) refuse('lacks_scope', { what: 'operator' })
  if (password !== markOf(state)) refuse('key_ended', { what: 'session' })
}
