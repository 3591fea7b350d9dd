import type { Command } from 'commander'
import { allCommands, nameOf } from '../../src/cli/program.ts'

const intro = `# Command line

In a checkout, \`npm start\` starts the service and \`npx linkledger\` calls the other commands; in the container it is \`docker compose exec app linkledger\`. A command works with the settings of the service (see \`docs/configuration.md\`), and next to a running service.

This page shows the output of \`--help\`. \`UPDATE_DOCS=1 npx mocha test/cli/program.spec.ts\` writes it.
`

/** Returns the text of \`docs/cli.md\`. */
export const commandReference = (program: Command): string => {
  const runnable = allCommands(program).filter((command) => command === program || command.commands.length === 0)
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
