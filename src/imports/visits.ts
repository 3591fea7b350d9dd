import type { Importing, PlacedVisit, VisitRefusal } from './importing.ts'
import type { SourceRecord } from './records.ts'
import type { Report } from './report.ts'
import { addressName } from './survey.ts'

/** visits that are recorded together */
const visitsAtOnce = 2000

/** A link that has come by an import, and where it leads. */
export interface BroughtLink {
  readonly id: number
  readonly url: string
}
const refusals: Readonly<Record<VisitRefusal, string>> = {
  no_time: 'have no time that can be read',
  too_old: 'are from before 1995',
  future: 'are in the future',
}

/**
 * Records the visits of the links that have come, by the names of their addresses. Those that are recorded already are
 * passed over, so that it may be repeated.
 */
export const importVisits = async (
  records: AsyncIterable<SourceRecord>,
  links: ReadonlyMap<string, BroughtLink>,
  recordVisits: NonNullable<Importing['recordVisits']>,
  report: Report,
): Promise<void> => {
  const refused = new Map<VisitRefusal, number>()
  let [place, lost, some]: [number, number, PlacedVisit[]] = [0, 0, []]
  const record = async () => {
    if (some.length > 0)
      for (const why of await recordVisits(some, place)) refused.set(why, (refused.get(why) ?? 0) + 1)
    some = []
  }
  for await (const visit of records) {
    if (visit.kind !== 'visit') continue
    place++
    const link = links.get(addressName(visit))
    if (!link) {
      lost++
      continue
    }
    const { kind: _, place: _place, host: _host, alias: _alias, ...known } = visit
    some.push({ ...known, place, link: link.id, destination: link.url })
    if (some.length === visitsAtOnce) await record()
  }
  await record()
  const note = async (message: string) => report.add({ place: { line: 1 }, outcome: 'noted', message })
  const left = [...refused.values()].reduce((sum, n) => sum + n, lost)
  await note(`${place - left} single visits are imported.`)
  if (lost > 0) await note(`${lost} visits are left out: this import has created no link at their address.`)
  for (const [why, n] of refused) await note(`${n} visits are left out: they ${refusals[why]}.`)
}
