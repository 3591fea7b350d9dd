import { v5 as uuid } from 'uuid'
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
