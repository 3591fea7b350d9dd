import { VisitorClass } from '../../events/statistics/click.ts'
import { classes, isClick, isUnique, scanOffset, subjects } from '../../projections/statistics/clickfacts.ts'
import { details, type Dim, dims, readRoute, type Route, sameDetail } from '../../projections/statistics/labels.ts'
import { visitedWithin } from '../streams/membership.ts'
import type { Reader } from '../reader.ts'
import { readDetails } from './labels.ts'

/** The kinds of visits, by the names that the API has for them. */
export const visitClasses = [...VisitorClass.options, 'excluded'] as const
export type VisitClass = (typeof visitClasses)[number]

/** Which visits are counted: those that have one of the values of each filter. */
export interface Filters extends Readonly<Partial<Record<Dim | 'rule', readonly string[] | undefined>>> {
  readonly class?: readonly VisitClass[] | undefined
  /** the first visits of persons, or all others */
  readonly unique?: boolean | undefined
  /** what was visited is in this campaign */
  readonly campaign?: number | undefined
  /** what was visited is in this channel */
  readonly channel?: number | undefined
  /** came by this QR code to a link */
  readonly qr?: number | undefined
  /** followed an entry of this bio page, or has seen it */
  readonly bio?: number | undefined
  /** of what was visited */
  readonly revision?: number | undefined
  /** URL that the visitors were sent to */
  readonly destination?: string | undefined
}
/** SQL of a condition on a column of the facts. */
const among = (column: string, values: readonly number[]) =>
  values.length === 0 ? 'false' : `${column} in (${values.join()})`

/** Returns the numbers of labels. One that no visit has ever had is missing. */
const labelIds = async ({ db, table }: Reader, dim: Dim, labels: readonly string[]) => {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select id from ${table('labels')} where dim = ${dims[dim]} and label = any(?::text[])`,
    [[...labels]],
  )
  return rows.map(({ id }) => id)
}

const destinationIds = async ({ db, table }: Reader, destination: string) => {
  const { rows } = await db.raw<{ rows: { id: number }[] }>(
    `select d.id from (select ${details.destination} as dim, ?::text as label) w join ${table('details')} d on ${sameDetail('d', 'w')}`,
    [destination],
  )
  return rows.map(({ id }) => id)
}

/** Returns what routes say, by their numbers. */
export const readRoutes = async (reader: Reader, routes: readonly number[]): Promise<ReadonlyMap<number, Route>> =>
  new Map([...(await readDetails(reader, 'route', routes))].map(([id, label]) => [id, readRoute(label)]))

/** routes of all accounts that are looked through without asking first which of them visits have */
const fewRoutes = 1000

/** Routes are numbered for all accounts: of many, only those are looked at that visits of this subject have. */
const routeIds = async (reader: Reader, facts: string, passes: (route: Route) => boolean) => {
  const read = async (sql: string) => (await reader.db.raw<{ rows: { route: number }[] }>(sql)).rows
  const all = await read(
    `select id as route from ${reader.table('details')} where dim = ${details.route} limit ${fewRoutes + 1}`,
  )
  const some = all.length > fewRoutes ? await read(`select distinct route from (${facts}) c`) : all
  const routes = await readRoutes(
    reader,
    some.map(({ route }) => route),
  )
  return [...routes].flatMap(([id, route]) => (passes(route) ? [id] : []))
}

const classCondition = (wanted: readonly VisitClass[]) =>
  wanted.map((name) => (name === 'human' ? `(${isClick})` : `class = ${classes[name]}`)).join(' or ')

/** SQL of the conditions of the filters. */
export const conditions = async (
  reader: Reader,
  facts: string,
  { class: wanted, unique, rule, revision, bio, campaign, channel, qr, destination, ...labels }: Filters,
) => {
  const found: string[] = wanted ? [`(${classCondition(wanted)})`] : []
  if (unique !== undefined) found.push(unique ? isUnique : `not (${isUnique})`)
  if (campaign !== undefined || channel !== undefined) found.push(await visitedWithin(reader, { campaign, channel }))
  if (qr !== undefined)
    found.push(
      `seq in (select seq - ${scanOffset} from ${reader.table('clicks')} where link = ${subjects.qr(qr)} and account < 0)`,
    )
  if (destination !== undefined) found.push(among('destination', await destinationIds(reader, destination)))
  for (const [name, values] of Object.entries(labels) as [Dim, readonly string[] | undefined][])
    if (values) found.push(among(name, await labelIds(reader, name, values)))
  if ((rule ?? revision ?? bio) === undefined) return found
  const passes = (route: Route) =>
    (rule?.includes(route.rule) ?? true) &&
    route.revision === (revision ?? route.revision) &&
    route.bio === (bio ?? route.bio)
  return [...found, among('route', await routeIds(reader, facts, passes))]
}
