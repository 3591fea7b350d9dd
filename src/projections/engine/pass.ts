import type { Knex } from 'knex'
import { Unreadable } from '../../events/codec.ts'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { type ApplyOptions, applyEvents, concerns, type Poison, skipEvent } from './apply.ts'
import type { Member } from './members.ts'

export interface PassOptions extends ApplyOptions {
  /** Called when a member cannot get past an event. The others go on without it. */
  readonly onHalted: (member: Member, problem: Poison | Unreadable) => Promise<void> | void
}

const positionsOf = (members: readonly Member[]) => members.map(({ checkpoint }) => BigInt(checkpoint.position))

/** The lowest position that a member has reached: what comes after it has to be read. */
export const least = (members: readonly Member[]) => positionsOf(members).reduce((a, b) => (a < b ? a : b))
/** The highest position that a member has reached. */
export const greatest = (members: readonly Member[]) => positionsOf(members).reduce((a, b) => (a > b ? a : b))

/**
 * Applies what `read` returns after a position, to all members in one pass over the log. Returns the members that got
 * to the end. Reading starts again when a member is halted, since the others may be far ahead of it.
 */
export const applyLog = async (
  db: Knex,
  members: readonly Member[],
  read: (after: bigint) => AsyncIterable<readonly Recorded<LogEvent>[]>,
  { onHalted, ...options }: PassOptions,
): Promise<readonly Member[]> => {
  let running = members
  const halt = async (name: string, problem: Poison | Unreadable) => {
    running = running.filter(({ projection }) => projection.name !== name)
    const member = members.find(({ projection }) => projection.name === name)
    if (member) await onHalted(member, problem)
  }

  /** Returns whether a member was halted. */
  const applyBatches = async () => {
    for await (const events of read(least(running))) {
      const onApplied = async (now: readonly Member[], position: bigint) => {
        running = now
        await options.onApplied?.(now, position)
      }
      const { halted } = await applyEvents(db, running, events, { ...options, onApplied })
      for (const poison of halted) await halt(poison.projection, poison)
      if (halted.length > 0) return true
    }
    return false
  }

  for (let again = true; again && running.length > 0 && !options.signal?.aborted;) {
    try {
      again = await applyBatches()
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      // events before it may not be applied yet
      if (options.signal?.aborted) break
      const { event } = error
      for (const { projection } of running.filter((member) => concerns(member)(event)))
        await halt(projection.name, error)
      running = await skipEvent(db, running, event, options.notification)
      if (running.length > 0) await options.onApplied?.(running, event.position)
    }
  }
  return running
}
