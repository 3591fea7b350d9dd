import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { clickId, type Ordinals } from '../../events/ordinals.ts'
import { createSemaphore, within } from '../../lib/async/semaphore.ts'
import { addressSite } from '../../lib/address.ts'
import { csvLine } from '../../lib/csv.ts'
import { turnTimer } from '../../lib/async/pause.ts'
import { timestamp } from '../../lib/fields.ts'
import { localTime } from '../../lib/zone.ts'
import type { Listed } from '../../queries/page.ts'
import { type ListedVisit, type Visit, visitsBehind } from '../../queries/statistics/visits.ts'
import { failField } from '../api/errors.ts'
import { limitUpTo } from '../api/fields.ts'
import { list, listQuery } from '../api/list/list.ts'
import { createRoom } from '../api/list/room.ts'
import { type Call, endpoint, type Route } from '../api/route.ts'
import { explained } from './filtered.ts'
import { classesShape, countedClasses, filterShape, readFilters } from './filters.ts'
import { optionsOf } from './stats.ts'
import { type VisitRow, visitColumns, visitEntries, visitsContract } from './contract/visits.ts'

export interface VisitsServices {
  readonly ordinals: Ordinals
}

/** rows of an answer in JSON, and in other forms */
const [mostRows, mostLines] = [1000, 10_000]
/** Long answers of an account are made one after another: all at a time would all take too long. */
const inTurn = createSemaphore<number>({ total: 2, perKey: 1, kept: 0, waiting: 1000 })
/** rows that are written at a time: other requests are answered between two of these */
const inOneTurn = 500
const { from, to, fields } = listQuery(visitEntries).shape
const Query = z.object({
  limit: limitUpTo(mostLines),
  cursor: z.string().default(''),
  fields,
  from,
  to,
  classes: classesShape,
  ...filterShape,
})
type Query = z.output<typeof Query>
type VisitsCall = Call<unknown, Query>

const presented = (
  { of, id: visited, qr, bio, at, labels, ...visit }: Visit,
  id: string | null,
  zone: string | undefined,
): VisitRow => ({
  id,
  date: timestamp(at),
  ...(zone !== undefined && { local: localTime(zone, at.getTime()) }),
  link: of === 'link' ? visited : null,
  address: of === 'link' ? Number(labels.address || 1) : null,
  qr: qr ?? (of === 'qr' ? visited : null),
  bio,
  source: labels.source,
  revision: visit.revision,
  rule: visit.rule,
  destination: visit.destination,
  country: labels.country,
  referrer: labels.referrer,
  medium: labels.medium,
  browser: labels.browser,
  os: labels.os,
  device: labels.device,
  language: labels.language,
  class: visit.class,
  unique: visit.unique,
  receipt: id && `/api/clicks/${id}/proof`,
})

/**
 * Adds the ids of visits, which name their events as everything does that leaves the service. Returns as many as an
 * answer has room for: a log of earlier releases has destinations of 45 KB.
 */
export const identified = async (
  listed: Listed<ListedVisit>,
  { ordinals }: VisitsServices,
  zone?: string,
  most?: number,
): Promise<Listed<VisitRow>> => {
  const numbers = await ordinals.of([...new Set(listed.rows.map(({ position }) => position))])
  const idOf = ({ position, index }: Visit) => {
    const ordinal = numbers.get(position)
    return ordinal === undefined ? null : clickId(ordinal, index)
  }
  const room = createRoom<VisitRow>((row) => row, most)
  const isLong = turnTimer()
  for (const [i, visit] of listed.rows.entries()) {
    if (isLong()) await nextTurn()
    room.put(i, presented(visit, idOf(visit), zone))
  }
  const { rows, ...further } = room.rows(listed, ({ place }) => place)
  return { total: listed.total, ...further, rows: rows.flatMap((_, i) => room.get(i) ?? []) }
}

const listVisits = async (call: VisitsCall, most: number, services: VisitsServices) => {
  const { limit: wanted, cursor, fields: shown, from: first, to: end, classes, ...given } = call.query
  const { subject, filters } = await readFilters(call, given)
  const time = optionsOf(
    { from: first, to: end, interval: 'day' as const, zone: call.zone },
    call.reader.now ?? new Date(),
  )
  if (time.from >= time.to) failField('from', 'wrong_order', { what: 'to' })
  const limit = Math.min(wanted, most)
  const asThen = (await countedClasses(call, classes)) === 'then'
  const query = {
    ...given,
    classes,
    limit,
    page: 1,
    cursor,
    fields: shown,
    order: 'date' as const,
    from: first,
    to: end,
    q: undefined,
  }
  return list(
    visitEntries,
    { ...call, query },
    async ({ after }) => {
      const found = await visitsBehind(call.reader, subject, { ...time, filters, asThen, limit, after }).catch(
        explained,
      )
      call.gone().throwIfAborted()
      return identified(found, services, call.zone)
    },
    (row) => row,
  )
}

const forms = {
  'application/json': undefined,
  'text/csv': {
    type: 'text/csv; charset=utf-8; header=present',
    head: (columns: typeof visitColumns) => `${csvLine(columns)}\r\n`,
    line: (row: Partial<VisitRow>, columns: typeof visitColumns) => `${csvLine(columns.map((name) => row[name]))}\r\n`,
  },
  'application/x-ndjson': {
    type: 'application/x-ndjson; charset=utf-8',
    head: () => '',
    line: (row: Partial<VisitRow>) => `${JSON.stringify(row)}\n`,
  },
} as const
const types = Object.keys(forms) as (keyof typeof forms)[]
type Form = NonNullable<(typeof forms)[keyof typeof forms]>

/** Returns the text of rows. They are not kept for as long as it is read: they are larger than it. */
const write = async (form: Form, rows: readonly Partial<VisitRow>[], columns: typeof visitColumns) => {
  const parts = [Buffer.from(form.head(columns))]
  for (let from = 0; from < rows.length; from += inOneTurn) {
    const lines = rows.slice(from, from + inOneTurn).map((row) => form.line(row, columns))
    parts.push(Buffer.from(lines.join('')))
    await nextTurn()
  }
  return Buffer.concat(parts)
}

/** The visits behind the figures of statistics. */
export const visitRoutes = (services: VisitsServices): readonly Route[] => [
  endpoint(visitsContract, 'GET /api/visits', {
    statistics: true,
    period: true,
    scope: 'stats:read',
    limited: true,
    query: Query,
    run: async (call) => {
      const wanted = call.accepts(types)
      const form = forms[types.find((type) => type === wanted) ?? 'application/json']
      if (!form) return listVisits(call, mostRows, services)
      const list = () => listVisits(call, mostLines, services)
      const answer = await within(inTurn, call.account, list, addressSite(call.from))
      const shown = call.query.fields
      const known = visitColumns.filter((name) => name !== 'local' || call.zone !== undefined)
      const columns = known.filter((name) => shown.size === 0 || shown.has(name))
      const content = await write(form, answer.data.visits, columns)
      // the rows say by which header to go on
      return { ...answer, download: { type: form.type, content } }
    },
  }),
]
