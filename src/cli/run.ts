import { CommanderError } from 'commander'
import { Refused } from '../commands/decider.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import { isUnavailable, reasonOf } from '../lib/unavailable.ts'
import { BadCommand, type Cli } from './cli.ts'
import { printable } from './oneline.ts'
import { createProgram } from './program.ts'

const [succeeded, failed, wrongUsage] = [0, 1, 2]

/**
 * Runs a command and resolves with the exit code: 0 done, 1 failed, 2 wrong usage. Without a command it starts the
 * service. What it prints cannot move the cursor of a terminal: others have written some of it.
 */
export const run = async (args: readonly string[], given: Cli): Promise<number> => {
  const cli: Cli = {
    ...given,
    print: (line) => given.print(printable(line)),
    printError: (line) => given.printError(printable(line)),
  }
  try {
    await createProgram(cli).parseAsync(args.length === 0 ? ['start'] : args, { from: 'user' })
    return succeeded
  } catch (error) {
    // commander has printed its message
    if (error instanceof CommanderError) return error.exitCode === 0 ? succeeded : wrongUsage
    cli.printError(`linkledger: ${describeError(error)}`)
    return error instanceof BadCommand ? wrongUsage : failed
  }
}

/** An operator can act on these errors. Any other error is a defect, and its stack shows where. */
const isExpected = (error: unknown) =>
  error instanceof OperatorError || error instanceof Refused || isUnavailable(error)

/** Returns what a command prints of an error. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if ((error as { code?: string }).code === 'ENOSPC')
    return `${error.message}: make room on the disk of DATA_DIR, or of the file that this command writes, then run it again`
  if (isUnavailable(error) && !('code' in error)) return reasonOf(error)
  // an AggregateError of refused connections has a code but no message
  const message = error.message || ((error as { code?: string }).code ?? error.name)
  return isExpected(error) ? message : `${message}\n${error.stack}`
}
