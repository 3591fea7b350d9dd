import type { z } from 'zod'
import type { KeyHolder, MemberHolder } from '../../cache/auth.ts'
import type { PendingStreams } from '../../cache/pending.ts'
import type { Context } from 'koa'
import type { Caller } from '../../commands/caller.ts'
import type { Decider } from '../../commands/decider.ts'
import type { NextIds, Revisions } from '../../commands/handle.ts'
import type { Context as Cause, Handled } from '../../commands/context.ts'
import type { DomainEvent } from '../../events/index.ts'
import type { What } from '../../lib/problems/problem.ts'
import type { Actor } from '../../events/event.ts'
import type { Part } from '../../queries/accounts/part.ts'
import type { Reader } from '../../queries/reader.ts'
import type { Credential } from '../../security/credential.ts'
import type { Answer, Contract, Description } from './contract.ts'
import type { Download, Picture } from './download.ts'
import type { Cursors } from './list/cursor.ts'
import type { Needed, Right } from './scope.ts'
import type { BrowserCall } from './session.ts'

/** Why an answer is of the present only. */
export type PresentOnly = What<'present_only'>

/** A validated request. `write` and `create` return once the change is in the read tables, or after two seconds. */
export interface Call<P = unknown, Q = unknown, B = unknown> extends Caller {
  /** the source of the answer: the present tables, or those of the requested moment */
  readonly reader: Reader
  /** the streams whose changes are not in the tables yet */
  readonly pending: PendingStreams
  /** cursors of the list that the request reads */
  readonly cursors: Cursors
  /** path of the route */
  readonly path: string
  readonly params: P
  readonly query: Q
  /** the time zone that the query names with `tz`, for its days; undefined: UTC */
  readonly zone: string | undefined
  readonly body: B
  /** the API key of the request; undefined on a public route, and for a session */
  readonly key: KeyHolder | undefined
  /** the member who has the key or session; undefined: the account's own sign-in */
  readonly member: MemberHolder | undefined
  /** the part of the account that the caller is limited to; undefined: all of it */
  readonly limited: Part | undefined
  /** the id of the session that sent the request */
  readonly session: number | undefined
  /** the credential that opened that session */
  readonly credential: Credential | undefined
  /** whether the password of that session was entered, or its sign-in repeated, in the last ten minutes */
  readonly confirmed: boolean
  readonly browser: BrowserCall
  /** Adds a `Set-Cookie` header to the answer. */
  readonly setCookie: (cookie: string) => void
  /**
   * whether the key has the scope of the route; it may lack it only where `passwordInstead` is set, and a session
   * always does there
   */
  readonly inScope: boolean
  /** whether an earlier execution of this request ended without an answer: it may have done its work */
  readonly resumed: boolean
  /** Whether the caller has a scope that the route does not need. */
  readonly may: (right: Right) => boolean
  /** Returns whether the route still admits the caller, with one more scope if needed: for slow answers. */
  readonly isAdmitted: (also?: Right) => Promise<boolean>
  /** Returns a header of the request, `` when it was not sent. */
  readonly header: (name: string) => string
  /** Returns the content type that the client prefers; undefined when it accepts none. */
  readonly accepts: (types: readonly string[]) => string | undefined
  /** Returns the writer of a public route, for the holder of a key that was presented to it. */
  readonly onBehalfOf: (holder: Who) => Caller
  /** Writes in the name of the signed-in operator. */
  readonly operate: Operate
  /** Makes a proposed change that has been approved. */
  readonly apply: Apply
  /** the address block of the client */
  readonly from: string
  /** Returns a signal that aborts when the client is gone, or has its answer. */
  readonly gone: () => AbortSignal
  /** the language for mails that follow from the request, by its Accept-Language */
  readonly lang: string
  /** Counts this request as `requests` in total. Fails with 429 when fewer are left: call it before a change. */
  readonly charge: (requests: number) => Promise<void>
  /**
   * Binds the writes of the request to the password that it has shown, by its stored hash: the owner may set another
   * password meanwhile, and then a write is refused. A session is bound to its own.
   */
  readonly bindTo: (account: number, password: string | null) => void
  /**
   * Returns 32 random bytes for a secret in the answer. They are the same when the request is executed again; undefined
   * without an Idempotency-Key.
   */
  readonly seed: () => Promise<Buffer | undefined>
  readonly create: <C, S, E extends DomainEvent>(
    kind: keyof NextIds,
    decider: Decider<C, S, E>,
    make: (id: number) => C,
  ) => Promise<Handled<S, E> & { readonly id: number }>
  /** Returns what an earlier execution of this request has created, if it ended without an answer. */
  readonly created: <C, S, E extends DomainEvent>(
    kind: keyof NextIds,
    decider: Decider<C, S, E>,
  ) => Promise<(Handled<S, E> & { readonly id: number }) | undefined>
  /**
   * Returns the writer of one part of the request, such as a row: the ids of its commands follow from the
   * Idempotency-Key and `n`. `only`: the revisions that its first write may change.
   */
  readonly part: (n: number, only?: Revisions) => Writer
  /**
   * Runs `decide` with a writer whose changes are stored in one transaction once it resolves, all or none; in a dry
   * run, they are only checked. It may run several times. Then waits until the read tables have them.
   */
  readonly transaction: <R>(decide: (writer: Writer) => Promise<R>, options: { readonly dryRun: boolean }) => Promise<R>
  /**
   * Runs `work` with a writer whose changes wait only briefly for the read tables, each stored on its own. Then waits
   * for all of them.
   */
  readonly withoutWaiting: <R>(work: (writer: Writer) => Promise<R>) => Promise<R>
  /** Returns the parts that continue in the background after the answer, as the same caller. */
  readonly later: () => Pick<
    Call,
    | 'account'
    | 'from'
    | 'isAdmitted'
    | 'load'
    | 'pending'
    | 'reader'
    | 'resumed'
    | 'transaction'
    | 'withoutWaiting'
    | 'write'
  > & { readonly actor: Actor }
}
/** The caller of a request: an account, and its key, unless it is a user on the dashboard. */
export type Who = Pick<KeyHolder, 'account'> & {
  readonly key?: string
  readonly session?: number
  /** the account that the session is signed in to */
  readonly person?: number
  readonly member?: MemberHolder | undefined
  /** the credential that opened the session */
  readonly credential?: Credential
}

/** A reader of resources, and its sources. */
export type Reading = Pick<Call, 'account' | 'load' | 'reader' | 'pending'>
/** Writes the changes of an operator. `of` owns the subject; null: no account does. */
export type Operate = <C, S, E extends DomainEvent>(
  decider: Decider<C, S, E>,
  command: C,
  of: number | null,
) => Promise<Handled<S, E>>
/** Makes an approved change of the resource at a revision; undefined: at any. Once for each command. */
export type Apply = <C, S, E extends DomainEvent>(
  decider: Decider<C, S, E>,
  command: C,
  context: Omit<Cause, 'request'>,
  revision: number | undefined,
) => Promise<Handled<S, E>>
/** Changes resources on behalf of a request. */
export type Writer = Pick<Call, 'account' | 'load' | 'write' | 'create' | 'created' | 'part'>

/** Query parameters as strings; the first one of a repeated parameter. */
export type Query = Readonly<Record<string, string>>

interface Checks<P, Q, B> {
  /**
   * Whether it needs no key but must be closed to pages of other sites: a browser behind a firewall would call it for
   * them. It accepts only bodies with the content type of JSON, which such a page may not send without a permission
   * that it does not get.
   */
  readonly ownPagesOnly?: true
  /** a key without the scope may call it with the `current_password` of the account */
  readonly passwordInstead?: true
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  /**
   * Whether it is about the signed-in person: a session acts in its own account there, even if it has chosen another,
   * and keys of members may not call it; with `or key` they may, and a session may choose any account.
   */
  readonly person?: true | 'or key'
  /** Whether it shows and changes only the part of the account that its caller is limited to. */
  readonly limited?: true
  /** without a schema, a body is not read */
  readonly body?: z.ZodType<B>
  /** Reads the body; without it, the body is a JSON object of at most 64 KiB. */
  readonly read?: (ctx: Context, charge: Call['charge'], account: number | undefined) => Promise<unknown>
  /** Removes what `read` has stored and `run` has not taken, for a request that is refused or was answered before. */
  readonly release?: (read: unknown) => Promise<void>
  /**
   * Whether it reads or changes one resource that has a revision. A read has an ETag; a change obeys `If-Match`, which
   * the first `write` of the route compares.
   */
  readonly single?: true
  /** Its answer has statistics, which may take long. */
  readonly statistics?: true
  /** Its answer is about a period, which ends with the moment of the answer when no `to` is sent. */
  readonly period?: true
  /** Its answer consists of lines that are made while they are sent: see `src/http/streams`. */
  readonly stream?: true
  /** Its answer has a secret: under an Idempotency-Key, only the API key that sent the request gets it again. */
  readonly secret?: true
  /**
   * It sets a cookie, or is about the session that sends it: a repeated request is executed again, even with the same
   * Idempotency-Key.
   */
  readonly ofSession?: true
  /** Why a GET has no `at`: it answers about the present only, or reads after the answer has begun. */
  readonly nowOnly?: PresentOnly
  /**
   * Throws `Refused` unless the resource in the path belongs to the account. Runs before query and body are validated.
   */
  readonly owner?: (call: Reading & Pick<Call<P>, 'params' | 'resumed'>) => Promise<unknown>
}

type Method = 'get' | 'post' | 'put' | 'delete'

/**
 * The access to a route: public, and then counted per client address, or with an API key that has a scope (see
 * `scope.ts`).
 */
type Access = { readonly public: true; readonly scope?: never } | { readonly public?: never; readonly scope: Needed }

/** A route without its method and path. `run` returns the body of the answer, or what is sent instead. */
type Details<P, Q, B, R> = Checks<P, Q, B> & Access & { readonly run: (call: Call<P, Q, B>) => Promise<R> }

/** What is served at a path. */
export type Route = Details<unknown, unknown, unknown, object> & { readonly method: Method; readonly path: string }

type WithoutError<T> = T extends { readonly error: 0 } ? Omit<T, 'error'> : T
/**
 * The result of `run`, by the answer in a contract: the body, to which `error: 0` is added, or what is sent instead.
 */
type Returned<D extends Description> = D extends { readonly answerType: string }
  ? Download | Picture
  : WithoutError<Answer<D['answer']>> | (D extends { readonly answersAs: object } ? Download : never)

/**
 * Returns a route of a contract, by its method and path there. The compiler checks that `run` takes what the schemas of
 * the route accept, and returns what its contract says. Then the types are erased, so that routes fit into one list.
 */
export const endpoint = <C extends Contract, N extends keyof C & string, P = unknown, Q = unknown, B = unknown>(
  _contract: C,
  name: N,
  details: Details<P, Q, B, Returned<C[N]>>,
): Route => {
  const [method = '', path = ''] = name.split(' ')
  return { ...details, method: method.toLowerCase() as Method, path } as unknown as Route
}
