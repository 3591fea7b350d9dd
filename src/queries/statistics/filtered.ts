import { classes, visited } from '../../projections/statistics/clickfacts.ts'
import { dims } from '../../projections/statistics/labels.ts'
import { conditions, type Filters, joined, readRoutes, visitClasses } from './conditions.ts'
import { type SubjectCounts, readCounted, type Subject } from './facts.ts'
import { countedBy, memberCounts } from './members.ts'
import { type Count, mostFirst, mostLabels, readLabels } from './labels.ts'
import { type Reader, readOneMoment } from '../reader.ts'
import {
  clickSeries,
  factsOfTime,
  minutesOf,
  type Series,
  type SeriesDimension,
  seriesDimensions,
  type SeriesOptions,
} from './series.ts'

/** What roll-ups do not have: it is counted from the facts. */
const factDimensions = ['rule', 'class', 'link'] as const
export const breakdownDimensions = [...seriesDimensions, ...factDimensions] as const
export type BreakdownDimension = (typeof breakdownDimensions)[number]

export interface FilteredOptions extends Omit<SeriesOptions, 'by'> {
  readonly by: readonly BreakdownDimension[]
  readonly filters: Filters
  /** whether visits have the classes that they were counted with first, instead of those that they have now */
  readonly asThen?: boolean
  /** rows of a dimension at most */
  readonly limit: number
}
export interface Filtered {
  readonly total: Omit<Series['total'], 'suspects'>
  readonly points: Series['points']
  /** clicks in descending order; visits for `class`, and where the filters name classes */
  readonly by: Readonly<Partial<Record<BreakdownDimension, readonly Count[]>>>
}

/** visits that a question reads one by one at most: about four seconds */
const mostVisits = 5_000_000
/** A question that would read too many visits. */
export class TooManyVisits extends Error {
  override readonly name = 'TooManyVisits'
  readonly visits: number
  readonly max = mostVisits
  constructor(visits: number) {
    super(
      `it has ${visits.toLocaleString('en')} visits, and at most ${mostVisits.toLocaleString('en')} are read one by one`,
    )
    this.visits = visits
  }
}

const isRolled = (name: BreakdownDimension): name is SeriesDimension => seriesDimensions.some((one) => one === name)
/** What roll-ups of links have, with the links themselves. */
const isSummed = (name: BreakdownDimension) => name !== 'rule' && name !== 'class'
const isFiltered = (filters: Filters) => Object.values(filters).some((values) => values !== undefined)

/**
 * Returns the clicks over time and by labels: from the roll-ups as far as they have what is asked for, from the facts
 * otherwise.
 */
export const filteredStats = (reader: Reader, subject: Subject, options: FilteredOptions): Promise<Filtered> =>
  readOneMoment(reader, (moment) => read(moment, subject, options))

const read = async (reader: Reader, subject: Subject, options: FilteredOptions): Promise<Filtered> => {
  const { by, filters, limit, asThen = false, ...time } = options
  const filtered = asThen || isFiltered(filters)
  const series = await clickSeries(reader, subject, { ...time, by: filtered ? [] : by.filter(isRolled) })
  const ofSeries = Object.entries(series.by).map(([name, { counts }]) => [name, counts] as const)
  const rolled = { ...series, by: Object.fromEntries(ofSeries) }
  const others = filtered ? by : by.filter((name) => !isRolled(name))
  const shown = (counts: Readonly<Partial<Record<string, readonly Count[]>>>) =>
    Object.fromEntries(by.flatMap((name) => (counts[name] ? [[name, counts[name].slice(0, limit)]] : [])))
  if (!filtered && others.length === 0) return { total: rolled.total, points: rolled.points, by: shown(rolled.by) }
  const readFacts = async (names: readonly BreakdownDimension[], overTime: boolean) => {
    if (rolled.total.visits > mostVisits) throw new TooManyVisits(rolled.total.visits)
    const counted = { ...(await readCounted(reader, subject)), asThen }
    return countFacts(reader, counted, { ...options, by: names }, overTime)
  }
  if (!filtered)
    return {
      total: rolled.total,
      points: rolled.points,
      by: shown({ ...rolled.by, ...(await readFacts(others, false)).by }),
    }
  const summed = by.filter(isSummed)
  const columns = ['at', ...summed] as const
  const members = await memberCounts(reader, subject, filters, { ...time, asThen }, columns)
  if (!members) {
    const facts = await readFacts(by, true)
    return { ...pointsOf(rolled.points, facts.perInterval), by: shown(facts.by) }
  }
  if (members.readsAll && rolled.total.visits > mostVisits) throw new TooManyVisits(rolled.total.visits)
  const sums = await countsOf(reader, members, columns, summed, 'clicks')
  const unsummed = by.filter((name) => !isSummed(name))
  const one = unsummed.length > 0 ? await readFacts(unsummed, false) : undefined
  return { ...pointsOf(rolled.points, sums.perInterval), by: shown({ ...sums.by, ...one?.by }) }
}

/** The sums of one interval. */
type Sums = Filtered['total']
interface Row {
  readonly dim: number
  readonly value: string
  readonly clicks: string
  readonly uniques: string
  readonly visits: string
}

/** the columns of the facts by which the dimensions are grouped */
const columnOf = (name: BreakdownDimension) => (name === 'rule' ? 'route' : name)
/**
 * Counts the facts by all dimensions at once. The visits are grouped by what is asked for in one pass, so that a
 * million of them take about a second.
 */
const countFacts = async (
  reader: Reader,
  counted: SubjectCounts,
  { by, filters, limit, ...time }: FilteredOptions,
  overTime: boolean,
) => {
  const facts = factsOfTime(reader, counted, time)
  const found = await conditions(reader, facts, filters, { ...minutesOf(time), subject: counted.subject })
  const where = ['true', ...found.where].join(' and ')
  const columns = [...(overTime ? ['at'] : []), ...by.map(columnOf)]
  const from = `(${facts}) f ${found.joins.join(' ')} where ${where}`
  const ctes = `counts as (${countedBy(columns, columns, time, from)})`
  return countsOf(reader, { ctes, joins: found.joins }, columns, by, filters.class ? 'visits' : 'clicks')
}

/** Returns what `counts` of a statement says: rows with the place of a column, a value of it, and the sums. */
const countsOf = async (
  reader: Reader,
  { ctes, joins }: { readonly ctes: string; readonly joins: readonly string[] },
  columns: readonly string[],
  by: readonly BreakdownDimension[],
  counting: 'visits' | 'clicks',
) => {
  // a planner whose statistics are old expects a few rows, and sorts a million of them on disk
  await reader.db.raw(`set local enable_sort = off`)
  // there may be as many links and referrers as visits
  const most = columns.map(
    (_, n) => `(select * from counts where dim = ${n} order by ${counting} desc, value limit ${mostLabels})`,
  )
  const rows = await joined<Row>(reader, { joins }, `with ${ctes} ${most.join(' union all ')}`, false)
  const of = (column: string) => rows.filter(({ dim }) => dim === columns.indexOf(column))
  const sums = new Map<number, Sums>()
  for (const { value, clicks, uniques, visits } of of('at'))
    sums.set(Number(value), { clicks: Number(clicks), uniques: Number(uniques), visits: Number(visits) })
  const counts: Partial<Record<BreakdownDimension, readonly Count[]>> = {}
  for (const name of by) {
    const count = name === 'class' ? 'visits' : counting
    const numbered = of(columnOf(name)).map((row) => ({ value: Number(row.value), n: Number(row[count]) }))
    counts[name] = await named(reader, name, numbered)
  }
  return { perInterval: sums, by: counts }
}

const classOf = (value: number) =>
  value === classes.first ? 'human' : visitClasses.find((name) => classes[name] === value)

/** Returns the counts by the names of their values, most first. */
const named = async (
  reader: Reader,
  name: BreakdownDimension,
  counts: readonly { readonly value: number; readonly n: number }[],
): Promise<readonly Count[]> => {
  const nameOf = await namesOf(
    reader,
    name,
    counts.map(({ value }) => value),
  )
  const sums = new Map<string, number>()
  for (const { value, n } of counts) {
    const label = nameOf(value)
    if (n > 0 && label !== undefined) sums.set(label, (sums.get(label) ?? 0) + n)
  }
  return [...sums].map(([label, n]) => ({ label, n })).toSorted(mostFirst)
}

const namesOf = async (reader: Reader, name: BreakdownDimension, values: readonly number[]) => {
  if (name === 'link') return (value: number) => visitedName(value)
  if (name === 'class') return (value: number) => classOf(value) ?? 'other'
  if (name === 'rule') {
    const routes = await readRoutes(reader, values)
    return (value: number) => routes.get(value)?.rule
  }
  const labelOf = await readLabels(reader, [{ dim: dims[name], ids: values }])
  return (value: number) => labelOf(dims[name], value)
}

/** Returns what was visited: the id of a link, or `qr/7` and `bio/7`, which lead to none; also of views of a page. */
const visitedName = (value: number): string => {
  const { of, id } = visited(value)
  return of === 'link' ? String(id) : `${of === 'view' ? 'bio' : of}/${id}`
}

/** Returns the sums for the intervals of a series, and their total. */
const pointsOf = (intervals: Series['points'], sums: ReadonlyMap<number, Sums>): Pick<Filtered, 'total' | 'points'> => {
  const none: Sums = { clicks: 0, uniques: 0, visits: 0 }
  const points = intervals.map(({ at }, n) => ({ at, ...(sums.get(n + 1) ?? none) }))
  const total = points.reduce(
    (sum, { clicks, uniques, visits }) => ({
      clicks: sum.clicks + clicks,
      uniques: sum.uniques + uniques,
      visits: sum.visits + visits,
    }),
    none,
  )
  return { points, total }
}
