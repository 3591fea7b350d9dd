import type { Importing, Reported } from './importing.ts'

/** lines that are stored together */
const linesAtOnce = 500

/** Returns what numbers the lines of the report, and stores those that are new. */
export const openReport = ({ done, report }: Importing) => {
  let next = 0
  let kept: Reported[] = []
  const links = new Set<number>()
  const store = async () => {
    const lines = kept
    kept = []
    if (lines.length > 0) await report(next - lines.length, lines)
  }
  return {
    add: async (line: Reported) => {
      if (next++ >= done) kept.push(line)
      if (line.link !== undefined) links.add(line.link)
      if (kept.length >= linesAtOnce) await store()
    },
    store,
    /** Says that a line which is not added yet will be about a link. */
    about: (link: number | undefined) => void (link !== undefined && links.add(link)),
    /** Whether a line of this run is about a link. */
    has: (link: number) => links.has(link),
    /** lines of what follows that are stored already */
    left: () => Math.max(0, done - next),
    skip: (lines: number) => void (next += lines),
    next: () => next,
  }
}
export type Report = ReturnType<typeof openReport>
