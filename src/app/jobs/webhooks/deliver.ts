import { webhook as webhooks } from '../../../commands/webhooks/webhook.ts'
import { Refused } from '../../../commands/decider.ts'
import type { Click } from '../../../events/statistics/click.ts'
import { type Recorded, systemMetadata } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import { isUnknown } from '../../../events/unknown.ts'
import type { WebhookStop } from '../../../events/webhooks/webhook.ts'
import { backOff } from '../../../lib/async/backoff.ts'
import { after, endReplay, fewRefs, type Hook, isBefore, type MessagePlace, type Ref } from './hook.ts'
import { passing } from './filter.ts'
import { createHosts } from './hosts.ts'
import { isHidden, type Message, messageOf, rangeOf, wantsClick } from './message.ts'
import type { Memberships } from './memberships.ts'
import type { WebhookOptions } from './options.ts'
import { afterProjector, pauseAfter } from './pauses.ts'
import { createReader } from './read.ts'
import { type Outcome, sendMessage } from './send.ts'

/** ms of failures after which a webhook is disabled */
const disableAfterMs = 3 * 86_400_000
const firstPause = 5000
/**
 * ms for which an event that this release cannot read waits for a process of another one, before it is sent without its
 * data
 */
const unreadableTimeoutMs = 600_000
/** attempts after which the oldest are deleted */
const trimEvery = 100

/**
 * Returns the attempt that is shown while an event waits for a process that can read it; undefined when it does not
 * wait.
 */
const waiting = (event: Recorded<LogEvent>): Outcome | undefined => {
  if (!isUnknown(event) || Date.now() - Date.parse(event.at) > unreadableTimeoutMs) return undefined
  const problem = `this release of Linkledger cannot read the event (${event.data.type}): it waits for a newer one, and is sent without data after ten minutes`
  return { status: null, excerpt: '', ms: 0, delivered: false, problem, retryAfterMs: 0 }
}

/** Moves a webhook past a message, unless it has begun again since. */
const passed = (hook: Hook, ref: Ref, starts: number) => {
  if (hook.starts !== starts) return false
  if (hook.refs[0] === ref) hook.refs.shift()
  if (!isBefore(after(ref), hook.resume)) hook.resume = after(ref)
  return true
}

export interface Delivery {
  /** Sends what a webhook has to send, unless it does so already. */
  readonly wake: (hook: Hook) => void
  /** Resolves once the attempts that were aborted have ended. */
  readonly idle: () => Promise<unknown>
}

interface DeliveryOptions extends WebhookOptions {
  readonly signal: AbortSignal
  readonly memberships: Pick<Memberships, 'has'>
  /** Called when a webhook has little left to send. */
  readonly onFew: () => void
}

/** Appends that a webhook is disabled, unless its owner has changed it meanwhile. */
const disable = async ({ handler, onDisabling, onProblem }: WebhookOptions, hook: Hook, reason: WebhookStop) => {
  const { id, account, revision } = hook
  try {
    if ((await handler.load(webhooks, id)).state.stopped !== null) return
    // first, so that no crash comes between; what is ordered says nothing unless the webhook is disabled then
    await onDisabling?.({ webhook: id, account })
    const command = { type: 'Disable', id, account, reason } as const
    await handler.handle(webhooks, command, systemMetadata(account), { revisions: [revision] })
  } catch (error) {
    // the next attempt decides again
    if (!(error instanceof Refused)) onProblem(error, `webhook ${id} could not be disabled; it is tried again`)
  }
}

/** Repeats work until it succeeds: a store that is down delays a webhook, and is not the fault of its receiver. */
const persistently = async <T>(work: () => Promise<T>, { signal, onProblem }: DeliveryOptions): Promise<T> => {
  const pause = backOff({ from: 200, to: 10_000, signal })
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      onProblem(error, 'a delivery to a webhook could not be read or stored; it is tried again')
      await pause.pause()
    }
  }
}

/** Stores an attempt, and what follows from it. */
const settle = async (
  options: DeliveryOptions,
  hook: Hook,
  ref: Ref,
  message: Message,
  { retryAfterMs, ...outcome }: Outcome,
  starts: number,
) => {
  const { state, firstPause: first = firstPause } = options
  const tries = hook.failing?.tries ?? 0
  const now = Date.now()
  const { delivered, status } = outcome
  const isCurrent = delivered ? passed(hook, ref, starts) : hook.starts === starts
  if (isCurrent)
    hook.failing = delivered
      ? undefined
      : { since: hook.failing?.since ?? now, tries: tries + 1, due: now + pauseAfter(tries + 1, first, retryAfterMs) }
  const place: MessagePlace = delivered ? after(ref) : ref
  const { failing } = hook
  const cursor = {
    starts,
    next: place.ordinal,
    part: place.part,
    failingSince: failing ? new Date(failing.since) : null,
    tries: failing?.tries ?? 0,
    dueAt: failing ? new Date(failing.due) : null,
    replay: hook.replay,
  }
  const { id: webhook, account } = hook
  const attempt = { webhook, account, message: message.id, type: message.type, ordinal: ref.ordinal, try: tries + 1 }
  await persistently(() => state.settle({ ...attempt, ...outcome }, cursor), options)
  if (!isCurrent) return
  hook.stored = { next: place.ordinal, part: place.part, idle: false, replay: hook.replay }
  if (status === 410) await disable(options, hook, 'gone')
  else if (failing && now - failing.since >= disableAfterMs) await disable(options, hook, 'failing')
}

const isDue = ({ definition, refs, failing }: Hook) =>
  definition !== undefined && refs.length > 0 && (failing?.due ?? 0) <= Date.now()

/** Sends messages, for each webhook one after another. */
export const createDelivery = (options: DeliveryOptions): Delivery => {
  const { post, presenter, signal, state, memberships, onAttempt, onFew, onProblem } = options
  const hosts = createHosts(options.firstPause ?? firstPause, signal)
  const read = createReader(options)
  const working = new Set<Promise<void>>()
  const projected = afterProjector(options)
  let attempts = 0

  const deliverFirst = async (hook: Hook, ref: Ref): Promise<void> => {
    const { starts } = hook
    const event = await persistently(() => read(ref), options)
    const { definition } = hook
    if (signal.aborted || !definition || hook.refs[0] !== ref) return
    const wants = (click: Click) => wantsClick({ account: hook.account, definition }, click)
    const judge = () => event && passing(memberships, definition, event, wants, rangeOf(ref))
    const passes = await persistently(async () => judge(), options)
    // what has changed meanwhile decides again
    if (signal.aborted || hook.definition !== definition || hook.refs[0] !== ref) return
    const message = event && passes && messageOf(hook, event, ref, presenter, passes)
    const wait = event && waiting(event)
    if (!message || (!wait && isHidden(event, presenter))) return void passed(hook, ref, starts)
    const send = () => sendMessage(post, definition, message, signal)
    const outcome = wait ?? (await hosts.paced(hook, definition.url, send))
    // it was not the receiver that has ended it
    if (signal.aborted && !outcome.delivered) return
    if (!wait) onAttempt(outcome.delivered)
    await settle(options, hook, ref, message, outcome, starts)
    if (++attempts % trimEvery === 0) await state.trim(hook.id).catch(() => {})
  }
  const mayWork = (hook: Hook) => !signal.aborted && isDue(hook)

  const work = async (hook: Hook) => {
    while (mayWork(hook)) {
      const { url } = hook.definition!
      await projected()
      await hosts.inTurn(hook, url, async () => {
        const [ref] = hook.refs
        if (ref && mayWork(hook) && hook.definition?.url === url) await deliverFirst(hook, ref)
      })
      if (!hook.attached && hook.refs.length <= fewRefs) onFew()
    }
    const { failing } = hook
    clearTimeout(hook.timer)
    if (failing && hook.definition && hook.refs.length > 0 && !signal.aborted)
      hook.timer = setTimeout(() => wake(hook), Math.max(10, failing.due - Date.now()))
  }
  const wake = (hook: Hook) => {
    if (endReplay(hook)) onFew()
    if (hook.sending || signal.aborted || !hook.definition || hook.refs.length === 0) return
    hook.sending = true
    const done = work(hook)
      .catch((error: unknown) => {
        if (!signal.aborted) onProblem(error, `the deliveries of webhook ${hook.id} have stopped`)
      })
      .finally(() => {
        hook.sending = false
        working.delete(done)
        if (endReplay(hook)) onFew()
        // what came after the last look
        if (mayWork(hook)) wake(hook)
      })
    working.add(done)
  }
  return { wake, idle: () => Promise.allSettled([...working]) }
}
