import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Cli } from './cli.ts'

/** Shows nothing of what is typed. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/**
 * Returns the first line of the input, such as a new password: from a terminal, after a question and without showing
 * it; else the first line of what is piped in. An argument would be visible to every user of the system and stay in the
 * history of the shell.
 */
export const readHiddenLine = async (cli: Cli, question: string): Promise<string> => {
  const input = cli.input ?? process.stdin
  const terminal = (input as { readonly isTTY?: boolean }).isTTY === true
  if (terminal) cli.print(question)
  const lines = createInterface({ input, ...(terminal ? { output: nowhere(), terminal } : {}) })
  // Ctrl-C reaches readline while the terminal does not act on it
  lines.once('SIGINT', () => lines.close())
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
  }
}
