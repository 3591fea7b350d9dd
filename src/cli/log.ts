import type { Command } from 'commander'
import type { Cli } from './cli.ts'
import { addCopyCommand } from './copy.ts'
import { addExportCommands } from './export.ts'

/** `linkledger log …` */
export const addLogCommands = (program: Command, cli: Cli) => {
  const log = program.command('log').description('work on the event log')
  addCopyCommand(log, cli)
  addExportCommands(log, cli)
}
