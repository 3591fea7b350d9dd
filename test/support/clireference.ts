import type { Command } from 'commander'
import { allCommands, nameOf } from '../../src/cli/program.ts'

const intro = `# Command line

In a checkout, \`npm start\` builds the program and starts the service. \`npx linkledger\` calls the other commands, after
the first \`npm start\` or \`npm run build\`. In the container it is \`docker compose exec app linkledger\`.

Run a command in the same folder as the service, or with the same \`DATA_DIR\` and \`DATABASE_URL\`: it needs the settings
of the service ([configuration.md](configuration.md)). It works next to a running service, and while it is stopped.

This page shows the output of \`--help\`. \`UPDATE_DOCS=1 npx mocha test/cli/program.spec.ts\` writes it.
`

/** Returns the text of \`docs/cli.md\`. */
export const commandReference = (program: Command): string => {
  const isRunnable = (command: Command) => command.commands.length === 0 || command.options.length > 0
  const runnable = allCommands(program).filter((command) => command === program || isRunnable(command))
  return [intro, ...runnable.map((command) => `## ${nameOf(command)}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`)].join(
    '\n',
  )
}

/** Returns the help as it is printed, with the texts added after it. */
const helpOf = (command: Command) => {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text.trimEnd()
}
