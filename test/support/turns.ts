/**
 * Runs something and returns the CPU time in ms of its longest turn of the event loop. Other requests of the process wait
 * that long.
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
const leastMs = 10
const runs = 3

/**
 * Does something with inputs that grow from one size to another, each `times` as large as the one before. Returns by how
 * much its longest turn of the event loop grew at most from one to the next: `times` in work that is proportional to the
 * input, 1 in work that is done in pieces.
 */
export const turnGrowth = async (work: (size: number) => unknown, from: number, to: number, times = 2) => {
  const turnWith = async (size: number) => {
    const turns: number[] = []
    for (let i = 0; i < runs; i++) turns.push(await longestTurn(() => work(size)))
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
