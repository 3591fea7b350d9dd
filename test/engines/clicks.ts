import { expect } from 'chai'
import type { Click } from '../../src/events/statistics/click.ts'
import type { Connection } from '../../src/postgres/database.ts'
import { until } from '../support/client.ts'
import { query } from '../support/faults.ts'
import { listed, type Sent, type VisitRequest } from '../support/load.ts'
import type { Service } from '../support/process.ts'

interface ClickRow {
  readonly stream: string
  readonly type: string
  readonly data: {
    readonly clicks?: readonly Click[]
    readonly from?: number
    readonly to?: number
    readonly upTo?: Readonly<Record<string, number>>
    readonly taken?: { readonly offset: number; readonly spool: string; readonly seq: number }
  }
}

/** Returns the click events in the log, in its order. */
export const clickEvents = (database: Connection) =>
  query<ClickRow>(database, `select stream, type, data from log.events where stream like 'clicks-%' order by position`)

export const recordedClicks = async (database: Connection) =>
  (await clickEvents(database)).flatMap(({ data }) => data.clicks ?? [])

const isAnswered = ({ status }: Sent) => status === 302

/**
 * Expects every answered visit to be counted once; an unanswered one may be counted. With `inOrder`, the clicks of each
 * link must be in order, which holds for one spool and one route.
 */
export const expectOnce = async (
  service: Service,
  key: string,
  database: Connection,
  visits: readonly Sent<VisitRequest>[],
  { ms = 240_000, inOrder = true } = {},
) => {
  const links = [...new Set(visits.map(({ request }) => request.link))]
  const answered = visits.filter(isAnswered).length
  const counted = async () => {
    const rows = (await listed(service, key)).filter((row) => links.includes(Number(row['id'])))
    return new Map(rows.map((row) => [Number(row['id']), Number(row['clicks'])]))
  }
  const sum = (counts: Map<number, number>) => [...counts.values()].reduce((a, b) => a + b, 0)
  await until(counted, (counts) => sum(counts) >= answered, ms)
  // a click that is counted twice would appear a little later
  await new Promise((done) => setTimeout(done, 1500))
  const counts = await counted()
  const clicks = (await recordedClicks(database)).filter(({ link }) => links.includes(link))
  const missing = (await clickEvents(database)).filter(({ type }) => type === 'ClicksMissing')
  expect(missing, 'gaps in the log').to.deep.equal([])
  for (const link of links) {
    const mine = visits.filter(({ request }) => request.link === link)
    const sure = mine.filter(isAnswered).length
    const unsure = mine.filter(({ status }) => status === undefined).length
    expect(counts.get(link), `clicks of link ${link}`).to.be.within(sure, sure + unsure)
    const times = clicks.filter((click) => click.link === link).map(({ at }) => at)
    expect(times.length, `recorded clicks of link ${link}`).to.equal(counts.get(link))
    if (inOrder) expect(times, `order of the clicks of link ${link}`).to.deep.equal(times.toSorted())
  }
  return { answered, counted: sum(counts) }
}
