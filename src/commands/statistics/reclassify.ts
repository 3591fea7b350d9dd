import type { Handled } from '../context.ts'
import type { Reclassification, ReclassificationCommand } from './reclassification.ts'

type Data = Extract<ReclassificationCommand, { type: 'AddPart' }>['data']
type Write = (
  command: ReclassificationCommand,
) => Promise<Pick<Handled<Reclassification, unknown>, 'state' | 'position'>>

/**
 * Waits until the statistics have passed the position of a part, even if the part was parked. Clicks are applied in the
 * order of the log, so clicks recorded meanwhile are counted before the next part instead of after all parts. Resolves
 * false on timeout: the other parts follow at once.
 */
export type Pace = (position: bigint) => Promise<boolean>

/** The exclusive right to reclassify visits of an account, across all processes. */
export interface Claim {
  /** aborts when the claim may have passed to another process */
  readonly lost: AbortSignal
  /** Waits until the statistics include what was recorded before; returns false at `until` of `performance.now()`. */
  readonly caughtUp: (until: number) => Promise<boolean>
  readonly end: () => Promise<void>
}

/**
 * Records a reclassification part by part, starting with the number `first`. An interrupted one can be continued, or
 * undone up to where it stopped. Returns the position of the last part.
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
 * Undoes a reclassification part by part; `left` are the parts to undo. `check` throws when another reclassification
 * must be undone before a part. Returns the position of the last part. Throws `Refused` (`not_found`) unless the
 * account has it.
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
