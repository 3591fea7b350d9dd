import type { Logger } from 'pino'
import type { Cache } from '../../cache/cache.ts'
import type { Handler } from '../../commands/handle.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import type { Database } from '../../postgres/database.ts'
import { groupsOfAccount, leaveDirectory, noteGroups } from '../../postgres/directory.ts'
import {
  deleteReads,
  type GroupRead,
  keepRead,
  noteFailedRead,
  overdueReads,
  unusedReads,
  tryRead,
} from '../../postgres/groupreads.ts'
import { managedOperators } from '../../queries/accounts/account.ts'
import type { Reader } from '../../queries/reader.ts'
import { type Given, givesTo, openSync } from './groupsync.ts'
import type { Issuer, Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import { seal, unseal } from '../../security/seal.ts'
import type { Sessions } from '../../security/sessions.ts'

export interface GroupRolesOptions extends Given {
  readonly db: Database
  readonly handler: Handler
  readonly issuer: Pick<Issuer, 'refresh'>
  /** its address: groups that its directory sends (SCIM) count as well */
  readonly issuerAddress: string
  readonly log: Logger
  readonly progress: Pick<Cache['progress'], 'wait'>
  readonly reader: Reader
  readonly sessions: Pick<Sessions, 'endOf'>
  /** days for which a sign-in counts */
  readonly sessionDays: number
  /** 32 bytes */
  readonly pepper: Buffer
}

/** s between two reads of the groups of somebody who uses the service */
const every = 900
/** s for which an issuer that cannot be read changes nothing */
const patience = 86_400
/** ms that a change is waited for until it is in the read tables */
const timeoutMs = 2000
const context = 'groups at the issuer'

export interface GroupRoles {
  /** Gives somebody who has signed in the roles of their groups. */
  readonly signedIn: (account: number, credential: string, person: Person) => Promise<void>
  /** Reads the groups of somebody again who uses a session, if that was not done in the last 15 minutes. */
  readonly keepInStep: (account: number) => Promise<void>
  /** Ends the roles of people whose groups could not be read for a day. */
  readonly endOverdue: () => Promise<void>
  /** Ends the roles of somebody who does not sign in with the issuer any more. */
  readonly end: (account: number) => Promise<void>
  /** Gives people the roles of their groups, some of which a directory has changed; undefined: any may have. */
  readonly follow: (accounts: readonly number[], groups?: readonly string[]) => Promise<void>
}

const noteFailure = async (
  { account, credential }: GroupRead,
  { cause, message, why }: NotSignedIn,
  { db, log, sessions }: Pick<GroupRolesOptions, 'db' | 'log' | 'sessions'>,
) => {
  log.warn({ why, problem: message }, 'the groups of somebody could not be read again')
  await noteFailedRead(db, account)
  // they sign in again, which reads them
  if ((cause as { readonly error?: unknown } | undefined)?.error === 'invalid_grant')
    await sessions.endOf(account, { kind: 'identity', token: credential })
}

/** Keeps the roles of people in step with their groups at the issuer. */
export const openGroupRoles = (options: GroupRolesOptions): GroupRoles => {
  const { db, handler, issuer, issuerAddress, log, pepper, progress, reader, sessionDays } = options
  const follow = openSync({ ...options, groupsOf: (account) => groupsOfAccount(db, issuerAddress, account) })
  const sync = async (people: readonly number[]) => {
    const last = await follow(people)
    if (last > 0n) await progress.wait(last, timeoutMs)
  }
  const note = (account: number, groups: readonly string[]) =>
    noteGroups(
      db,
      account,
      groups.filter((one) => givesTo(options, [one])),
    )

  const signedIn: GroupRoles['signedIn'] = async (account, credential, { groups, refreshToken }) => {
    // an issuer that leaves them out has said nothing
    if (groups === undefined) log.warn('the issuer has not sent the groups of somebody: roles stay as they are')
    else await note(account, groups)
    await sync([account])
    // a refresh token may work once: the newest is kept whatever it was answered
    if (refreshToken !== undefined)
      await keepRead(db, { account, credential, sealed: seal(pepper, context, refreshToken) })
    else if (groups !== undefined) await keepRead(db, { account, credential, sealed: '' })
  }
  const endClaimed = async (account: number) => {
    await note(account, [])
    await sync([account])
    await deleteReads(db, [account])
  }
  const end: GroupRoles['end'] = async (account) => {
    await leaveDirectory(db, account)
    await endClaimed(account)
  }

  const keepInStep: GroupRoles['keepInStep'] = async (account) => {
    const read = await tryRead(db, account, every)
    if (!read) return
    const { identities } = (await handler.load(accounts, account)).state
    const subject = identities.find(({ token }) => token === read.credential)?.subject
    // somebody who does not sign in with the issuer any more has no groups there
    if (!subject) return end(account)
    try {
      const again = await issuer.refresh(unseal(pepper, context, read.sealed).toString(), subject)
      await signedIn(account, read.credential, again)
    } catch (error) {
      if (!(error instanceof NotSignedIn)) throw error
      await noteFailure(read, error, options)
    }
  }

  return {
    signedIn,
    keepInStep,
    endOverdue: async () => {
      for (const account of await unusedReads(db, patience)) await keepInStep(account)
      for (const account of await overdueReads(db, patience, sessionDays * 86_400)) {
        log.warn({ account }, 'the groups of somebody could not be read for a day: their roles have ended')
        await endClaimed(account)
      }
      // a group that the settings do not name any more makes none
      await sync(await managedOperators(reader))
    },
    end,
    follow: (accounts, groups) => (givesTo(options, groups) ? sync(accounts) : Promise.resolve()),
  }
}
