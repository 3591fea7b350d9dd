import type { EventType } from '../../../events/index.ts'
import { hasOwnKey } from '../../../events/sealing.ts'
import type { Posted } from '../../../lib/post.ts'
import { webhookHeaders } from '../../../security/webhooks.ts'
import { type Definition, secretsOf } from './hook.ts'
import type { Message } from './message.ts'
import type { Attempt, WebhookOptions } from './options.ts'

/** ms of the longest pause that a receiver can ask for */
const maxRetryAfterMs = 3_600_000

/** What an attempt has shown. */
export type Outcome = Pick<Attempt, 'status' | 'ms' | 'delivered' | 'problem' | 'excerpt'> & {
  /** ms that the receiver wants us to wait */
  readonly retryAfterMs: number
}

const problemOf = (posted: Posted): string => {
  if (posted.status === undefined) return posted.problem
  if (posted.status >= 300 && posted.status < 400) return 'the server redirects: use the address that it redirects to'
  return posted.status >= 200 && posted.status < 300 ? '' : `the server responded with status ${posted.status}`
}

/** Sends one message. */
export const sendMessage = async (
  post: WebhookOptions['post'],
  definition: Pick<Definition, 'url' | 'secret' | 'old'>,
  { id, type, body }: Message,
  stop?: AbortSignal,
): Promise<Outcome> => {
  const now = new Date()
  const signed = { id, body, timestamp: Math.floor(now.getTime() / 1000) }
  const headers = webhookHeaders(secretsOf(definition, now), signed)
  const posted = await post.send({ url: definition.url, headers, body, stop })
  const problem = problemOf(posted)
  const answered = posted.status === undefined ? { status: null, excerpt: '' } : posted
  return {
    status: answered.status,
    // a receiver may repeat the message, and a visitor's text can be erased separately
    excerpt: hasOwnKey(type as EventType) ? '' : answered.excerpt,
    ms: Date.now() - now.getTime(),
    delivered: problem === '',
    problem,
    retryAfterMs: posted.status === undefined ? 0 : Math.min((posted.retryAfter ?? 0) * 1000, maxRetryAfterMs),
  }
}
