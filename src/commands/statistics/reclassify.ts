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
 * Takes a reclassification back, part by part. Throws `Refused` (`not_found`) unless it is one of the account, if one
 * is given.
 */
export const undoReclassification = async (
  write: Write,
  id: string,
  { account, since }: { readonly account?: number; readonly since: string },
  pace: Pace,
): Promise<void> => {
  const takeBack = async () => (await write({ type: 'UndoPart', id, account, since })).state.left
  let isPaced = true
  for (let left = await takeBack(); left > 0; left = await takeBack()) if (isPaced) isPaced = await pace(left)
}
