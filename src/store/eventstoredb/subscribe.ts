import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client'
import { type Filter, NoEventThere } from '../../events/store.ts'
import { backOff } from '../../lib/async/backoff.ts'
import { TimedOut } from '../../lib/async/timeout.ts'
import type { Encoded } from '../slices.ts'
import { readAhead } from './buffer.ts'
import { isSilence } from './calls.ts'
import type { Clients } from './clients.ts'
import type { Head } from './head.ts'
import { typesOf } from './events.ts'
import { library } from './library.ts'
import type { Names } from './names.ts'

interface Range {
  readonly after: bigint
  readonly filter: Filter
  /** events in one batch at most */
  readonly limit: number
  readonly signal: AbortSignal
}

interface SubscribeParts {
  readonly clients: Clients
  readonly names: Names
  readonly head: Head
  readonly idAt: (position: bigint) => Promise<string | undefined>
  /** ms of silence after which a subscription is compared with the head of the log */
  readonly stall: number
  readonly onDropped: (error: unknown) => void
}

/**
 * Batches of events after a position. The client never resubscribes, so each subscription that ends is followed by
 * another.
 */
export const createSubscribe = (parts: SubscribeParts) =>
  async function* (range: Range): AsyncGenerator<readonly Encoded[]> {
    const { signal } = range
    const { clients, idAt, onDropped } = parts
    const retry = backOff({ from: 50, to: 2000, signal })
    let position = range.after
    while (!signal.aborted) {
      const client = clients.current()
      try {
        for await (const batch of subscription(client, { ...range, after: position }, parts)) {
          yield batch
          position = batch.at(-1)!.position
          retry.reset()
        }
        if (!signal.aborted) onDropped(new Error('the server ended a subscription'))
      } catch (error) {
        if (signal.aborted) return
        if (await isRefused(error, position, idAt)) throw new NoEventThere(position, error)
        if (isSilence(error)) clients.replace(client)
        onDropped(error)
      }
      await retry.pause()
    }
  }

/**
 * Returns whether the server refuses the position for ever. It does not say so, and the same error may have another
 * cause.
 */
const isRefused = async (error: unknown, position: bigint, idAt: SubscribeParts['idAt']) =>
  error instanceof library().UnknownError &&
  position > 0n &&
  (await idAt(position).then(
    (id) => id === undefined,
    () => false,
  ))

/** gRPC's code for what the server ends by itself: of subscriptions, those that are too slow */
const aborted = 10

/** Whether the server has dropped a live subscription, because its reader was more than 32 events behind. */
export const isTooSlow = (error: unknown): boolean => (error as { readonly code?: unknown }).code === aborted

/** The batches of one subscription, until it ends or fails. */
const subscription = async function* (
  client: EventStoreDBClient,
  { after, filter, limit, signal }: Range,
  { names, head, stall }: SubscribeParts,
): AsyncGenerator<readonly Encoded[]> {
  const call = openCall(client, after, names.filter(typesOf[filter], checkpointInterval))
  const end = () => void call.destroy()
  signal.addEventListener('abort', end)
  if (signal.aborted) end()

  let position = after
  const watch = watchSilence(stall, async () => {
    // when the head cannot be read, the subscription may be lost as well
    const isBehind = await head(filter).then(
      (newest) => newest > position,
      () => true,
    )
    return isBehind ? () => call.destroy(new TimedOut(`a subscription was silent for ${stall} ms`)) : undefined
  })
  const buffer = readAhead(call, filter, names, watch.heard)
  try {
    for (;;) {
      const batch = await buffer.next(limit)
      if (batch.length === 0 || signal.aborted) return
      position = batch.at(-1)!.position
      watch.pause()
      yield batch
      watch.resume()
    }
  } finally {
    watch.stop()
    buffer.close()
    signal.removeEventListener('abort', end)
    call.destroy()
    void call.unsubscribe().catch(() => {})
  }
}

/** Checkpoints are not used: the server may send one that is ahead of an event it has not sent yet. */
const checkpointInterval = 100

const openCall = (
  client: EventStoreDBClient,
  after: bigint,
  filter: ReturnType<Names['filter']>,
): AllStreamSubscription => {
  const call = client.subscribeToAll({
    fromPosition: after === 0n ? library().START : { commit: after, prepare: after },
    filter,
    requiresLeader: true,
  })
  call.on('error', () => {})
  return call
}

/**
 * Runs `check` after each `stall` ms of silence. The action it returns is taken unless something was heard meanwhile.
 */
const watchSilence = (stall: number, check: () => Promise<(() => void) | undefined>) => {
  let heardAt = performance.now()
  let paused = false
  const look = async () => {
    const before = heardAt
    const action = await check()
    if (heardAt !== before || paused) return
    heardAt = performance.now()
    action?.()
  }
  const timer = setInterval(() => void (!paused && performance.now() - heardAt > stall && look()), stall / 4).unref()
  return {
    heard: () => {
      heardAt = performance.now()
    },
    /** While the reader handles a batch, the subscription may be held back. */
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
      heardAt = performance.now()
    },
    stop: () => clearInterval(timer),
  }
}
