import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { Database } from '../postgres/database.ts'
import {
  confirmSession,
  deleteExpiredSessions,
  deleteSession,
  deleteSessionsOf,
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
  /** Whether it was opened with the password that an account has now, given its stored hash. */
  readonly isFor: (password: string | null) => boolean
}

/** What a session is listed as. */
export interface SessionClient {
  readonly browser: string
  readonly os: string
}

export interface Sessions {
  /** Opens a session for an account whose password was right. Returns its token, of which only the hash is stored. */
  readonly open: (
    account: number,
    password: string | null,
    client: SessionClient,
  ) => Promise<{ readonly id: number; readonly token: string }>
  /** Returns the session of a token, undefined when it has ended or never was. */
  readonly find: (token: string) => Promise<Session | undefined>
  /** Notes that the password of a session was entered again: for ten minutes, it may widen rights. */
  readonly confirm: (id: number) => Promise<void>
  /** Notes that a session is used; never waits. */
  readonly recordUse: (session: Session) => void
  /** Returns the sessions of an account, newest first, read from another connection where one is given. */
  readonly list: (account: number, from?: Database) => Promise<readonly Session[]>
  /** Ends a session that signs out. Returns whether there was one. */
  readonly end: (account: number, id: number) => Promise<boolean>
  /** Ends a session, and what it has asked for in the background. Returns whether there was one. */
  readonly throwOut: (account: number, id: number) => Promise<boolean>
  /** Ends the sessions of an account, except one. */
  readonly endOthers: (account: number, except?: number) => Promise<void>
  /** Ends the sessions of an account that has a new password, except the one that has set it. */
  readonly keepWith: (account: number, password: string, id: number | undefined) => Promise<void>
  /** Uses the code of a time step up. Returns false when it was used before. */
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

/** Opens the sessions of the dashboard, which end after `days`. */
export const openSessions = (db: Database, pepper: Buffer, days: number): Sessions => {
  const seconds = days * day
  const credentialOf = (password: string | null) =>
    createHmac('sha256', pepper)
      .update(`session credential ${password ?? ''}`)
      .digest()
  const opened = ({ credential, ...session }: StoredSession): Session => ({
    ...session,
    isFor: (password) => password !== null && timingSafeEqual(credential, credentialOf(password)),
  })
  return {
    seconds,
    open: async (account, password, { browser, os }) => {
      const token = randomBytes(32).toString('base64url')
      const id = randomInt(1, 2 ** 47)
      const credential = credentialOf(password)
      await insertSession(db, { id, hash: hashOf(token), account, credential, browser, os, seconds }, most)
      return { id, token }
    },
    find: async (token) => {
      const session = isToken(token) ? await findSession(db, hashOf(token)) : undefined
      return session && opened(session)
    },
    confirm: (id) => confirmSession(db, id),
    recordUse: ({ id, used }) => {
      if (Date.now() - used.getTime() > 60_000) void touchSession(db, id).catch(() => {})
    },
    list: async (account, from = db) => (await sessionsOf(from, account)).map(opened),
    end: (account, id) => deleteSession(db, account, id),
    throwOut: (account, id) => throwSessionOut(db, account, id),
    endOthers: (account, except) => deleteSessionsOf(db, [account], except),
    keepWith: async (account, password, id) => {
      if (id !== undefined) await setCredential(db, id, credentialOf(password))
      await deleteSessionsOf(db, [account], id)
    },
    useStep: (account, step) => useStep(db, account, step),
    deleteExpired: () => deleteExpiredSessions(db),
  }
}
