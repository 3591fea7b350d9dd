import { Command } from 'commander'
import { addAccountCommands } from './account/account.ts'
import { addAliasCommands } from './aliases.ts'
import { addBackupCommands } from './backup.ts'
import { addBlockCommands } from './block.ts'
import type { AddCommand, Cli } from './cli.ts'
import { addDomainCommands } from './domain.ts'
import { addHistoryCommand } from './history.ts'
import { addLogCommands } from './log.ts'
import { addMoveInCommand } from './movein.ts'
import { addProofCommands } from './proof/proof.ts'
import { addProjectionCommands } from './projections.ts'
import { addRebuildCommand } from './rebuild.ts'
import { addReclassifyCommands } from './reclassify.ts'
import { addReplayCommand } from './replay.ts'
import { addReportCommands } from './report.ts'
import { addScimCommands } from './scim.ts'
import { addSpoolCommands } from './spool.ts'
import { addSecretCommands } from './secret.ts'
import { addStartCommand } from './start.ts'
import { addVerifyCommand } from './verify.ts'
import { version } from '../lib/version.ts'

const commands: readonly AddCommand[] = [
  addStartCommand,
  addAccountCommands,
  addAliasCommands,
  addBlockCommands,
  addReportCommands,
  addMoveInCommand,
  addHistoryCommand,
  addDomainCommands,
  addRebuildCommand,
  addReclassifyCommands,
  addReplayCommand,
  addProjectionCommands,
  addProofCommands,
  addVerifyCommand,
  addBackupCommands,
  addLogCommands,
  addSpoolCommands,
  addSecretCommands,
  addScimCommands,
]

/** Returns the command line: what `--help` shows, what is parsed, and what `docs/cli.md` is made from. */
export const createProgram = (cli: Cli): Command => {
  const program = new Command('linkledger')
    .description('Short links with a history. Without a command, the service is started.')
    .version(version(), '--version', 'print the version')
    .addHelpText(
      'after',
      '\nSettings come from environment variables: see docs/configuration.md.' +
        '\nExit codes: 0 done, 1 failed, 2 wrong usage.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.print(text.trimEnd()),
      writeErr: (text) => cli.printError(text.trimEnd()),
      outputError: (text, write) => write(`linkledger: ${text.replace(/^error: /, '')}`),
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    })
  for (const add of commands) add(program, cli)
  for (const command of allCommands(program)) command.showHelpAfterError(`Try: ${nameOf(command)} --help`)
  return program
}

/** Returns the command itself and every command below it, in the order of the help. */
export const allCommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap((child) => allCommands(child)),
]

/** Returns the words that call a command: `linkledger account add`. */
export const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
