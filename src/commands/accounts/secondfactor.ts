import type { Event } from '../../events/index.ts'
import { refuse } from '../decider.ts'

/**
 * What a sign-in needs besides the password: a code of an authenticator app, or a recovery code, each of which works
 * once.
 */
export interface SecondFactor {
  /** in base32; `unreadable` when its key is lost, and then no code is right */
  readonly secret: string
  /** keyed hashes of the codes that are left */
  readonly recovery: readonly string[]
}

export type SecondFactorCommand =
  | {
      readonly type: 'AddSecondFactor'
      readonly id: number
      readonly secret: string
      readonly recovery: readonly string[]
    }
  | { readonly type: 'UseRecoveryCode'; readonly id: number; readonly hash: string }
  | { readonly type: 'RemoveSecondFactor'; readonly id: number }

type SecondFactorEvent = Event<'SecondFactorAdded' | 'RecoveryCodeUsed' | 'SecondFactorRemoved'>

/** Returns the events of a command on the second factor of an account that exists. Throws `Refused`. */
export const decideSecondFactor = (
  command: SecondFactorCommand,
  state: SecondFactor | null,
): readonly SecondFactorEvent[] => {
  const { id } = command
  switch (command.type) {
    case 'AddSecondFactor': {
      const { secret, recovery } = command
      const recoveryHashes = recovery.join(' ')
      if (state?.secret === secret && state.recovery.join(' ') === recoveryHashes) return []
      return [{ type: 'SecondFactorAdded', data: { id, secret, recoveryHashes } }]
    }
    case 'UseRecoveryCode':
      return state?.recovery.includes(command.hash)
        ? [{ type: 'RecoveryCodeUsed', data: { id, hash: command.hash } }]
        : refuse('wrong_code', { what: 'recovery' })
    case 'RemoveSecondFactor':
      return state ? [{ type: 'SecondFactorRemoved', data: { id } }] : []
  }
}

/** Returns the second factor of an account after an event. */
export const evolveSecondFactor = (
  state: SecondFactor | null,
  { type, data }: SecondFactorEvent,
): SecondFactor | null => {
  switch (type) {
    case 'SecondFactorAdded':
      return { secret: data.secret ?? '', recovery: (data.recoveryHashes ?? '').split(' ').filter(Boolean) }
    case 'RecoveryCodeUsed':
      return state && { ...state, recovery: state.recovery.filter((hash) => hash !== data.hash) }
    case 'SecondFactorRemoved':
      return null
  }
}
