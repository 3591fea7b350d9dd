import { isUnused } from '../../events/store.ts'
import { oneTimeAddress } from '../../http/accounts/onetimeaddress.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import { NotReady } from '../../lib/unavailable.ts'
import { hasAccounts } from '../../queries/accounts/account.ts'
import { openOneTimeLinks } from '../../security/onetimelinks.ts'
import type { Ledger } from '../log/ledger.ts'

/**
 * Whether no account was ever created. While the read tables are filled for the first time, only an empty log proves
 * it.
 */
const isWithoutAccounts = async ({ reader, store }: Pick<Ledger, 'reader' | 'store'>) => {
  try {
    return !(await hasAccounts(reader))
  } catch (error) {
    if (!(error instanceof NotReady)) throw error
    // a log that takes long to search is not new
    return withTimeout(2000, isUnused(store)).catch(() => false)
  }
}

/**
 * Returns the address of a page that creates the first account, when registration is closed and there is none yet. It
 * works once, even if several processes made one; only the hash of its token is stored.
 */
export const linkToFirstAccount = async (
  ledger: Pick<Ledger, 'config' | 'db' | 'keys' | 'reader' | 'store'>,
  baseUrl: string,
): Promise<string | undefined> => {
  const { PASSWORD_SIGN_IN, REGISTRATION, ROLES } = ledger.config
  // with an issuer alone, the first sign-in creates the account
  if (REGISTRATION === 'open' || PASSWORD_SIGN_IN === 'off' || !ROLES.has('http') || !(await isWithoutAccounts(ledger)))
    return undefined
  const links = openOneTimeLinks(ledger.db, ledger.keys.service)
  return oneTimeAddress(baseUrl, 'first', await links.issue('first', { account: null, content: {} }, null))
}
