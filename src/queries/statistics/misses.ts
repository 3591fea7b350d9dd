import { headRequests, type MissKind } from '../../lib/misses.ts'
import { localTime, startsIn, utc } from '../../lib/zone.ts'
import { contains, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

export interface MissRow {
  readonly host: string
  readonly path: string
  /** the day, or the last one of the period: `2030-01-31` */
  readonly date: string
  readonly count: number
  readonly people: number
  readonly kind: MissKind
}
type Raw = Record<'key' | 'date' | 'count' | 'people', string>

export interface MissRequest extends ListRequest {
  /** whose days these are */
  readonly zone: string
  /** whether the days of an address are added up */
  readonly byAddress: boolean
  readonly kind?: MissKind | undefined
}

const [quarterMs, dayMs] = [900_000, 86_400_000]
/** more days than misses are kept, on all clocks */
const keptDays = 92

/** What a day of a zone has of a UTC day: its quarters of an hour from `first` on, before `end`. */
interface Part {
  readonly utcDay: string
  readonly date: string
  readonly first: number
  readonly end: number
}

const partsOf = (zone: string, time: Pick<ListRequest, 'from' | 'to'>): readonly Part[] => {
  const now = Date.now()
  const from = Math.max(now - keptDays * dayMs, time.from?.getTime() ?? 0)
  const to = Math.min(now + 2 * dayMs, time.to?.getTime() ?? Infinity)
  const starts = startsIn(zone, from, to, 'day')
  const parts = starts.flatMap((start, i) => {
    const [first, end] = [Math.max(start, from), Math.min(starts[i + 1] ?? to, to)]
    const date = localTime(zone, start).slice(0, 10)
    const days = Array.from(
      { length: Math.ceil(end / dayMs) - Math.floor(first / dayMs) },
      (_, n) => (Math.floor(first / dayMs) + n) * dayMs,
    )
    const place = (at: number, day: number) => Math.min(Math.max(0, Math.ceil((at - day) / quarterMs)), 96)
    return days.map((day) => ({
      utcDay: new Date(day).toISOString().slice(0, 10),
      date,
      first: place(first, day),
      end: place(end, day),
    }))
  })
  return parts.filter(({ first, end }) => first < end)
}

/** SQL of a row of misses that is in one part, as nearly all are: its quarters need not be read one by one. */
const isWhole = `(p.first = 0 and p.until = 96 or m.quarters <> '{}' and p.first <= all (m.quarters) and p.until > all (m.quarters))`
/**
 * SQL of what a part has of a count. What an earlier release has counted, or a process of one still counts, has no
 * quarter: it is at noon of its day.
 */
const countIn = (all: string, list: string) => `case when ${isWhole} then m.${all} else (
  select coalesce(sum(n) filter (where quarter >= p.first and quarter < p.until), 0)::bigint
    + case when p.first <= 48 and p.until > 48 then m.${all} - coalesce(sum(n), 0)::bigint else 0 end
  from unnest(m.quarters, m.${list}) as x (quarter, n)) end as ${all}`

/** SQL of what identifies an address; one collation for all is the fastest to sort by. */
const address = `(concat_ws(E'\\n', m.host, m.path, m.kind) collate "C")`

interface Filter {
  readonly of: number
  readonly kind?: MissKind | typeof headRequests | undefined
  readonly q?: readonly string[] | undefined
  readonly addresses?: readonly string[] | undefined
}

/** Returns the counts of addresses in parts of days. */
const countsIn = (db: Reader['db'], parts: readonly Part[], { of, kind, q, addresses }: Filter) => {
  const column = <K extends keyof Part>(name: K) => parts.map((part) => part[name])
  const days = [column('utcDay'), column('date'), column('first'), column('end')]
  const counts = db
    .from(
      db.raw(
        `unnest(?::date[], ?::date[], ?::int[], ?::int[]) as p (day, date, first, until) join state.misses m using (day)`,
        days,
      ),
    )
    .where('m.account', of)
    .select(
      db.raw(
        `${address} as address, p.date::text as date, ${countIn('count', 'quarter_counts')}, ${countIn('people', 'quarter_people')}`,
      ),
    )
  if (kind) void counts.where('m.kind', kind)
  else void counts.whereNot('m.kind', headRequests)
  if (q) void counts.whereRaw(contains(db, '(m.host || m.path)', q))
  if (addresses) void counts.whereRaw(`${address} = any(?)`, [[...addresses]])
  return counts
}

/** Returns one page of the addresses that lead nowhere, as an account sees them; 0: the operator. */
export const listMisses = async (reader: Reader, account: number, request: MissRequest): Promise<Listed<MissRow>> => {
  const { db } = reader
  const { byAddress, kind, zone, q, order } = request
  const summed = (parts: readonly Part[], addresses?: readonly string[]) => {
    const sums = db
      // `offset 0`: what is grouped has no lists of quarters
      .from(db.raw('(? offset 0) as m', [countsIn(db, parts, { of: account, kind, q, addresses })]))
      .where('m.count', '>', 0)
      .groupBy('key')
      .select(
        db.raw(
          `${byAddress ? 'address' : `date || E'\\n' || address`} as key, max(date) as date, sum(count) as count, sum(people) as people`,
        ),
      )
    return db.from(sums.as('x'))
  }
  const isByCount = order === 'click'
  const position = isByCount ? ['x.people', 'x.count', 'x.key'] : ['x.date', 'x.key']
  // days of UTC are whole rows, and the sum of all days is the same in each zone
  const counted = partsOf(byAddress && isByCount ? utc : zone, request)
  const found = await readPositions({ matching: () => summed(counted), position, isComputed: true }, reader, request)
  const keys = found.rows.map((at) => String(at.at(-1)))
  const parts = byAddress
    ? partsOf(zone, request)
    : counted.filter(({ date }) => keys.some((key) => key.startsWith(date)))
  const addresses = byAddress ? keys : keys.map((key) => key.slice(key.indexOf('\n') + 1))
  const read = (await summed(parts, addresses).whereIn('x.key', keys).select('x.*')) as Raw[]
  const listed = inOrder(found, read, (row) => row.key)
  return {
    ...listed,
    rows: listed.rows.map(({ key, date, count, people }) => {
      const [host, path, kind] = key.split('\n').slice(-3) as [string, string, MissKind]
      return { host, path, date, count: Number(count), people: Number(people), kind }
    }),
  }
}

/** Returns how many HEAD requests an account had in the quarters of an hour that a time touches. */
export const countHeadRequests = async (
  { db }: Pick<Reader, 'db'>,
  account: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<number> => {
  const touched = new Date(Math.floor(from.getTime() / quarterMs) * quarterMs)
  const counts = countsIn(db, partsOf(utc, { from: touched, to }), { of: account, kind: headRequests })
  const [row] = (await db.from(counts.as('x')).sum({ n: 'x.count' })) as { n: string | null }[]
  return Number(row?.n ?? 0)
}
