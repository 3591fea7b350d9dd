import type { Handled } from '../context.ts'
import type { Reclassification, ReclassificationCommand } from './reclassification.ts'

type Data = Extract<ReclassificationCommand, { type: 'AddPart' }>['data']
type Write = (
  command: ReclassificationCommand,
) => Promise<Pick<Handled<Reclassification, unknown>, 'state' | 'position'>>

/**
 * Waits until the statistics have passed the position of a part, whatever they made of it: it may be parked. Clicks are
 * applied in the order of the log, so those that are recorded meanwhile are counted before the next part, and not after
 * all of them. Resolves false when that takes too long: the other parts follow at once.
 */
export type Pace = (position: bigint) => Promise<boolean>

/** The right to reclassify visits of an account, which one has at a time, of all processes. */
export interface Claim {
  /** aborts when somebody else may have it */
  readonly lost: AbortSignal
  /** Waits until the statistics have what was recorded before; returns false at `until` of `performance.now()`. */
  readonly caughtUp: (until: number) => Promise<boolean>
  readonly end: () => Promise<void>
}

/**
 * Records a reclassification part by part, from the number `first` on: one that is interrupted can be undone as far as
 * it went, or goes on. Returns the position of the last part.
 */
export const recordReclassification = async (
  write: Write,
  id: string,
  parts: readonly Data[],
  pace: Pace,
  first = 0,
): Promise<bigint | undefined> => {
  let isPaced = true
  let last: bigint | undefined
  for (const [n, data] of parts.entries()) {
    if (last !== undefined && isPaced) isPaced = await pace(last)
    last = (await write({ type: 'AddPart', id, part: first + n, data })).position
  }
  return last
}

/**
 * Takes a reclassification back, part by part, of which `left` are. `check` throws where another one has to be taken
 * back before a part. Returns the position of the last part. Throws `Refused` (`not_found`) unless it is one of the
 * account.
 */
export const undoReclassification = async (
  write: Write,
  id: string,
  { account, since, left: before }: { readonly account: number; readonly since: string; readonly left: number },
  { pace, check }: { readonly pace: Pace; readonly check: (part: number) => Promise<void> },
): Promise<bigint> => {
  let isPaced = true
  for (let left = before; ;) {
    if (left > 0) await check(left - 1)
    const { state, position } = await write({ type: 'UndoPart', id, account, since })
    left = state.left
    if (left === 0) return position
    if (isPaced) isPaced = await pace(position)
  }
}
