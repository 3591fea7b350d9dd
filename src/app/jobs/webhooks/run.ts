import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDelivery } from './deliver.ts'
import { type Hook, isBefore, placeOf } from './hook.ts'
import { hostOf } from './hosts.ts'
import { openMemberships } from './memberships.ts'
import type { WebhookOptions } from './options.ts'
import { ordinalsOf, positionBefore } from './read.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createScanner } from './scan.ts'
import { followTail, type Tail } from './tail.ts'
import { withUnreadable } from './unreadable.ts'

/** ms between two looks at what has to be stored, and at read tables that are filled */
const [storeInterval, tablesInterval] = [1000, 500]
/** webhooks that are loaded at a time */
const loading = 50

const whenKnown = async ({ known }: WebhookOptions, signal: AbortSignal) => {
  for (;;) {
    const found = await known()
    if (found) return found
    await sleep(tablesInterval, undefined, { signal })
  }
}

const loadAll = async (registry: Registry, ids: readonly number[], signal: AbortSignal) => {
  for (let n = 0; n < ids.length && !signal.aborted; n += loading)
    await Promise.all(ids.slice(n, n + loading).map(registry.reload))
}

/** Those whom a host served before a restart must not wait for strangers who make it fail. */
const noteAccepted = (registry: Registry, accepted: ReadonlySet<number>) => {
  for (const hook of registry.all())
    if (hook.definition && accepted.has(hook.id)) hook.acceptedBy = hostOf(hook.definition.url)
}

/** Webhooks that had nothing left to deliver are where the tail was. */
const attachIdle = (registry: Registry, next: number) => {
  for (const hook of registry.all()) {
    if (!hook.stored.idle || !hook.definition) continue
    if (isBefore(hook.resume, { ordinal: next, part: 0 })) hook.resume = { ordinal: next, part: 0 }
    hook.attached = hook.resume.ordinal === next && hook.resume.part === 0
  }
}

/** Returns the webhooks whose stored places are not those of now. */
const movedIn = (registry: Registry) =>
  [...registry.all()].flatMap((hook) => {
    const place = placeOf(hook)
    const { starts, stored, scanned, attached, refs, replay } = hook
    const idle = attached && refs.length === 0
    const isPlaceStored = place
      ? stored.next === place.ordinal && stored.part === place.part && stored.idle === idle
      : scanned === hook.storedScanned
    const isStored = isPlaceStored && stored.replay === replay
    return isStored ? [] : [{ hook, starts, stored, place, scanned: scanned ?? 0n, idle, replay }]
  })

/** Stores how far the log was followed, together with where the webhooks are that depend on it. */
const storePlaces = async (
  { state, ordinals }: WebhookOptions,
  at: bigint,
  registry: Registry,
  signal: AbortSignal,
) => {
  const moved = movedIn(registry)
  const positions = [at, ...moved.flatMap(({ place, scanned }) => (place ? [] : [scanned]))].filter((one) => one > 0n)
  const known = await ordinalsOf({ ordinals }, positions, signal)
  const nextAfter = (position: bigint) => (known.get(position) ?? -1) + 1
  const placed = moved.map(({ place, scanned, ...one }) => {
    const { ordinal, part } = place ?? { ordinal: nextAfter(scanned), part: 0 }
    return { ...one, scanned, place: { next: ordinal, part, idle: one.idle, replay: one.replay } }
  })
  const rows = placed.map(({ hook, place, starts }) => ({ webhook: hook.id, starts, ...place }))
  if (!(await state.move(nextAfter(at), rows))) throw new Error('another process delivers to webhooks by now')
  for (const { hook, stored, place, scanned } of placed) {
    // an attempt may have stored a later place meanwhile
    if (hook.stored === stored) hook.stored = place
    hook.storedScanned = scanned
  }
}

/** Stores the places of webhooks while anything moves. */
const keepStored = async (options: WebhookOptions, tail: Tail, registry: Registry, signal: AbortSignal) => {
  let last = -1n
  while (!signal.aborted) {
    await sleep(storeInterval, undefined, { signal })
    options.onFollowed?.()
    const at = tail.position
    if (at === last && movedIn(registry).length === 0) continue
    await storePlaces(options, at, registry, signal)
    last = at
  }
}

/**
 * Delivers to all webhooks until the signal aborts. At most one process may do so at a time. Rejects when the log or
 * the tables fail.
 */
export const deliverWebhooks = async (given: WebhookOptions, stop: AbortSignal): Promise<void> => {
  const options = { ...given, store: withUnreadable(given.store, given.onProblem) }
  const failed = new AbortController()
  const signal = AbortSignal.any([stop, failed.signal])
  // every attempt listens to it
  setMaxListeners(0, signal)
  const next = await options.state.lead()
  const known = await whenKnown(options, signal)
  const before = next === undefined ? undefined : await positionBefore(options, next)
  const tail: Tail = { position: before === undefined || known.position < before ? known.position : before }

  const onChanged = (hook: Hook) => {
    scanner.wake()
    delivery.wake(hook)
  }
  const registry = createRegistry({ ...options, position: () => tail.position, onChanged })
  const memberships = openMemberships(options.store)
  const reading = { ...options, memberships, tail, registry, onGiven: (hook: Hook) => delivery.wake(hook) }
  const scanner = createScanner(reading)
  const delivery = createDelivery({ ...options, memberships, signal, onFew: scanner.wake })
  try {
    const ids = new Set([...known.webhooks, ...(await options.state.withCursor())])
    await loadAll(registry, [...ids], signal)
    noteAccepted(registry, await options.state.accepted())
    if (next !== undefined) attachIdle(registry, next)
    await allOrNone(failed, [
      () => followTail(reading, signal),
      () => scanner.scan(signal),
      () => keepStored(options, tail, registry, signal),
    ])
  } catch (error) {
    if (!stop.aborted) throw error
  } finally {
    failed.abort()
    for (const hook of registry.all()) clearTimeout(hook.timer)
    await delivery.idle()
  }
}

/** Runs work until all of it has ended. The first failure ends the rest, and is thrown. */
const allOrNone = async (failed: AbortController, work: readonly (() => Promise<void>)[]) => {
  const failures: unknown[] = []
  const run = async (one: () => Promise<void>) => {
    try {
      await one()
    } catch (error) {
      failures.push(error)
      failed.abort()
    }
  }
  await Promise.all(work.map(run))
  if (failures.length > 0) throw failures[0]
}
