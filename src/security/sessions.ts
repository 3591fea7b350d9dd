import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { type Credential, type Credentials, credentialsOf, linkCredential } from './credential.ts'
import type { Database } from '../postgres/database.ts'
import { type EndedThere, openEndedThere } from './endedthere.ts'
import { type Logout, logoutAge } from './logout.ts'
import { deleteExpiredLogouts, insertLogout } from '../postgres/logouts.ts'
import { deleteExpiredAnswers } from '../postgres/passkeys.ts'
import {
  confirmSession,
  deleteExpiredSessions,
  deleteSession,
  deleteSessionsBy,
  deleteSessionsOf,
  deleteSessionsOfIssuer,
  findSession,
  insertSession,
  sessionsOf,
  setCredential,
  type StoredSession,
  throwSessionOut,
  touchSession,
  useStep,
} from '../postgres/sessions.ts'

/** A session of the dashboard. */
export interface Session extends Omit<StoredSession, 'credential'> {
  /** Returns the credential that opened it; undefined when the account no longer has that credential. */
  readonly openedWith: (now: Credentials) => Credential | undefined
}

/** The client as the list of sessions shows it. */
export interface SessionClient {
  readonly browser: string
  readonly os: string
}

/** A shorter lifetime of a session, if any, and whether it may widen rights in its first ten minutes. */
export interface SessionLimits {
  readonly seconds?: number
  readonly confirmed: boolean
  /** the session at the issuer that opens it */
  readonly there?: IssuerSession | undefined
}

/** A session at an issuer, by the issuer's id. */
export interface IssuerSession {
  readonly issuer: string
  readonly sid?: string | undefined
}
/** A logout at an issuer, and the account here. */
export interface Ended extends Logout {
  /** undefined: the person has no account */
  readonly holder: { readonly account: number; readonly credential: Credential } | undefined
}

export interface Sessions {
  /** Opens a session after a successful sign-in. Returns its token, of which only the hash is stored. */
  readonly open: (
    account: number,
    credential: Credential,
    client: SessionClient,
    limits?: SessionLimits,
  ) => Promise<{ readonly id: number; readonly token: string }>
  /** Returns the session of a token, undefined when it has ended or never existed. */
  readonly find: (token: string) => Promise<Session | undefined>
  /** Records that the person of a session has signed in again: for ten minutes, it may widen rights. */
  readonly confirm: (id: number, there?: IssuerSession) => Promise<void>
  /** logouts at the issuer during a sign-in */
  readonly there: Pick<EndedThere, 'clock' | 'isEnded'>
  /** Records a use of a session; never waits. */
  readonly recordUse: (session: Session) => void
  /** Returns the sessions of an account, newest first; `from` replaces the connection to read from. */
  readonly list: (account: number, from?: Database) => Promise<readonly Session[]>
  /** Ends a session at sign-out. Returns whether it existed. */
  readonly end: (account: number, id: number) => Promise<boolean>
  /** Ends a session, and the background jobs that it has requested. Returns whether it existed. */
  readonly throwOut: (account: number, id: number) => Promise<boolean>
  /** Ends the sessions of an account, except one. */
  readonly endOthers: (account: number, except?: number) => Promise<void>
  /** Ends the sessions of an account with a new password, except the one that has set it. */
  readonly keepWith: (account: number, before: Credentials, password: string, id: number | undefined) => Promise<void>
  /** Ends the sessions of an account that a certain identity or passkey has opened. */
  readonly endOf: (account: number, credential: Credential) => Promise<void>
  /** Ends the sessions that an issuer has ended. Returns false when its token was used before. */
  readonly endBy: (ended: Ended) => Promise<boolean>
  /** Uses up the code of a time step. Returns false when it was used before. */
  readonly useStep: (account: number, step: number) => Promise<boolean>
  readonly deleteExpired: () => Promise<void>
  /** seconds until a session ends */
  readonly seconds: number
}

const day = 86_400
/** sessions of an account; one more ends the oldest */
const most = 50

const hashOf = (token: string) => createHash('sha256').update(token).digest()
const isToken = (token: string) => /^[\w-]{43}$/.test(token)

const textOf = (credential: Credential) => {
  switch (credential.kind) {
    case 'password':
      return `session credential ${credential.hash ?? ''}`
    case 'identity':
      return `session identity ${credential.token}`
    case 'passkey':
      return `session passkey ${credential.token}`
    case 'link':
      return `session link ${credential.before}`
  }
}

/** Returns functions that make the stored hashes. */
const hashesWith = (pepper: Buffer) => {
  const keyed = (what: string) => createHmac('sha256', pepper).update(what).digest()
  return {
    keyed,
    hashed: (credential: Credential) => keyed(textOf(credential)),
    sessionThere: ({ issuer, sid }: IssuerSession) =>
      sid === undefined ? null : keyed(`session at ${JSON.stringify([issuer, sid])}`),
    logout: (issuer: string, jti: string) => keyed(`logout ${JSON.stringify([issuer, jti])}`),
  }
}

const endingBy =
  (
    db: Database,
    { hashed, logout, sessionThere }: ReturnType<typeof hashesWith>,
    { note }: Pick<EndedThere, 'note'>,
  ): Sessions['endBy'] =>
  async ({ holder, issuer, jti, sid, subject }) => {
    const used = logout(issuer, jti)
    // before the search for sessions: one that opens meanwhile checks for this record
    await note(used, { issuer, sid, subject })
    // when using the token up fails, it may be sent again
    return db.transaction(async (tx) => {
      if (!(await insertLogout(tx, used, 2 * logoutAge))) return false
      const by = holder && { account: holder.account, credential: hashed(holder.credential) }
      const there = sessionThere({ issuer, sid })
      if (there) await deleteSessionsOfIssuer(tx, there, by)
      else if (by) await deleteSessionsBy(tx, by)
      return true
    })
  }

const keepingWith =
  (db: Database, { hashed }: ReturnType<typeof hashesWith>): Sessions['keepWith'] =>
  async (account, before, password, id) => {
    const link = (now: Credentials) => hashed(linkCredential(now))
    if (id !== undefined) {
      const by = (hash: string | null) => hashed({ kind: 'password', hash })
      await setCredential(db, id, by(before.password), by(password))
      await setCredential(db, id, link(before), link({ ...before, password }))
    }
    await deleteSessionsOf(db, [account], id)
  }

/**
 * Opens the sessions of the dashboard, which end after `days`. A session whose kind of credential is switched off is
 * not found meanwhile. Calls `onUse` with the account of a used session, at most once a minute.
 */
export const openSessions = (
  db: Database,
  pepper: Buffer,
  days: number,
  counts: (credential: Credential, now: Credentials) => boolean = () => true,
  onUse: (account: number) => void = () => {},
): Sessions => {
  const seconds = days * day
  const hashes = hashesWith(pepper)
  const { hashed, keyed, sessionThere } = hashes
  const there = openEndedThere(db, keyed, sessionThere)
  const opened = ({ credential, ...session }: StoredSession): Session => ({
    ...session,
    openedWith: (now) => credentialsOf(now).find((one) => counts(one, now) && timingSafeEqual(credential, hashed(one))),
  })
  return {
    seconds,
    open: async (
      account,
      by,
      { browser, os },
      { confirmed, seconds: own = seconds, there: from } = { confirmed: true },
    ) => {
      const token = randomBytes(32).toString('base64url')
      const id = randomInt(1, 2 ** 47)
      const session = { id, hash: hashOf(token), account, credential: hashed(by), browser, os, confirmed }
      const issuerSession = from ? sessionThere(from) : null
      await insertSession(db, { ...session, issuerSession, seconds: own }, most)
      return { id, token }
    },
    find: async (token) => {
      const session = isToken(token) ? await findSession(db, hashOf(token)) : undefined
      return session && opened(session)
    },
    confirm: (id, from) => confirmSession(db, id, from ? sessionThere(from) : null),
    recordUse: ({ account, id, used }) => {
      if (Date.now() - used.getTime() <= 60_000) return
      void touchSession(db, id).catch(() => {})
      onUse(account)
    },
    list: async (account, from = db) => (await sessionsOf(from, account)).map(opened),
    end: (account, id) => deleteSession(db, account, id),
    throwOut: (account, id) => throwSessionOut(db, account, id),
    endOthers: (account, except) => deleteSessionsOf(db, [account], except),
    keepWith: keepingWith(db, hashes),
    endOf: (account, credential) => deleteSessionsBy(db, { account, credential: hashed(credential) }),
    there,
    endBy: endingBy(db, hashes, there),
    useStep: (account, step) => useStep(db, account, step),
    deleteExpired: async () => {
      await deleteExpiredSessions(db)
      await deleteExpiredAnswers(db)
      await deleteExpiredLogouts(db)
    },
  }
}
