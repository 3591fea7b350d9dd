import type { Cache } from '../../cache/cache.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import { identityKey } from '../../commands/accounts/register.ts'
import { isRefused } from '../../commands/decider.ts'
import { systemMetadata } from '../../events/event.ts'
import { streamId } from '../../events/streams.ts'
import type { DirectorySync } from '../../http/scim/resource.ts'
import { createScim, type ScimOptions } from '../../http/scim/scim.ts'
import { spellingsOf } from '../../lib/issuers.ts'
import { accountOfPerson } from '../../postgres/directory.ts'
import { accountsHeld, isAccountActive, joinAccount } from '../../postgres/joined.ts'
import { type DirectoryUser, openDirectory, personKeys } from '../../security/directory.ts'
import type { Sessions } from '../../security/sessions.ts'
import type { Ledger } from '../log/ledger.ts'
import { announcePending } from '../log/announce.ts'
import type { GroupRoles } from './grouproles.ts'
import { warnOfOwnerless } from './ownerless.ts'
import { holderOf } from './signin.ts'

type Parts = Pick<Ledger, 'config' | 'db' | 'handler' | 'instance' | 'keys' | 'log' | 'notify' | 'reader' | 'store'>

interface People {
  readonly groupRoles: GroupRoles | undefined
  readonly sessions: Sessions
}

/** ms until a change of an account is sent to all processes, and until the answer stops waiting for the tables */
const [pendingAfter, timeoutMs] = [40, 2000]

/** Returns a function that ends or restores the access of the people of an account, in all processes. */
const openAccess = (
  { handler, ...ledger }: Parts,
  { pending, progress }: Pick<Cache, 'pending' | 'progress'>,
  sessions: Pick<Sessions, 'endOthers'>,
) => {
  const announce = announcePending(ledger, pending)
  return async (id: number, active: boolean) => {
    if ((await handler.load(accounts, id)).state.deactivated !== active) return
    // a session that a sign-in has opened meanwhile must not work again later
    if (active) await sessions.endOthers(id)
    const type = active ? 'ReactivateAccount' : 'DeactivateAccount'
    const { position } = await handler.handle(accounts, { type, id }, systemMetadata(id))
    if (!active) await sessions.endOthers(id)
    if (!(await progress.wait(position, pendingAfter))) {
      announce(streamId('account', id), position)
      await progress.wait(position, timeoutMs)
    }
    if (!active) await warnOfOwnerless({ handler, ...ledger }, id)
  }
}

/** Keeps accounts in step with the users of organizations' directories. */
const openDirectorySync = (
  ledger: Parts,
  cache: Pick<Cache, 'pending' | 'progress'>,
  { groupRoles, sessions }: People,
): DirectorySync => {
  const { config, db, keys } = ledger
  const setActive = openAccess(ledger, cache, sessions)
  const keysOf = (issuer: string, called: string) => personKeys(keys.service, issuer, called)

  /** Returns the account of a person who has signed in before the directory sent them. */
  const accountOf = async (issuer: string, called: string) => {
    if (config.OIDC_SCIM_CLAIM !== 'sub') return accountOfPerson(db, keysOf(issuer, called))
    for (const spelling of spellingsOf(issuer)) {
      const name = identityKey(keys.service, { issuer: spelling, subject: called })
      const holder = await holderOf(ledger)({ kind: 'identity', name })
      if (holder) return holder.account
    }
    return undefined
  }

  /** Joins a user with the account of that person. Returns the account, undefined without one. */
  const join = async (issuer: string, user: DirectoryUser): Promise<number | undefined> => {
    const called = user.person.externalId
    const id = user.account ?? (called === undefined ? undefined : await accountOf(issuer, called))
    if (called === undefined || id === undefined) return undefined
    if (user.account === null) await joinAccount(db, keysOf(issuer, called), id)
    return id
  }

  /** Restores or ends the access of all accounts that a user holds. */
  const carryOut = async (user: DirectoryUser) => {
    for (const id of await accountsHeld(db, [user.id])) {
      let done: boolean | undefined
      // of two concurrent changes, the later one may have been applied first
      for (let active = await isAccountActive(db, id); active !== done; active = await isAccountActive(db, id)) {
        await setActive(id, active).catch((error: unknown) => {
          // the account is erased
          if (!isRefused(error, 'not_found')) throw error
        })
        done = active
      }
    }
  }

  return {
    /** Applies the current state of a directory's user. */
    settle: async (issuer, user, { before, saysActive }) => {
      const id = await join(issuer, user)
      const left = before && before.account !== id ? before.account : null
      // an unchanged state is applied only to an account that is new here: an operator may have changed the others
      // since
      if (saysActive || left !== null || (id !== undefined && id !== before?.account)) await carryOut(user)
      const changed = [...(left === null ? [] : [left]), ...(id === undefined || id === before?.account ? [] : [id])]
      await groupRoles?.follow(changed)
    },
    /** The same for a user whom the directory has deleted. */
    leave: async (issuer, user) => {
      const id = await join(issuer, user)
      await carryOut(user)
      if (id !== undefined) await groupRoles?.follow([id])
    },
    /** Applies changed groups of people. `groups`: their current or former names. */
    regroup: async (accounts, groups) => groupRoles?.follow(accounts, groups),
  }
}

/** Opens `/scim/v2`, where the directories of issuers send their users and groups. */
export const openScim =
  (ledger: Parts, cache: Pick<Cache, 'pending' | 'progress'>, people: People, serviceUrl: string) =>
  (pages: Omit<ScimOptions, 'directory' | 'serviceUrl' | 'sync'>) =>
    createScim({
      ...pages,
      directory: openDirectory(ledger.db, ledger.keys.service),
      sync: openDirectorySync(ledger, cache, people),
      serviceUrl,
    })
