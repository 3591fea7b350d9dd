import { asSent } from '../http/streams/publicevent.ts'
import { account as accounts } from '../commands/accounts/account.ts'
import { webhook as webhooks } from '../commands/webhooks/webhook.ts'
import type { WebhookSending } from '../http/webhooks/test.ts'
import { messageAt } from './jobs/webhooks/again.ts'
import { hostOf } from './jobs/webhooks/hosts.ts'
import { sendMessage } from './jobs/webhooks/send.ts'
import { type Message, testMessage } from './jobs/webhooks/message.ts'
import type { Attempt, WebhookOptions, WebhookState } from './jobs/webhooks/options.ts'
import { deliverWebhooks } from './jobs/webhooks/run.ts'
import { aborted } from '../lib/async/aborted.ts'
import { batch } from '../lib/async/batch.ts'
import { type GuardedPost, openPost } from '../lib/post.ts'
import { startExclusive } from '../postgres/exclusive.ts'
import { frozenAfter, openLocks } from '../postgres/listen.ts'
import { limiter } from '../postgres/ratelimits.ts'
import {
  acceptedWebhooks,
  beginCursor,
  clearFailures,
  deleteCursors,
  holdCursor,
  insertAttempt,
  moveCursors,
  settleAttempts,
  takeLead,
  trimAttempts,
  webhooksWithCursor,
} from '../postgres/webhooks.ts'
import { type Checkpoint, checkpoints } from '../projections/engine/tables.ts'
import { webhooks as webhookTables } from '../projections/webhooks/webhook.ts'
import { webhookIds } from '../queries/webhooks/webhook.ts'
import { openOutbox } from '../security/outbox.ts'
import type { Ledger } from './log/ledger.ts'

/** key of the lock that the delivering process holds */
const lockKey = 7275471n
/** attempts to keep for each webhook */
const mostAttempts = 1000

/** maximum number of attempts to store together */
const mostSettled = 100

/** Returns a function that stores attempts: those that end while some are being stored share the next transaction. */
const openSettling = (db: Ledger['db'], leader: string): WebhookState['settle'] => {
  const settle = async (settled: Parameters<typeof settleAttempts>[2]) => {
    await settleAttempts(db, leader, settled)
    return settled
  }
  const together = batch(mostSettled, settle)
  return async (attempt, cursor) => {
    const one = { ...attempt, cursor }
    // an attempt that cannot be stored must not delay the others
    await together(one).catch(() => settle([one]))
  }
}

const openState = (db: Ledger['db'], leader: string): WebhookState => ({
  lead: () => takeLead(db, leader),
  withCursor: () => webhooksWithCursor(db),
  accepted: () => acceptedWebhooks(db),
  begin: (webhook) => beginCursor(db, webhook),
  hold: (webhook) => holdCursor(db, webhook),
  clearFailures: (webhook) => clearFailures(db, webhook),
  remove: (webhooks) => deleteCursors(db, webhooks),
  move: (next, moved) => moveCursors(db, { leader, next, moved }),
  settle: openSettling(db, leader),
  trim: (webhook) => trimAttempts(db, webhook, mostAttempts),
})

/** Returns the webhooks in the read tables. Reads the position first: the tables have at least as much. */
const known = async ({ db, reader, tables }: Pick<Ledger, 'db' | 'reader' | 'tables'>) => {
  const { name, version } = webhookTables
  const [live] = await db<Checkpoint>(checkpoints).where({ live: true, projection: name, version })
  if (!live || !tables.complete()) return undefined
  return { position: BigInt(live.position), webhooks: await webhookIds(reader) }
}

/** maximum mails about webhooks of an account in an hour */
const mostMails = 5

/** Returns a function that mails the owner of a disabled webhook, with SMTP_URL. */
const createNotice = ({ config, db, keys }: Pick<Ledger, 'config' | 'db' | 'keys'>): WebhookOptions['onDisabling'] => {
  if (config.SMTP_URL === undefined) return undefined
  const outbox = openOutbox(db, keys.service)
  const { count } = limiter(db, keys.service)
  return async ({ webhook, account }) => {
    if ((await count(`mail webhooks ${account}`, mostMails, 3600)).over) return
    await outbox.order({ kind: 'webhookDisabled', lang: 'en', webhook }, account)
  }
}

/** Options that tests replace. */
export interface WebhookOverrides {
  readonly post?: GuardedPost
  /** ms from the first failed attempt to the second */
  readonly firstPause?: number
}

/** Counts attempts to deliver by their outcome. */
const countAttempts = ({ registerCounter }: Pick<Ledger['metrics'], 'registerCounter'>) => {
  const attempts = { delivered: 0, failed: 0 }
  registerCounter({
    name: 'linkledger_webhook_attempts_total',
    help: 'Attempts to deliver a message to a webhook, by outcome',
    label: 'outcome',
    read: () => attempts,
  })
  return (delivered: boolean) => void attempts[delivered ? 'delivered' : 'failed']++
}

/** Whether a webhook may have been deleted, or its account erased. */
const isGone = async ({ handler }: Pick<Ledger, 'handler'>, webhook: number) => {
  const { state } = await handler.load(webhooks, webhook)
  return state.status !== 'open' || (await handler.load(accounts, state.account)).state.status === 'erased'
}

/** messages in a minute that one host gets at once, from one account and from all */
const [nowOfAccount, nowOfAll] = [20, 100]

/** Returns a function that tells whether a host has used up its immediate messages of this minute, across processes. */
const countingNow = ({ db, keys }: Pick<Ledger, 'db' | 'keys'>) => {
  const { count } = limiter(db, keys.service)
  return async (account: number, url: string) => {
    const host = hostOf(url)
    if ((await count(`tested ${account} ${host}`, nowOfAccount, 60)).over) return true
    return (await count(`tested ${host}`, nowOfAll, 60)).over
  }
}

const problem = 'nothing was sent, because this host has got many messages at once: try again in a minute'
const notSent = { status: null, excerpt: '', ms: 0, delivered: false, problem }

/** Returns a function that sends one message at once, and stores the attempt. */
const sendingNow = ({ db, handler, keys }: Pick<Ledger, 'db' | 'handler' | 'keys'>, post: GuardedPost) => {
  const isOver = countingNow({ db, keys })
  return async (
    of: Pick<Attempt, 'account' | 'webhook' | 'ordinal'>,
    target: Parameters<typeof sendMessage>[1],
    message: Message,
  ) => {
    if (await isOver(of.account, target.url)) return { message: message.id, ...notSent }
    const { retryAfterMs: _, ...outcome } = await sendMessage(post, target, message)
    await insertAttempt(db, { ...of, message: message.id, type: message.type, try: 1, ...outcome })
    await trimAttempts(db, of.webhook, mostAttempts)
    // the job that deletes its rows may have run before this one was stored
    if (await isGone({ handler }, of.webhook)) await deleteCursors(db, [of.webhook])
    return { message: message.id, ...outcome }
  }
}

/** Returns whether the operator blocks an address. */
export type IsBlocked = (url: string) => boolean | Promise<boolean>

/** Sends nothing to an address that the operator blocks, even if it was blocked after the webhook was created. */
const unlessBlocked = (post: GuardedPost, isBlocked: IsBlocked): GuardedPost => ({
  ...post,
  send: async (message) =>
    (await isBlocked(message.url))
      ? { status: undefined, problem: 'the operator of this service blocks this address' }
      : post.send(message),
})

type Messages = Pick<Ledger, 'config' | 'db' | 'handler' | 'instance' | 'keys' | 'log' | 'ordinals' | 'store'>

/** Returns the content and the destination of messages. */
const openMessages = (
  { db, handler, instance, log, ordinals, store }: Messages,
  isBlocked: IsBlocked,
  { post = openPost(), firstPause }: WebhookOverrides,
) => ({
  ...{ store, texts: store.texts, handler, ordinals, presenter: asSent, firstPause },
  state: openState(db, instance),
  post: unlessBlocked(post, isBlocked),
  onProblem: (error: unknown, what: string) => log.error({ err: error }, what),
})

/** Opens the sending of single messages on request. */
export const openSending = (
  ledger: Messages,
  isBlocked: IsBlocked,
  overrides: WebhookOverrides = {},
): WebhookSending => {
  const options = openMessages(ledger, isBlocked, overrides)
  const sendNow = sendingNow(ledger, options.post)
  return {
    test: ({ account, webhook, id, ...target }) =>
      sendNow({ account, webhook, ordinal: null }, target, testMessage(webhook, id, new Date())),
    resend: async ({ webhook, own, message: { id, ...place } }) => {
      const found = await messageAt(options, own, place)
      // the id of a message that was unreadable when it was sent may differ now
      if (!found || (found.message.id !== id && !id.endsWith('_unreadable'))) return undefined
      return sendNow({ account: own.account, webhook, ordinal: place.ordinal }, found.definition, found.message)
    },
    problemOf: options.post.problemOf,
  }
}

/** Delivers events to webhooks, unless another process does. Returns a function that stops it. */
export const startDelivering = (
  ledger: Messages & Pick<Ledger, 'connection' | 'jobs' | 'logCheck' | 'metrics' | 'reader' | 'tables'>,
  isBlocked: IsBlocked,
  { isProjecting, ...overrides }: WebhookOverrides & Pick<WebhookOptions, 'isProjecting'> = {},
): (() => Promise<void>) => {
  const { connection, instance, log, logCheck, metrics } = ledger
  const job = ledger.jobs.open('webhooks', 'nothing is delivered to webhooks')
  const calls = { isProjecting, onAttempt: countAttempts(metrics), onDisabling: createNotice(ledger) }
  const options = { ...openMessages(ledger, isBlocked, overrides), ...calls }
  const stopping = new AbortController()
  const ended = aborted(stopping.signal)
  const stop = startExclusive({
    open: async () => {
      await Promise.race([logCheck.passed, ended])
      return openLocks(connection, `${instance}-webhooks`, frozenAfter)
    },
    key: lockKey,
    work: (signal) => deliverWebhooks({ ...options, known: () => known(ledger), onFollowed: job.worked }, signal),
    onWorked: job.worked,
    onFailed: job.telling((error) =>
      log.error({ err: error }, 'deliveries to webhooks have stopped; they are started again'),
    ),
  })
  return () => {
    stopping.abort()
    return stop()
  }
}
