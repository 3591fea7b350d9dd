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

/** ms until a change of an account is told to all processes, and until the answer does not wait for the tables */
const [pendingAfter, timeoutMs] = [40, 2000]

/** Returns what ends the access of whoever signs in to an account, in all processes, and gives it back. */
const openAccess = (
  { handler, ...ledger }: Parts,
  { pending, progress }: Pick<Cache, 'pending' | 'progress'>,
  sessions: Pick<Sessions, 'endOthers'>,
) => {
  const announce = announcePending(ledger, pending)
  return async (id: number, active: boolean) => {
    if ((await handler.load(accounts, id)).state.deactivated !== active) return
    // one that was opened by a sign-in under way must not work again later
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

/** Keeps accounts in step with what the directories of organizations say of the people who sign in to them. */
const openDirectorySync = (
  ledger: Parts,
  cache: Pick<Cache, 'pending' | 'progress'>,
  { groupRoles, sessions }: People,
): DirectorySync => {
  const { config, db, keys } = ledger
  const setActive = openAccess(ledger, cache, sessions)
  const keysOf = (issuer: string, called: string) => personKeys(keys.service, issuer, called)

  /** Returns the account of somebody who has signed in before the directory has sent them. */
  const accountOf = async (issuer: string, called: string) => {
    if (config.OIDC_SCIM_CLAIM !== 'sub') return accountOfPerson(db, keysOf(issuer, called))
    for (const spelling of spellingsOf(issuer)) {
      const name = identityKey(keys.service, { issuer: spelling, subject: called })
      const holder = await holderOf(ledger)({ kind: 'identity', name })
      if (holder) return holder.account
    }
    return undefined
  }

  /** Joins a user with the account that signs in as them. Returns it, undefined without one. */
  const join = async (issuer: string, user: DirectoryUser): Promise<number | undefined> => {
    const called = user.person.externalId
    const id = user.account ?? (called === undefined ? undefined : await accountOf(issuer, called))
    if (called === undefined || id === undefined) return undefined
    if (user.account === null) await joinAccount(db, keysOf(issuer, called), id)
    return id
  }

  /** Gives or ends the access of all accounts that a user holds. */
  const carryOut = async (user: DirectoryUser) => {
    for (const id of await accountsHeld(db, [user.id])) {
      let done: boolean | undefined
      // of two changes at once, the later one may have been carried out first
      for (let active = await isAccountActive(db, id); active !== done; active = await isAccountActive(db, id)) {
        await setActive(id, active).catch((error: unknown) => {
          // it is erased
          if (!isRefused(error, 'not_found')) throw error
        })
        done = active
      }
    }
  }

  return {
    /** Carries out what a directory says of a user now. */
    settle: async (issuer, user, { before, saysActive }) => {
      const id = await join(issuer, user)
      const left = before && before.account !== id ? before.account : null
      // what was said before is carried out for an account that is new here only: an operator may have changed it since
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
    /** Carries out that people have other groups. `groups`: what those are called, or were. */
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
