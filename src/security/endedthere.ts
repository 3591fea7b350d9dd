import type { Database } from '../postgres/database.ts'
import { clockOf, isNoted, noteLogouts } from '../postgres/logouts.ts'
import type { Logout } from './logout.ts'

/** Somebody who has come back from an issuer, by what it calls them and their session there. */
export interface FromIssuer extends Pick<Logout, 'issuer' | 'sid'> {
  readonly subject: string
}

/** s for which a logout is looked for by those who were on the way here */
const kept = 3600

/** Returns what notes that an issuer has ended sessions, and what says so to those whom it has just signed in. */
export const openEndedThere = (
  db: Database,
  keyed: (what: string) => Buffer,
  sessionThere: (one: Pick<Logout, 'issuer' | 'sid'>) => Buffer | null,
) => {
  const allOf = (issuer: string, subject: string) => keyed(`logout of all ${JSON.stringify([issuer, subject])}`)
  const unnamedOf = (issuer: string, subject: string) => keyed(`logout of unnamed ${JSON.stringify([issuer, subject])}`)
  return {
    /** Notes a logout, unless its token was used before. */
    note: async (token: Buffer, { issuer, sid, subject }: Omit<Logout, 'jti'>): Promise<void> => {
      const session = sessionThere({ issuer, sid })
      const person = subject === undefined ? undefined : (session ? unnamedOf : allOf)(issuer, subject)
      await noteLogouts(db, token, [session, person].filter((one) => Buffer.isBuffer(one)) as readonly Buffer[], kept)
    },
    /** Returns what tells when somebody has come back. */
    clock: () => clockOf(db),
    /** Whether a session there has ended, or all of somebody have since then. */
    isEnded: ({ issuer, sid, subject }: FromIssuer, since: Date): Promise<boolean> => {
      const session = sessionThere({ issuer, sid })
      const [all, unnamed] = [allOf(issuer, subject), unnamedOf(issuer, subject)]
      return isNoted(db, session ? { ever: [session], since: [all] } : { ever: [], since: [all, unnamed] }, since, kept)
    },
  }
}
export type EndedThere = ReturnType<typeof openEndedThere>
