import { VisitorClass } from '../../events/statistics/click.ts'
import { classes, isClick } from '../../projections/statistics/clickfacts.ts'
import { type Dim, details, dims, readRoute } from '../../projections/statistics/labels.ts'
import { visitedWithin } from '../streams/membership.ts'
import type { Reader } from '../reader.ts'

/** The kinds of visits, by the names that the API has for them. */
export const visitClasses = [...VisitorClass.options, 'excluded'] as const
export type VisitClass = (typeof visitClasses)[number]

/** Which visits are counted: those that have one of the values of each filter. */
export interface Filters extends Readonly<Partial<Record<Dim | 'rule', readonly string[]>>> {
  readonly class?: readonly VisitClass[] | undefined
  /** what was visited is in this campaign */
  readonly campaign?: number | undefined
  /** what was visited is in this channel */
  readonly channel?: number | undefined
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

/** Returns the rule that each route names. */
export const rulesOf = async ({ db, table }: Reader, routes: readonly number[]) => {
  const { rows } = await db.raw<{ rows: { id: number; label: string }[] }>(
    `select id, label from ${table('details')} where dim = ${details.route} and id = any(?::int[])`,
    [[...routes]],
  )
  return new Map(rows.map(({ id, label }) => [id, readRoute(label).rule]))
}

/** Routes are numbered for all accounts together: only those are looked at that visits of this subject have. */
const routeIds = async (reader: Reader, facts: string, rules: readonly string[]) => {
  const { rows } = await reader.db.raw<{ rows: { route: number }[] }>(`select distinct route from (${facts}) c`)
  const named = await rulesOf(
    reader,
    rows.map(({ route }) => route),
  )
  return [...named].flatMap(([id, rule]) => (rules.includes(rule) ? [id] : []))
}

const classCondition = (wanted: readonly VisitClass[]) =>
  wanted.map((name) => (name === 'human' ? `(${isClick})` : `class = ${classes[name]}`)).join(' or ')

/** SQL of the conditions of the filters. */
export const conditions = async (
  reader: Reader,
  facts: string,
  { class: wanted, rule, campaign, channel, ...labels }: Filters,
) => {
  const found: string[] = wanted ? [`(${classCondition(wanted)})`] : []
  if (campaign !== undefined || channel !== undefined) found.push(await visitedWithin(reader, { campaign, channel }))
  for (const [name, values] of Object.entries(labels) as [Dim, readonly string[] | undefined][])
    if (values) found.push(among(name, await labelIds(reader, name, values)))
  return rule ? [...found, among('route', await routeIds(reader, facts, rule))] : found
}
