import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import { type Filter, readToHead } from '../../../events/store.ts'
import { type Hook, isBefore, type Ref } from './hook.ts'
import { type Presenter, wantedParts } from './message.ts'
import type { WebhookOptions } from './options.ts'

/** events that are read at once */
export const batch = 500
/** events that are kept in memory */
const recentEvents = 8
/** ms until a position without an ordinal is read again */
const notNumbered = 50

export type Events = readonly Recorded<LogEvent>[]
type Ordinals = Pick<WebhookOptions, 'ordinals'>

/** Returns the ordinals of positions, once all of them are numbered. Rejects when the signal aborts. */
export const ordinalsOf = async (
  { ordinals }: Ordinals,
  positions: readonly bigint[],
  signal: AbortSignal,
): Promise<ReadonlyMap<bigint, number>> => {
  for (;;) {
    const found = await ordinals.of(positions)
    if (positions.every((position) => found.has(position))) return found
    await sleep(notNumbered, undefined, { signal })
  }
}

/** Returns the position of the event before an ordinal: reading from that ordinal on begins after it. */
export const positionBefore = async ({ ordinals }: Ordinals, ordinal: number): Promise<bigint> => {
  if (ordinal === 0) return 0n
  const found = await ordinals.positionOf(ordinal - 1)
  if (found !== undefined) return found
  // a database that was restored from a backup may have a shorter log
  const head = await ordinals.head()
  return head === 0 ? 0n : ((await ordinals.positionOf(Math.min(ordinal, head) - 1)) ?? 0n)
}

interface Part {
  readonly after: bigint
  /** what is further away is not needed: on no engine, two events have positions that differ by less than one */
  readonly until: bigint
  readonly filter: Filter
}

/** Returns the next events of a part of the log; none when none pass the filter. */
export const readSome = async (
  { store }: Pick<WebhookOptions, 'store'>,
  { after, until, filter }: Part,
  signal: AbortSignal,
): Promise<Events> => {
  const limit = Math.min(batch, Number(until - after))
  for await (const events of readToHead(store, { after, filter, limit, signal })) return events
  return []
}

/** An event, and the webhooks that it may concern. */
export interface Concerned {
  readonly event: Recorded<LogEvent>
  readonly ordinal: number
  readonly hooks: readonly Hook[]
}

/** Returns the events that concern any webhook. */
export const concernedIn = async (
  options: Ordinals,
  events: Events,
  hooksOf: (event: Recorded<LogEvent>) => readonly Hook[],
  signal: AbortSignal,
): Promise<readonly Concerned[]> => {
  const found = events.map((event) => ({ event, hooks: hooksOf(event) })).filter(({ hooks }) => hooks.length > 0)
  const positions = found.map(({ event }) => event.position)
  const ordinals = await ordinalsOf(options, positions, signal)
  return found.map(({ event, hooks }) => ({ event, hooks, ordinal: ordinals.get(event.position)! }))
}

/** Adds the messages of an event to what a webhook has to send. */
export const give = (hook: Hook, { event, ordinal }: Omit<Concerned, 'hooks'>, presenter: Presenter): void => {
  for (const part of wantedParts(hook, event, presenter)) {
    const place = { ordinal, part }
    const isWanted = !isBefore(place, hook.resume) && (!hook.replay || ordinal < hook.replay.until)
    if (isWanted) hook.refs.push({ ...place, stream: event.stream, revision: event.revision })
  }
}

const readFrom = async (
  { store }: Pick<WebhookOptions, 'store'>,
  { stream, revision }: Pick<Ref, 'stream' | 'revision'>,
) => {
  for await (const event of store.read(stream, revision, 1)) return event
  return undefined
}
/** Returns what reads an event. One with many clicks makes several messages, and may concern several webhooks. */
export const createReader = (options: Pick<WebhookOptions, 'store'>) => {
  const recent = new QuickLRU<string, ReturnType<typeof readFrom>>({ maxSize: recentEvents })
  return (ref: Pick<Ref, 'stream' | 'revision'>) => {
    const name = `${ref.stream}@${ref.revision}`
    const found = recent.get(name) ?? readFrom(options, ref)
    recent.set(name, found)
    return found.catch((error: unknown) => {
      recent.delete(name)
      throw error
    })
  }
}
