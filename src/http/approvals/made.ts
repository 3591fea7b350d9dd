import { v5 as uuid } from 'uuid'
import { approval } from '../../commands/approvals/approval.ts'
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

/** Whether a change was approved, and will not be made unless it is approved again. `now` is in ms since 1970. */
export const isAbandoned = async (
  handler: Pick<Handler, 'outcome' | 'steps'>,
  waiting: Waiting,
  of: { readonly account: number; readonly number: number },
  now = Date.now(),
): Promise<boolean> => {
  if (waiting.approved === undefined || (await isMade(handler, waiting, of))) return false
  for await (const { event } of handler.steps(approval, of.account, { from: waiting.at }))
    if (event.type === 'ChangeApproved' && event.data.number === of.number)
      return Date.parse(event.metadata.at) < now - longest
  return false
}
