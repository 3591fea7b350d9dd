import { setTimeout as sleep } from 'node:timers/promises'
import { type LongTurn, longTurnMs, watchTurns } from '../../src/lib/async/turns.ts'

/** Keeps the event loop busy for so many ms of CPU time. */
export const burn = (ms: number): void => {
  const before = process.cpuUsage()
  for (let used = 0; used < ms;) {
    const { user, system } = process.cpuUsage(before)
    used = (user + system) / 1000
  }
}

/**
 * Runs something and returns the CPU time in ms of its longest turn of the event loop. Other requests of the process
 * wait that long.
 */
export const longestTurn = async (work: () => unknown): Promise<number> => {
  let longest = 0
  let ended = false
  let before = process.cpuUsage()
  const look = () => {
    const { user, system } = process.cpuUsage(before)
    longest = Math.max(longest, (user + system) / 1000)
    before = process.cpuUsage()
    if (!ended) setImmediate(look)
  }
  setImmediate(look)
  try {
    await work()
  } finally {
    ended = true
    await new Promise(setImmediate)
  }
  return longest
}

/** ms of CPU time: turns that take less count as this, because other causes weigh more in them than the input */
const leastMs = 20
/**
 * runs of which the shortest counts, of the first size and of each other: other threads of the process may have been
 * busy. They end with one that is short enough.
 */
const [firstRuns, mostRuns] = [5, 25]

interface Sizes {
  readonly from: number
  readonly to: number
  /** by how much an input is larger than the one before */
  readonly times?: number
}

/**
 * Does something with inputs that grow from one size to another. Returns by how much its longest turn of the event loop
 * grew at most from one to the next: `times` in work that is proportional to the input, 1 in work that is done in
 * pieces.
 */
export const turnGrowth = async <I>(
  inputOf: (size: number) => I,
  work: (input: I) => unknown,
  { from, to, times = 2 }: Sizes,
): Promise<number> => {
  const turnWith = async (size: number, runs: number, shortEnough: number) => {
    const input = inputOf(size)
    let shortest = Infinity
    for (let i = 0; i < runs && shortest > shortEnough; i++)
      shortest = Math.min(shortest, await longestTurn(() => work(input)))
    return Math.max(leastMs, shortest)
  }
  let most = 1
  let last = await turnWith(from, firstRuns, leastMs)
  for (let size = from * times; size <= to; size *= times) {
    const next = await turnWith(size, mostRuns, last * 1.5)
    most = Math.max(most, next / last)
    // further sizes might take hours
    if (most > times * 2) return most
    last = next
  }
  return most
}

/** Expects that reading a text twice as long takes at most three times as long. */
export const expectGrowth = async (
  textOf: (size: number) => string,
  read: (text: string) => unknown,
  sizes: Sizes,
  what: string,
): Promise<void> => {
  const growth = await turnGrowth(textOf, read, sizes)
  if (growth > 3) throw new Error(`twice as much of ${JSON.stringify(what)} takes ${growth.toFixed(1)} times as long`)
}

/** The name of the environment variable by which processes of mocha know the bound. */
const variable = 'LINKLEDGER_TURN_MS'

/** ms of CPU time that the work below takes on two cores of a server of 2023 */
const usualMs = 25
const workMs = () => {
  const before = process.cpuUsage()
  const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))
  if (JSON.stringify(JSON.parse(JSON.stringify(rows))).replaceAll(/\d+/g, '').length === 0) throw new Error('no rows')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Decides how long a turn of the event loop may be in the process of a service under test, by how fast this machine is
 * now: five times what the service logs, which other work on the machine must not reach. Called once, at the start.
 */
export const calibrate = (): void => {
  const times = Array.from({ length: 9 }, workMs).sort((a, b) => a - b)
  const factor = Math.max(1, times[4]! / usualMs)
  process.env[variable] = String(Math.round(longTurnMs * factor * 5))
}

/** Runs something while turns may take only so long. */
export const withBound = async (ms: number, run: () => Promise<void>): Promise<void> => {
  const before = process.env[variable] ?? 'Infinity'
  process.env[variable] = String(ms)
  try {
    await run()
  } finally {
    process.env[variable] = before
  }
}

const tooLong: string[] = []
const note = ({ ms, cpuMs }: Pick<LongTurn, 'ms' | 'cpuMs'>, method = 'no', path = 'request') => {
  // by both: an overloaded machine uses no CPU time for the process, and other threads delay no request
  const took = Math.min(ms, cpuMs)
  if (took > Number(process.env[variable] ?? Infinity)) tooLong.push(`${Math.round(took)} ms in ${method} ${path}`)
}

/** Watches the turns of a service in this process. Returns what ends that. */
export const watchService = () => watchTurns((turn) => note(turn, turn.response?.req.method, turn.response?.req.url))

/** Looks at the turns that a service in a process of its own has logged. */
export const noteLogged = (output: string): void => {
  for (const [line] of output.matchAll(/^\{.*"msg":"a turn of the event loop took too long"\}$/gm)) {
    const { ms, cpuMs, method, path } = JSON.parse(line) as LongTurn & {
      readonly method?: string
      readonly path?: string
    }
    note({ ms, cpuMs }, method, path)
  }
}

/** Throws when a turn has taken too long since a moment (`performance.now()`). */
export const settleTurns = async (began: number): Promise<void> => {
  if (performance.now() - began < longTurnMs) return
  // the timer that notices it is due
  await sleep(100)
  expectShortTurns()
}

/** Throws when a turn has taken too long since the last call. */
export const expectShortTurns = (): void => {
  const found = tooLong.splice(0)
  if (found.length > 0)
    throw new Error(`a turn of the event loop took more than ${process.env[variable]} ms: ${found.join(', ')}`)
}
