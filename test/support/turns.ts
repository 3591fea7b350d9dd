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
const runs = 5

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
  const turnWith = async (size: number) => {
    const input = inputOf(size)
    const turns: number[] = []
    for (let i = 0; i < runs; i++) turns.push(await longestTurn(() => work(input)))
    return Math.max(leastMs, Math.min(...turns))
  }
  let most = 1
  let last = await turnWith(from)
  for (let size = from * times; size <= to; size *= times) {
    const next = await turnWith(size)
    most = Math.max(most, next / last)
    // further sizes might take hours
    if (most > times * 2) return most
    last = next
  }
  return most
}
