import type { Context } from 'koa'
import type { Execution, IdempotencyStore } from '../../../security/idempotency.ts'
import { fail, failField, Failure, failureOf } from '../errors.ts'
import { requestHeaders } from '../../../lib/strangers.ts'
import { type Problem, problem } from '../../../lib/problems/problem.ts'

/** The key may be in quotes, as in the IETF draft, or without, as with Stripe. */
const readKey = (ctx: Context): string | undefined => {
  const sent = ctx.req.headersDistinct['idempotency-key']
  if (sent === undefined) return undefined
  const key = sent
    .join(', ')
    .slice(0, requestHeaders['idempotency-key'])
    .replace(/^"(.*)"$/, '$1')
  if (sent.length === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  return failField('Idempotency-Key', 'wrong_form', { what: 'idempotency_key' })
}

/** Failures that say nothing about the request itself: the same request may succeed later, and some say when. */
const isPassing = ({ status, headers }: Failure) =>
  status >= 500 || [401, 403, 429].includes(status) || 'Retry-After' in headers

export interface Keyed {
  /** whether the route takes no key */
  readonly isOff: true | undefined
  /** whose key it is: an account, or the address block of a client without one */
  readonly scope: string
  readonly account: number | undefined
  /** the body, as it was read */
  readonly body: unknown
  /** the API key that alone gets the answer again, because it has a secret */
  readonly only: string | undefined
  /** the rights of a caller that has not all: other callers may be told more, or less */
  readonly rights: readonly string[] | undefined
}

/**
 * Executes a request once for its Idempotency-Key: a repeated one gets the stored answer. `execute` calls `begin` when
 * all checks are passed and execution begins; a failure before is not stored, and the key counts as not used. Fails
 * with 400, 409 or 422.
 */
export const onceForKey = async (
  ctx: Context,
  store: IdempotencyStore,
  { isOff, scope, account, body, only, rights }: Keyed,
  execute: (execution: Execution | undefined, begin: () => void) => Promise<object>,
): Promise<object> => {
  const key = isOff || ctx.method === 'GET' || ctx.method === 'HEAD' ? undefined : readKey(ctx)
  if (key === undefined) return execute(undefined, () => {})
  // with another condition it is another request: the stored answer would ignore the condition
  const condition = ctx.req.headers['if-match']
  const more = [condition, only, rights].every((one) => one === undefined) ? [] : [{ condition, only, rights }]
  const request = JSON.stringify([ctx.method, ctx.path, ctx.querystring, body ?? null, ...more])
  const begun = await store.begin(scope, key, request)
  switch (begun.kind) {
    case 'other':
      return fail(422, 'idempotency_key_used', {})
    case 'running':
      return fail(409, 'still_running', { what: 'request' }, { 'Retry-After': '1' })
    case 'answered':
      return replay(ctx, begun.answer)
    case 'execute':
      return perform(begun.execution, account, execute)
  }
}

/** What is stored of a failure. */
interface StoredFailure {
  readonly problem: Problem
  readonly details: object
}
/** What an older release stored of one. */
interface StoredMessage {
  readonly message: string
}

const replay = (ctx: Context, { status, body }: { readonly status: number; readonly body: object }): object => {
  ctx.set('Idempotent-Replayed', 'true')
  if (status === 200) return body
  if ('problem' in body) {
    const { problem: reason, details } = body as StoredFailure
    throw new Failure(status, reason, {}, details)
  }
  const { message, ...details } = body as StoredMessage
  throw new Failure(status, problem('bad_request', { what: 'stored', message }), {}, details)
}

const perform = async (
  execution: Execution,
  account: number | undefined,
  execute: (execution: Execution, begin: () => void) => Promise<object>,
): Promise<object> => {
  let begun = false
  try {
    const body = await execute(execution, () => (begun = true))
    // a registration has just made the account whose key it has
    const owner = account ?? (body as { readonly id?: number }).id ?? null
    await execution.answer(owner, { status: 200, body }).catch(() => execution.interrupt())
    return body
  } catch (error) {
    const failure = failureOf(error)
    const { status, problem: reason, details } = failure
    const end = async () => {
      if (!begun) return execution.forget()
      if (isPassing(failure)) return execution.interrupt()
      return execution.answer(account ?? null, { status, body: { problem: reason, details } satisfies StoredFailure })
    }
    // without a database, the execution counts as ended after a while
    await end().catch(() => {})
    throw error
  }
}
