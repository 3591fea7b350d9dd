import type { Logger } from 'pino'
import type { Cache } from '../../cache/cache.ts'
import type { Handler } from '../../commands/handle.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import { isSameIssuer, spellingsOf } from '../../lib/issuers.ts'
import type { Database } from '../../postgres/database.ts'
import { groupsOfAccount, leaveDirectory, noteGroups } from '../../postgres/directory.ts'
import {
  deleteReads,
  type GroupRead,
  keepRead,
  noteOtherIssuers,
  noteUnread,
  noteFailedRead,
  overdueReads,
  unusedReads,
  tryRead,
} from '../../postgres/groupreads.ts'
import { managedOperators } from '../../queries/accounts/account.ts'
import { managedPeople } from '../../queries/accounts/member.ts'
import { managedOwners } from '../../queries/accounts/owner.ts'
import type { Reader } from '../../queries/reader.ts'
import { type Given, givesTo, openGiving, openSync } from './groupsync.ts'
import type { GroupSource } from '../../security/claims.ts'
import type { Issuer, Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import { seal, unseal } from '../../security/seal.ts'
import type { Sessions } from '../../security/sessions.ts'

export interface GroupRolesOptions extends Given {
  readonly db: Database
  readonly handler: Handler
  /** undefined: no issuer is configured any more, and the roles of its groups end */
  readonly issuer: Pick<Issuer, 'refresh'> | undefined
  /** its address, or an empty string: groups from its directory (SCIM) count, too */
  readonly issuerAddress: string
  readonly log: Logger
  readonly progress: Pick<Cache['progress'], 'wait'>
  readonly reader: Reader
  readonly sessions: Pick<Sessions, 'endOf'>
  /** days for which a sign-in is valid */
  readonly sessionDays: number
  /** 32 bytes */
  readonly pepper: Buffer
}

/** s between two reads of the groups of a person who uses the service */
const every = 900
/** s for which an unreachable issuer changes nothing */
const patience = 86_400
/** ms to wait for a change to reach the read tables */
const timeoutMs = 2000
const context = 'groups at the issuer'

export interface GroupRoles {
  /** Gives a person who has signed in the roles of their groups. */
  readonly signedIn: (account: number, credential: string, person: Person) => Promise<void>
  /** Reads the groups of a person with an active session again, unless that was done in the last 15 minutes. */
  readonly keepInStep: (account: number) => Promise<void>
  /** Ends the roles of people whose groups could not be read for a day. */
  readonly endOverdue: () => Promise<void>
  /** Ends the roles of a person who no longer signs in with the issuer. */
  readonly end: (account: number) => Promise<void>
  /** Whether the groups of a person may give them a role in an account. */
  readonly gives: (person: number, account: number) => Promise<boolean>
  /** Updates the roles of people after a directory has changed these groups; undefined: any group. */
  readonly follow: (accounts: readonly number[], groups?: readonly string[]) => Promise<void>
}

const sourcesIn = ({ sources }: GroupRead) => sources.split(' ').filter(Boolean) as readonly GroupSource[]

const noteFailure = async (
  { account, credential }: GroupRead,
  { cause, message, why }: NotSignedIn,
  { db, log, sessions }: Pick<GroupRolesOptions, 'db' | 'log' | 'sessions'>,
) => {
  log.warn({ why, problem: message }, 'the groups of a person could not be read again')
  await noteFailedRead(db, account)
  // they must sign in again, and that reads the groups
  if ((cause as { readonly error?: unknown } | undefined)?.error === 'invalid_grant')
    await sessions.endOf(account, { kind: 'identity', token: credential })
}

/** Records the people whose groups can no longer be read: those of another issuer than the configured one. */
const noteLost = async ({ db, issuerAddress, log, reader }: GroupRolesOptions) => {
  const others = await noteOtherIssuers(db, spellingsOf(issuerAddress))
  if (others > 0) log.warn({ people: others }, 'OIDC_ISSUER is another one: roles of the one before end in a day')
  await noteUnread(db, [...(await managedPeople(reader)), ...(await managedOperators(reader))])
}

/** Returns functions that apply groups, and store the data to read them again. */
const openTaking = (options: GroupRolesOptions) => {
  const { db, issuerAddress, log, pepper, progress } = options
  const ofGroups = { ...options, groupsOf: (account: number) => groupsOfAccount(db, issuerAddress, account) }
  const [follow, gives] = [openSync(ofGroups), openGiving(ofGroups)]
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

  const take = async (account: number, credential: string, person: Person, isSignIn: boolean) => {
    const { groups, groupsFrom, refreshToken } = person
    // an issuer that leaves groups out has sent no information
    if (groups === undefined) log.warn('the issuer has not sent the groups of a person: roles stay as they are')
    else await note(account, groups)
    await sync([account])
    // a refresh token may work once: the newest is stored even if the response has no groups
    const sealed = refreshToken === undefined ? '' : seal(pepper, context, refreshToken)
    const read = { account, credential, sealed, issuer: issuerAddress, sources: groupsFrom.join(' ') }
    await keepRead(db, read, isSignIn || groups !== undefined)
  }
  const endClaimed = async (account: number) => {
    await note(account, [])
    await sync([account])
    await deleteReads(db, [account])
  }
  return { endClaimed, gives, sync, take }
}

/** Keeps the roles of people in step with their groups at the issuer. */
export const openGroupRoles = (options: GroupRolesOptions): GroupRoles => {
  const { db, handler, issuer, issuerAddress, log, pepper, reader, sessionDays } = options
  const { endClaimed, gives, sync, take } = openTaking(options)
  const end: GroupRoles['end'] = async (account) => {
    await leaveDirectory(db, account)
    await endClaimed(account)
  }

  const keepInStep: GroupRoles['keepInStep'] = async (account) => {
    const read = issuer && (await tryRead(db, account, every))
    if (!read) return
    // a token is only for the issuer that made it
    if (read.issuer !== null && !isSameIssuer(read.issuer, issuerAddress)) return noteFailedRead(db, account)
    const { identities } = (await handler.load(accounts, account)).state
    const subject = identities.find(({ token }) => token === read.credential)?.subject
    // a person who no longer signs in with the issuer has no groups there
    if (!subject) return end(account)
    try {
      const token = unseal(pepper, context, read.sealed).toString()
      const again = await issuer.refresh(token, subject, sourcesIn(read))
      await take(account, read.credential, again, false)
    } catch (error) {
      if (!(error instanceof NotSignedIn)) throw error
      await noteFailure(read, error, options)
    }
  }
  const endOverdue = async () => {
    await noteLost(options)
    for (const account of await unusedReads(db, patience)) await keepInStep(account)
    for (const account of await overdueReads(db, patience, sessionDays * 86_400)) {
      log.warn({ account }, 'the groups of a person could not be read for a day: their roles have ended')
      await endClaimed(account)
    }
    // a group that the settings no longer name makes no operators
    await sync(await managedOperators(reader))
    // roles that were kept until another owner can act; in sequence, so that the last owner stays
    for (const owner of await managedOwners(reader)) await sync([owner])
  }

  return {
    signedIn: (account, credential, person) => take(account, credential, person, true),
    keepInStep,
    endOverdue,
    end,
    gives,
    follow: (accounts, groups) => (givesTo(options, groups) ? sync(accounts) : Promise.resolve()),
  }
}
