import type { Database } from '../postgres/database.ts'
import { clockOf, isNoted, noteLogouts } from '../postgres/logouts.ts'
import type { Logout } from './logout.ts'

/** A person who returns from an issuer, by the issuer's ids for them and for their session there. */
export interface FromIssuer extends Pick<Logout, 'issuer' | 'sid'> {
  readonly subject: string
}

/** s for which a logout affects sign-ins that were under way */
const kept = 3600

/** Returns functions that record sessions ended by an issuer, and check sign-ins against them. */
export const openEndedThere = (
  db: Database,
  keyed: (what: string) => Buffer,
  sessionThere: (one: Pick<Logout, 'issuer' | 'sid'>) => Buffer | null,
) => {
  const allOf = (issuer: string, subject: string) => keyed(`logout of all ${JSON.stringify([issuer, subject])}`)
  const unnamedOf = (issuer: string, subject: string) => keyed(`logout of unnamed ${JSON.stringify([issuer, subject])}`)
  return {
    /** Records a logout, unless its token was used before. */
    note: async (token: Buffer, { issuer, sid, subject }: Omit<Logout, 'jti'>): Promise<void> => {
      const session = sessionThere({ issuer, sid })
      const person = subject === undefined ? undefined : (session ? unnamedOf : allOf)(issuer, subject)
      await noteLogouts(db, token, [session, person].filter((one) => Buffer.isBuffer(one)) as readonly Buffer[], kept)
    },
    /** Returns a clock for the moment at which a person returns. */
    clock: () => clockOf(db),
    /** Whether the session there has ended, or all sessions of the person have ended since then. */
    isEnded: ({ issuer, sid, subject }: FromIssuer, since: Date): Promise<boolean> => {
      const session = sessionThere({ issuer, sid })
      const [all, unnamed] = [allOf(issuer, subject), unnamedOf(issuer, subject)]
      return isNoted(db, session ? { ever: [session], since: [all] } : { ever: [], since: [all, unnamed] }, since, kept)
    },
  }
}
export type EndedThere = ReturnType<typeof openEndedThere>
