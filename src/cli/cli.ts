import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Variables } from '../config.ts'
import { OperatorError } from '../lib/operatorerror.ts'

/** What a command works with: the environment, and where its output goes, line by line. */
export interface Cli {
  readonly variables: Variables
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  /** Lets other processes have a core first: a command works beside a service, whose visitors wait. */
  readonly yieldCpu?: () => void
  /** what `-` reads and writes; by default standard input and output */
  readonly input?: Readable
  readonly output?: Writable
}

/** Adds a command, or a group of commands, to the program. */
export type AddCommand = (program: Command, cli: Cli) => void

/** The command cannot be carried out as it was given. The message says what would be right. */
export class BadCommand extends OperatorError {
  override readonly name = 'BadCommand'
}
