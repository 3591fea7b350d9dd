import type { Context } from 'koa'
import type { Execution, IdempotencyStore } from '../../../security/idempotency.ts'
import { Failure, fail, failureOf } from '../errors.ts'

/** The key may be in quotes, as in the IETF draft, or without, as with Stripe. */
const readKey = (ctx: Context): string | undefined => {
  const sent = ctx.req.headersDistinct['idempotency-key']
  if (sent === undefined) return undefined
  const key = sent.join(', ').replace(/^"(.*)"$/, '$1')
  if (sent.length === 1 && /^[\x20-\x7e]{1,255}$/.test(key)) return key
  return fail(
    400,
    '`Idempotency-Key` must be sent once and have 1 to 255 printable ASCII characters, for example a UUID.',
  )
}

/** Failures that say nothing about the request itself: the same request may succeed later. */
const isPassing = (status: number) => status >= 500 || [401, 403, 429].includes(status)

export interface Keyed {
  /** whose key it is: an account, or the address block of a client without one */
  readonly scope: string
  readonly account: number | undefined
  /** the body, as it was read */
  readonly body: unknown
  /** the API key that alone gets the answer again, because it has a secret */
  readonly only: string | undefined
}

/**
 * Executes a request once for its Idempotency-Key: a repeated one gets the stored answer. `execute` calls `begin` when all checks are
 * passed and execution begins; a failure before is not stored, and the key counts as not used. Fails with 400, 409 or 422.
 */
export const onceForKey = async (
  ctx: Context,
  store: IdempotencyStore,
  { scope, account, body, only }: Keyed,
  execute: (execution: Execution | undefined, begin: () => void) => Promise<object>,
): Promise<object> => {
  const key = ctx.method === 'GET' || ctx.method === 'HEAD' ? undefined : readKey(ctx)
  if (key === undefined) return execute(undefined, () => {})
  // with another condition it is another request: the stored answer would ignore the condition
  const condition = ctx.req.headers['if-match']
  const more = condition === undefined && only === undefined ? [] : [{ condition, only }]
  const request = JSON.stringify([ctx.method, ctx.path, ctx.querystring, body ?? null, ...more])
  const begun = await store.begin(scope, key, request)
  switch (begun.kind) {
    case 'other':
      return fail(422, 'This `Idempotency-Key` was used for another request. Use a new key for each request.')
    case 'running':
      return fail(409, 'The first request with this `Idempotency-Key` is still running. Try again shortly.', {
        'Retry-After': '1',
      })
    case 'answered':
      return replay(ctx, begun.answer)
    case 'execute':
      return perform(begun.execution, account, execute)
  }
}

const replay = (ctx: Context, { status, body }: { readonly status: number; readonly body: object }): object => {
  ctx.set('Idempotent-Replayed', 'true')
  if (status === 200) return body
  const { message, ...details } = body as { readonly message: string }
  throw new Failure(status, message, {}, details)
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
    const { status, message, details } = failureOf(error)
    const end = async () => {
      if (!begun) return execution.forget()
      if (isPassing(status)) return execution.interrupt()
      return execution.answer(account ?? null, { status, body: { message, ...details } })
    }
    // without a database, the execution counts as ended after a while
    await end().catch(() => {})
    throw error
  }
}
