import type { Logger } from 'pino'
import type { Cache } from '../../cache/cache.ts'
import { Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { account as accounts } from '../../commands/accounts/account.ts'
import { team } from '../../commands/accounts/team.ts'
import { systemMetadata } from '../../events/event.ts'
import { higherRole, type Role } from '../../events/accounts/role.ts'
import type { Database } from '../../postgres/database.ts'
import {
  deleteReads,
  type GroupRead,
  keepRead,
  noteFailedRead,
  overdueReads,
  tryRead,
} from '../../postgres/groupreads.ts'
import { findAccountBy } from '../../queries/accounts/account.ts'
import { listMemberships } from '../../queries/accounts/member.ts'
import type { Reader } from '../../queries/reader.ts'
import type { GroupRole } from '../settings/signin.ts'
import type { Ledger } from '../log/ledger.ts'
import type { Issuer, Person } from '../../security/issuer.ts'
import { NotSignedIn } from '../../security/notsignedin.ts'
import { seal, unseal } from '../../security/seal.ts'
import type { Sessions } from '../../security/sessions.ts'

export interface GroupRolesOptions {
  readonly db: Database
  readonly handler: Handler
  readonly issuer: Pick<Issuer, 'refresh'>
  readonly log: Logger
  readonly progress: Pick<Cache['progress'], 'wait'>
  readonly reader: Reader
  readonly roles: readonly (GroupRole & { readonly role: Role })[]
  readonly sessions: Pick<Sessions, 'endOf'>
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
}

/** Returns what gives a person the highest role that their groups have in each account, and takes the others. */
const openSync =
  ({
    handler,
    log,
    progress,
    reader,
    roles,
  }: Pick<GroupRolesOptions, 'handler' | 'log' | 'progress' | 'reader' | 'roles'>) =>
  async (person: number, groups: readonly string[]) => {
    const wanted = new Map<number, Role>()
    for (const { group, account: name, role } of roles) {
      if (!groups.includes(group)) continue
      const found = await findAccountBy(reader, name)
      if (found?.status !== 'active') log.warn({ account: name }, 'OIDC_ROLES names an account that there is not')
      else wanted.set(found.id, higherRole(wanted.get(found.id), role) as Role)
    }
    const held = (await listMemberships(reader, person)).map(({ account }) => account)
    for (const id of new Set([...wanted.keys(), ...held]))
      try {
        const command = { type: 'ManageRole', id, person, role: wanted.get(id) ?? null } as const
        const { events, position } = await handler.handle(team, command, systemMetadata(id))
        if (events.length > 0) await progress.wait(position, timeoutMs)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        log.warn({ account: id, problem: error.message }, 'a role of OIDC_ROLES was refused')
      }
  }

/** Ends all roles that groups have given a person, for an operator. */
export const endManagedRoles = async (
  ledger: Pick<Ledger, 'db' | 'handler' | 'log' | 'reader'>,
  person: number,
): Promise<void> => {
  await openSync({ ...ledger, roles: [], progress: { wait: async () => false } })(person, [])
  await deleteReads(ledger.db, [person])
}

/** Keeps the roles of people in step with their groups at the issuer. */
export const openGroupRoles = (options: GroupRolesOptions): GroupRoles => {
  const { db, handler, issuer, log, pepper, sessions } = options
  const sync = openSync(options)

  const signedIn: GroupRoles['signedIn'] = async (account, credential, { groups, refreshToken }) => {
    // an issuer that leaves them out has said nothing
    if (groups === undefined) return log.warn('the issuer has not sent the groups of somebody: roles stay as they are')
    await sync(account, groups)
    if (refreshToken === undefined) await deleteReads(db, [account])
    else await keepRead(db, { account, credential, sealed: seal(pepper, context, refreshToken) })
  }
  const failed = async ({ account, credential }: GroupRead, error: NotSignedIn) => {
    log.warn({ why: error.why, problem: error.message }, 'the groups of somebody could not be read again')
    await noteFailedRead(db, account)
    // they sign in again, which reads them
    if ((error.cause as { readonly error?: unknown } | undefined)?.error === 'invalid_grant')
      await sessions.endOf(account, { kind: 'identity', token: credential })
  }
  const end: GroupRoles['end'] = async (account) => {
    await sync(account, [])
    await deleteReads(db, [account])
  }

  return {
    signedIn,
    keepInStep: async (account) => {
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
        await failed(read, error)
      }
    },
    endOverdue: async () => {
      for (const account of await overdueReads(db, patience)) {
        log.warn({ account }, 'the groups of somebody could not be read for a day: their roles have ended')
        await end(account)
      }
    },
    end,
  }
}
