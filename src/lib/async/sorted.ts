import { setImmediate as nextTurn } from 'node:timers/promises'
import { turnTimer } from './pause.ts'

/** items that are sorted, or merged, before others are thought of */
const [sortedAtOnce, mergedAtOnce] = [2000, 500]

type Compare<T> = (a: T, b: T) => number

const merged = async <T>(a: readonly T[], b: readonly T[], compare: Compare<T>, rest: () => Promise<unknown>) => {
  const all: T[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    const isFirst = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0)
    all.push(isFirst ? a[i++]! : b[j++]!)
    if (all.length % mergedAtOnce === 0) await rest()
  }
  return all
}

/** Returns items in the order of texts of theirs, equal ones in their own order, and lets others have turns. */
export const sortedBy = async <T>(items: readonly T[], textOf: (item: T) => string): Promise<readonly T[]> => {
  const isLong = turnTimer()
  const rest = async () => (isLong() ? nextTurn() : undefined)
  const compare = (one: T, other: T) => {
    const [a, b] = [textOf(one), textOf(other)]
    return a < b ? -1 : a > b ? 1 : 0
  }
  let runs: (readonly T[])[] = []
  for (let at = 0; at < items.length; at += sortedAtOnce) {
    runs.push(items.slice(at, at + sortedAtOnce).sort(compare))
    await rest()
  }
  while (runs.length > 1) {
    const longer: (readonly T[])[] = []
    for (let n = 0; n < runs.length; n += 2) longer.push(await merged(runs[n]!, runs[n + 1] ?? [], compare, rest))
    runs = longer
  }
  return runs[0] ?? []
}
