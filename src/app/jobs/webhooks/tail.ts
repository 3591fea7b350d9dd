import { setTimeout as sleep } from 'node:timers/promises'
import type { Filter } from '../../../events/store.ts'
import { parseStreamId } from '../../../events/streams.ts'
import { type Hook, mostRefs } from './hook.ts'
import type { Memberships } from './memberships.ts'
import type { WebhookOptions } from './options.ts'
import { batch, concernedIn, type Events, give } from './read.ts'
import type { Registry } from './registry.ts'

/** Events of an account after which its webhooks send, or do not. */
const ofOwner = /^Account(?:Disabled|Enabled|Erased)$/

/** Without a webhook that sends clicks, they are not read. */
const filterOf = (registry: Registry): Filter => (registry.wantsClicks() ? 'all' : 'domain')

export interface Tail {
  /** position up to which the tail has given events to webhooks */
  position: bigint
}
export interface TailOptions extends Pick<WebhookOptions, 'store' | 'texts' | 'ordinals' | 'presenter'> {
  readonly tail: Tail
  readonly registry: Registry
  readonly memberships: Pick<Memberships, 'changed'>
  /** Called with webhooks that may have something to send. */
  readonly onGiven: (hook: Hook) => void
}

/** Gives events to the webhooks that are attached. */
const route = async ({ registry, onGiven, tail, ...options }: TailOptions, events: Events, signal: AbortSignal) => {
  const concerned = await concernedIn(options, events, registry.concerned, signal)
  // nothing is waited for from here on: who is attached must not change between two events
  for (const { hooks, ...given } of concerned)
    for (const hook of hooks) {
      if (!hook.attached || (hook.scanned !== undefined && given.event.position <= hook.scanned)) continue
      give(hook, given, options.presenter)
      if (hook.refs.length > mostRefs) {
        hook.attached = false
        hook.scanned = given.event.position
      }
      onGiven(hook)
    }
  tail.position = events.at(-1)?.position ?? tail.position
}

/** Returns false once other events have to be read than those that pass the filter. */
const take = async (options: TailOptions, events: Events, filter: Filter, signal: AbortSignal) => {
  const { registry, memberships } = options
  events.forEach(memberships.changed)
  let from = 0
  for (const [i, { stream, type }] of events.entries()) {
    const { kind, number } = parseStreamId(stream)
    const isOwner = kind === 'account' && ofOwner.test(type)
    if (kind !== 'webhook' && !(isOwner && registry.hasAccount(number))) continue
    await route(options, events.slice(from, i), signal)
    from = i
    await (isOwner ? registry.reloadAccount(number) : registry.reload(number))
    if (filterOf(registry) !== filter) return false
  }
  await route(options, events.slice(from), signal)
  return true
}

/** ms between two looks at the log while there is no webhook */
const quietInterval = 250

const hasNone = (registry: Registry) => registry.all().next().done === true

/**
 * Passes the events before the next one of a webhook. They are read many at a time and not decoded, because there is no
 * webhook that sends them.
 */
const passUntilWebhook = async ({ texts, tail, memberships }: TailOptions, signal: AbortSignal) => {
  for await (const events of texts?.({ after: tail.position, filter: 'domain', limit: batch, signal }) ?? []) {
    const first = events.findIndex(({ stream }) => parseStreamId(stream).kind === 'webhook')
    const passed = first < 0 ? events : events.slice(0, first)
    passed.forEach(memberships.changed)
    tail.position = passed.at(-1)?.position ?? tail.position
    if (first >= 0) return
    await sleep(quietInterval, undefined, { signal }).catch(() => {})
  }
}

/**
 * Follows the log once for all webhooks, from the tail's position on, until the signal aborts. What a webhook is, is
 * read when an event says that it has changed, so that a change takes effect at its place in the log.
 */
export const followTail = async (options: TailOptions, signal: AbortSignal): Promise<void> => {
  const { store, texts, tail, registry } = options
  const isQuiet = () => texts !== undefined && hasNone(registry)
  while (!signal.aborted) {
    if (isQuiet()) await passUntilWebhook(options, signal)
    const filter = filterOf(registry)
    const ends = new AbortController()
    const until = AbortSignal.any([signal, ends.signal])
    try {
      for await (const events of store.subscribe({ after: tail.position, filter, limit: batch, signal: until }))
        if (!(await take(options, events, filter, signal)) || isQuiet()) break
    } finally {
      ends.abort()
    }
  }
}
