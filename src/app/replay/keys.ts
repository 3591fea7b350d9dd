import { type Auth, openAuth } from '../../cache/auth.ts'
import { allScopes } from '../../events/accounts/scope.ts'
import { findKeys } from '../../queries/accounts/key.ts'
import { newKey } from '../../security/apikeys.ts'
import type { Ledger } from '../log/ledger.ts'

/**
 * Admits keys that worked at the moment of a replay and still work today, so that a caller who lost access since does
 * not get it back. `own` is a key that works in the replay only.
 */
export const replayAuth = (then: Auth, today: Auth, own: Auth, moment: Date): Auth => ({
  ...then,
  authenticate: async (header, now, from) => {
    const asOwn = await own.authenticate(header, now, from)
    if (asOwn.ok) return asOwn
    const found = await then.authenticate(header, moment, from)
    if (!found.ok) return found
    const current = await today.authenticate(header, now, from)
    return current.ok ? found : current
  },
})

/** Reads the service's current API keys at each request: a replay is not notified of changes. */
export const todaysKeys = ({ keys, reader, tables }: Pick<Ledger, 'keys' | 'reader' | 'tables'>): Auth => {
  const auth = openAuth(keys.service, async (key) => {
    // the service may have rebuilt its tables
    await tables.refresh()
    return (await findKeys(reader, [key]))[0]
  })
  return {
    ...auth,
    authenticate: (header, now, from) => {
      auth.forgetAll()
      return auth.authenticate(header, now, from)
    },
  }
}

/** Makes a key that reads all data of an account, without storing it. */
export const ownKey = (
  pepper: Buffer,
  account: number | undefined,
): { readonly auth: Auth; readonly key: string | undefined } => {
  const { id, key, hash } = newKey(pepper)
  if (account === undefined) return { auth: openAuth(pepper, async () => undefined), key: undefined }
  const row = {
    account,
    number: 0,
    hash,
    scopes: allScopes,
    expires: null,
    addresses: null,
    status: 'active' as const,
    rateLimit: null,
    member: null,
    role: null,
    person: null,
    domains: null,
  }
  return { auth: openAuth(pepper, async (wanted) => (wanted === id ? row : undefined)), key }
}
