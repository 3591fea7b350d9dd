import { openDatabase } from '../src/postgres/database.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { openAppends, openInserts } from './inserts.ts'
import { type Bench, count, type Line, median, perSecond } from './kit.ts'

/** what each number of writers should reach of plain inserts */
const goals = [
  [1, 0.7],
  [32, 1],
  [128, undefined],
] as const

/** Measures appending an event to a new stream, compared with a plain insert of the same row without any check. */
export const append = async (bench: Bench): Promise<Line[]> => {
  const [runs, seconds] = [bench.size(5, 1), bench.size(2, 0.3)]
  const connection = await bench.database()
  const db = openDatabase(connection, { name: 'bench', max: 2, timeout: 10_000, onError: () => {} })
  await migrate(db)
  // of 150 connections that PostgreSQL accepts; more writers take turns
  const inserts = await openInserts(connection, 100)
  const appends = await openAppends(connection)

  const lines: Line[] = []
  for (const [writers, goal] of goals) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let run = 0; run <= runs; run++) {
      const rates = [
        await perSecond(writers, seconds, inserts.insert),
        await perSecond(writers, seconds, appends.append),
      ] as const
      if (run === 0) continue // warm-up
      theirs.push(rates[0])
      ours.push(rates[1])
    }
    const ratio = median(ours.map((rate, i) => rate / (theirs[i] ?? 0)))
    const result = `${ratio.toFixed(2)} (${count(median(ours))}/s; inserts ${count(median(theirs))}/s)`
    lines.push({
      what: `b  appends / plain inserts, ${writers} writer${writers > 1 ? 's' : ''}`,
      result,
      target: goal === undefined ? '' : `>= ${goal.toFixed(2)}`,
      met: ratio >= (goal ?? 0),
    })
  }
  await appends.close()
  await inserts.close()
  await db.destroy()
  return lines
}
