import { type Credential, type Credentials, has } from '../../security/credential.ts'
import { refuse } from '../decider.ts'

const lost = { password: 'changed', identity: 'identity', passkey: 'passkey', link: 'identity' } as const

/** Returns what refuses a command once an account no longer has the credential that was shown for it. */
export const requireCredential =
  (shown: Credential) =>
  (now: Credentials): void => {
    if (!has(now, shown)) refuse('wrong_password', { what: lost[shown.kind] })
  }
