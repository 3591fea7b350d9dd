import type { Cache } from '../cache/cache.ts'
import { openAccountPasswords } from '../http/accountpassword.ts'
import type { Limiter } from '../http/api/limiter.ts'
import { type AccountPagesOptions, createAccountPages } from '../http/public/account.ts'
import { idSequence } from '../postgres/ids.ts'
import { hasAccounts } from '../queries/account.ts'
import { openOneTimeLinks } from '../security/onetimelinks.ts'
import type { Ledger } from './ledger.ts'

/** Opens what concerns the life of an account: its password, and the links that work once. */
export const openAccountLife = (
  { db, handler, keys, reader }: Pick<Ledger, 'db' | 'handler' | 'keys' | 'reader'>,
  { progress }: Pick<Cache, 'progress'>,
  limiter: Limiter,
) => {
  const links = openOneTimeLinks(db, keys.service)
  const own = { links, progress, nextId: idSequence(db, 'account'), isFirst: async () => !(await hasAccounts(reader)) }
  return {
    passwords: openAccountPasswords({ limiter, load: handler.load }),
    pages: (pages: Omit<AccountPagesOptions, keyof typeof own>) => createAccountPages({ ...pages, ...own }),
  }
}
