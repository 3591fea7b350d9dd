import type { Handled } from '../context.ts'
import type { Reclassification, ReclassificationCommand } from './reclassification.ts'

type Data = Extract<ReclassificationCommand, { type: 'AddPart' }>['data']
type Write = (command: ReclassificationCommand) => Promise<Pick<Handled<Reclassification, unknown>, 'state'>>

/**
 * Waits until the statistics have a part. Clicks are applied in the order of the log, so those that are recorded
 * meanwhile are counted before the next part, and not after all of them. Resolves false when that takes too long: the
 * other parts follow at once.
 */
export type Pace = (part: number) => Promise<boolean>

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
 * it went, or goes on.
 */
export const recordReclassification = async (
  write: Write,
  id: string,
  parts: readonly Data[],
  pace: Pace,
  first = 0,
): Promise<void> => {
  let isPaced = true
  for (const [n, data] of parts.entries()) {
    const part = first + n
    if (n > 0 && isPaced) isPaced = await pace(part - 1)
    await write({ type: 'AddPart', id, part, data })
  }
}

/**
 * Takes a reclassification back, part by part, of which `left` are. `check` throws where another one has to be taken
 * back before a part. Throws `Refused` (`not_found`) unless it is one of the account.
 */
export const undoReclassification = async (
  write: Write,
  id: string,
  { account, since, left: before }: { readonly account: number; readonly since: string; readonly left: number },
  { pace, check }: { readonly pace: Pace; readonly check: (part: number) => Promise<void> },
): Promise<void> => {
  const takeBack = async (left: number) => {
    if (left > 0) await check(left - 1)
    return (await write({ type: 'UndoPart', id, account, since })).state.left
  }
  let isPaced = true
  for (let left = await takeBack(before); left > 0; left = await takeBack(left)) if (isPaced) isPaced = await pace(left)
}
