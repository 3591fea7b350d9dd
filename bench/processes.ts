import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// What Linux counts for each process. Elsewhere there is no /proc, and everything is NaN.

/** Returns the fields of a process after its name, or undefined when it has ended. */
const statOf = (pid: number) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
  } catch {
    return undefined
  }
}

/** Returns a process with all that it has started, and that those have started. */
const treeOf = (root: number): readonly number[] => {
  if (!existsSync('/proc/self/stat')) return []
  const children = new Map<number, number[]>()
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const parent = statOf(pid)?.[1]
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const found = [root]
  for (const pid of found) found.push(...(children.get(pid) ?? []))
  return found
}

const sum = (values: readonly number[]) =>
  values.length === 0 ? Number.NaN : values.reduce((total, value) => total + value, 0)

/** µs in a tick of the clock of /proc */
const tick = 10_000

/** Returns the CPU time in µs of processes and all that they have started, also of what has ended. */
export const cpuOfTrees = (...roots: readonly number[]): number =>
  sum(
    roots.flatMap(treeOf).map((pid) => {
      const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = statOf(pid)?.slice(11, 15) ?? []
      return (user + system + childrenUser + childrenSystem) * tick
    }),
  )

const memoryOf = (pid: number) => {
  try {
    const [, kilobytes = 0] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}

/** Returns the memory in bytes of processes and all that they have started. What several share counts once (PSS). */
export const memoryOfTrees = (...roots: readonly number[]): number => sum(roots.flatMap(treeOf).map(memoryOf))

/** Looks at the memory again and again until `stop`, which returns what it was each time. */
export const watchMemory = (interval: number, ...roots: readonly number[]) => {
  const seen = [memoryOfTrees(...roots)]
  const timer = setInterval(() => seen.push(memoryOfTrees(...roots)), interval)
  return {
    stop: (): readonly number[] => {
      clearInterval(timer)
      return [...seen, memoryOfTrees(...roots)]
    },
  }
}

/** Returns the main process of the embedded PostgreSQL in a folder. */
export const postgresIn = (dir: string): number =>
  Number(readFileSync(join(dir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
