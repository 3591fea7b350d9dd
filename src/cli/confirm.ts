import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { OperatorError } from '../lib/operatorerror.ts'
import { BadCommand, type Cli } from './cli.ts'
import { oneLine } from './oneline.ts'

export interface Confirmation {
  readonly yes?: boolean
}

/** The operator answered no. */
class NotConfirmed extends OperatorError {
  override readonly name = 'NotConfirmed'
}

const inputOf = (cli: Cli) => cli.input ?? process.stdin
const isTerminal = (cli: Cli) => (inputOf(cli) as { readonly isTTY?: boolean }).isTTY === true

/** Adds `--yes` to a command that asks before it changes something. */
export const withConfirmation = (command: Command, note = 'do not ask for confirmation') =>
  command.option('--yes', note)

/**
 * Throws `BadCommand` when a question could not be answered. Called first, so that the command has not begun anything
 * yet.
 */
export const requireAnswerable = (cli: Cli, { yes }: Confirmation) => {
  if (!yes && !isTerminal(cli))
    throw new BadCommand(
      'this command asks before it changes something, and its input is not a terminal. Add --yes to confirm.',
    )
}

const firstLine = async (cli: Cli): Promise<string> => {
  const lines = createInterface({ input: inputOf(cli) })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
  }
}

/** Prints what will be changed and waits for a yes, unless `--yes` was given. Throws when the answer is not yes. */
export const confirm = async (cli: Cli, { yes }: Confirmation, what: string): Promise<void> => {
  // e-mail addresses of earlier releases may have any characters
  cli.print(oneLine(what))
  if (yes) return
  cli.print('Continue? [y/N]')
  if (!/^\s*y(?:es)?\s*$/i.test(await firstLine(cli))) throw new NotConfirmed('Nothing was changed.')
}
