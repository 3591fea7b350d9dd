import { createHash, randomBytes } from 'node:crypto'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { Database } from '../postgres/database.ts'
import {
  deleteExpiredLinks,
  deleteLink,
  deleteOwnLinks,
  extendLink,
  findLink,
  insertLink,
  invitationLinks,
  useLink,
} from '../postgres/onetimelinks.ts'
import { sealBytes, unsealBytes } from './seal.ts'

/** The content of each kind of link. `password` is an scrypt hash. */
const contents = {
  /** makes the first account */
  first: z.object({}),
  /** makes the account of a registration */
  register: z.object({
    email: z.string(),
    username: z.string().optional(),
    timezone: z.string().optional(),
    password: z.string(),
  }),
  /** changes the e-mail address of an account, as long as its sign-in is the same as when the link was requested */
  email: z.object({ email: z.string(), signIn: z.string().optional() }),
  /** sets a new password */
  password: z.object({}),
  /** makes a person a member of the account; `email` is the address that received it */
  invitation: z.object({ member: z.number(), email: z.string().optional() }),
  /** signs in without a credential, from an operator */
  enter: z.object({}),
}
export type LinkKind = keyof typeof contents
export type LinkContent<K extends LinkKind> = z.output<(typeof contents)[K]>
/** The purpose of a link. */
export interface FoundLink<K extends LinkKind> {
  readonly account: number | null
  readonly content: LinkContent<K>
}

export interface OneTimeLinks {
  /**
   * Stores a link and returns its token, of which only the hash is stored. It expires after `seconds`; null: only when
   * it is used.
   */
  readonly issue: <K extends LinkKind>(
    kind: K,
    link: FoundLink<K>,
    seconds: number | null,
    tx?: Database,
  ) => Promise<string>
  /** Returns the purpose of a link; undefined when it has expired, was used, or never existed. It stays usable. */
  readonly find: <K extends LinkKind>(kind: K, token: string) => Promise<FoundLink<K> | undefined>
  /**
   * Uses a link up, unless `work` throws. Returns undefined where `find` would. Links to a first account end together.
   */
  readonly use: <K extends LinkKind, R>(
    kind: K,
    token: string,
    work: (link: FoundLink<K>) => Promise<R>,
  ) => Promise<{ readonly result: R } | undefined>
  /** Sets when a link expires, from now on. */
  readonly extend: (token: string, seconds: number) => Promise<void>
  /** Ends all links of an account except invitations to it. */
  readonly end: (account: number) => Promise<void>
  /** Returns the contents of the invitations to an account. */
  readonly invitations: (account: number) => Promise<readonly LinkContent<'invitation'>[]>
  /** Ends the invitation of a member. */
  readonly endInvitation: (account: number, member: number) => Promise<void>
  readonly deleteExpired: () => Promise<void>
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()
const isToken = (token: string) => /^[\w-]{43}$/.test(token)
const contextOf = (kind: LinkKind) => `one-time link ${kind}`

/** links in use at a time: each holds a connection while it writes through others */
const atOnce = 2

/** Opens the store of one-time links, sealed under the service key. */
export const openOneTimeLinks = (db: Database, service: Buffer): OneTimeLinks => {
  const lane = pLimit(atOnce)
  const opened = <K extends LinkKind>(kind: K, { account, sealed }: { account: number | null; sealed: Buffer }) => {
    const content: unknown = JSON.parse(unsealBytes(service, contextOf(kind), sealed).toString())
    return { account, content: contents[kind].parse(content) as LinkContent<K> }
  }
  const invitationsOf = async (account: number) =>
    (await invitationLinks(db, account)).map((link) => ({ hash: link.hash, ...opened('invitation', link) }))
  return {
    issue: async (kind, { account, content }, seconds, tx = db) => {
      const token = randomBytes(32).toString('base64url')
      const sealed = sealBytes(service, contextOf(kind), JSON.stringify(content))
      await insertLink(tx, { hash: hashOf(token), kind, account, sealed, seconds })
      return token
    },
    find: async (kind, token) => {
      const link = isToken(token) ? await findLink(db, kind, hashOf(token)) : undefined
      return link && opened(kind, link)
    },
    use: async (kind, token, work) =>
      isToken(token)
        ? lane(() =>
            useLink(db, { kind, hash: hashOf(token), single: kind === 'first' }, (link) => work(opened(kind, link))),
          )
        : undefined,
    extend: (token, seconds) => extendLink(db, hashOf(token), seconds),
    end: (account) => deleteOwnLinks(db, account),
    invitations: async (account) => (await invitationsOf(account)).map(({ content }) => content),
    endInvitation: async (account, member) => {
      const ended = (await invitationsOf(account)).filter(({ content }) => content.member === member)
      for (const { hash } of ended) await deleteLink(db, hash)
    },
    deleteExpired: () => deleteExpiredLinks(db),
  }
}
