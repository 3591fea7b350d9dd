import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { run } from '../../src/cli/run.ts'
import { builtMain } from './build.ts'
import { client } from './client.ts'
import { noteLogged } from './turns.ts'

export interface Process {
  readonly child: ChildProcess
  readonly address: string
  /** Returns everything that it has printed so far. */
  readonly output: () => string
  /** Sends the signal; resolves with the exit code, or null when the signal killed the process. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>
}

/**
 * Runs a command in this process, which saves the half second that a new one takes to load the program. Log lines are
 * not in `err`.
 */
export const runCommand = async (args: readonly string[], settings: Readonly<Record<string, string>>) => {
  let [out, err] = ['', '']
  const print = (line: string) => void (out += `${line}\n`)
  const printError = (line: string) => void (err += `${line}\n`)
  const code = await run(args, { variables: settings, print, printError })
  return { code, out, err }
}

/** Runs a command of a program, by default the one that is built, in a separate process; resolves when it has ended. */
export const runProcess = async (
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  main?: string,
) => {
  const child = spawn(process.execPath, [main ?? (await builtMain()), ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/**
 * Starts the service of a program, by default the one that is built, in a separate process and process group; resolves
 * when it listens. Answers of another program are not compared with `/openapi.json` of this one.
 */
export const startProcess = async (settings: Readonly<Record<string, string>>, main?: string) => {
  const child = spawn(process.execPath, [main ?? (await builtMain()), 'start'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      LOG_LEVEL: 'warn',
      RATE_LIMIT_PER_MINUTE: '0',
      REGISTRATIONS_PER_ADDRESS: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  child.once('close', () => noteLogged(output))
  const exited = once(child, 'exit') as Promise<[number | null]>
  const { address, operatorAddress } = await new Promise<{
    readonly address: string
    readonly operatorAddress: string
  }>((resolve, reject) => {
    const read = (text: Buffer) => {
      output += text.toString()
      const found = /listens on (http:\S+)/.exec(output)?.[1]
      const operator = /metrics: (http:\S+)\/metrics/.exec(output)?.[1]
      if (found && operator) resolve({ address: found, operatorAddress: operator })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void exited.then(([code]) => reject(new Error(`the service ended with ${code}:\n${output}`)))
  })
  const service: Process = {
    child,
    address,
    output: () => output,
    end: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return (await exited)[0]
    },
  }
  const asked = main === undefined ? client(address) : client(address, () => {})
  return { ...asked, ...service, operator: client(operatorAddress, () => {}) }
}
export type Service = Awaited<ReturnType<typeof startProcess>>
