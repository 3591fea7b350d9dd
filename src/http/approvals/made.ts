import { v5 as uuid } from 'uuid'
import { approval, type Approvals } from '../../commands/approvals/approval.ts'
import { refuse } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import type { Waiting } from './proposed.ts'

const space = '8d0c9f4e-4f0b-4a53-9d5f-3a4f6b1a6a34'

/** Returns the id of the command of a proposal: it is executed once, even if the proposal is approved several times. */
export const commandOf = (account: number, number: number): string => uuid(`${account} ${number}`, space)

/**
 * Whether the change of a proposal is in the log, although the proposal still waits: a process was killed before it
 * could say so, or another member makes the change at this moment.
 */
export const isMade = async (
  { outcome }: Pick<Handler, 'outcome'>,
  { decider, command }: Pick<Waiting, 'decider' | 'command'>,
  { account, number }: { readonly account: number; readonly number: number },
): Promise<boolean> => (await outcome(decider, command, commandOf(account, number))) !== undefined

/** ms after which no request is at work any more that makes an approved change */
const longest = 10 * 60_000

/** A proposal. */
export interface Of {
  readonly account: number
  readonly number: number
}

/** Returns how many ms ago a proposal was approved by the event at a revision. `now` is in ms since 1970. */
const sinceApproval = async (
  { steps }: Pick<Handler, 'steps'>,
  { account }: Of,
  revision: number,
  now: number,
): Promise<number> => {
  for await (const { event } of steps(approval, account, { from: revision, upTo: revision }))
    return now - Date.parse(event.metadata.at)
  return 0
}

/** Returns the newest approval of a change that will not be made unless it is approved again. */
export const abandoned = async (
  handler: Pick<Handler, 'outcome' | 'steps'>,
  waiting: Waiting,
  of: Of,
  now = Date.now(),
): Promise<number | undefined> => {
  const { approved } = waiting
  if (approved === undefined || (await isMade(handler, waiting, of))) return undefined
  return (await sinceApproval(handler, of, approved, now)) > longest ? approved : undefined
}

/**
 * Stores an approval, which keeps others from refusing the change while it is made. A request that is sent again may
 * find its own approval of long ago: then it approves once more.
 */
export const storeApproval = async (
  handler: Pick<Handler, 'steps'>,
  of: Of,
  write: () => Promise<{ readonly state: Approvals }>,
): Promise<void> => {
  for (;;) {
    const { approved } = (await write()).state.open[of.number] ?? refuse('not_found', { what: 'proposal' })
    if (approved === undefined || (await sinceApproval(handler, of, approved, Date.now())) < longest / 2) return
  }
}
