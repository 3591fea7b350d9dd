import type { Knex } from 'knex'
import type { Click } from '../../events/statistics/click.ts'
import { importedRule } from '../../events/statistics/visits.ts'
import type { Event } from '../../events/index.ts'
import { storable } from '../../lib/storable.ts'
import type { TableNames } from '../engine/projection.ts'

/** Values of `labels.dim`. */
export const dims = {
  referrer: 0,
  country: 1,
  browser: 2,
  os: 3,
  device: 4,
  language: 5,
  source: 6,
  variant: 7,
  medium: 8,
  address: 9,
} as const
export type Dim = keyof typeof dims
export const dimensions = Object.keys(dims) as Dim[]

/**
 * The values of `details.dim`, of what facts keep beyond the dimensions: `profile` is what else a click knows of its
 * visitor, `route` which revision, rule and entry of a bio page have led it, and `destination` where to. Many clicks
 * share one, so that its number takes little room.
 */
export const details = { profile: 0, route: 1, destination: 2 } as const
export type Detail = keyof typeof details
export const detailNames = Object.keys(details) as Detail[]
/**
 * The dimensions whose labels visitors and owners make up; those of the others come from closed lists of ours, so that
 * a smallint numbers them.
 */
export const openDimensions: readonly Dim[] = ['referrer', 'variant', 'address']
/** The dimensions of the statistics of a link over all time. */
export const topDimensions = [
  'referrer',
  'country',
  'browser',
  'os',
  'variant',
  'address',
] as const satisfies readonly Dim[]

/** Returns the id of the variant that a rule names; empty when it names none. */
const variantOf = (rule: string) => /^variant:(\d+)$/.exec(rule)?.[1] ?? ''

export const labelOf: Readonly<Record<Dim, (click: Click) => string>> = {
  referrer: ({ referrer }) => referrer,
  // the visits of imports had any text once
  country: ({ country }) => (/^[A-Z]{2}$/.test(country) ? country : ''),
  browser: ({ browser }) => browser.family,
  os: ({ os }) => os.family,
  device: ({ device }) => device,
  language: ({ language }) => language,
  source: ({ source }) => source.kind,
  variant: ({ rule }) => variantOf(rule),
  medium: ({ medium }) => medium ?? '',
  address: ({ address = 1 }) => String(address),
}

const columns = 'dim smallint not null, id int not null, label text not null, primary key (dim, id)'
export const labelTables = {
  labels: (t: string) => `create table ${t} (${columns}, unique (dim, label))`,
  // URLs may be longer than an index entry
  details: (t: string) => `create table ${t} (${columns}); create index on ${t} (dim, hashtextextended(label, 0))`,
} as const

/** SQL that is true if two rows with the columns `dim` and `label` are of the same detail. */
export const sameDetail = (a: string, b: string) =>
  `${a}.dim = ${b}.dim and hashtextextended(${a}.label, 0) = hashtextextended(${b}.label, 0) and ${a}.label = ${b}.label`

/** What a `profile` says; a value that a click does not have is null. */
export interface Profile {
  /** version of the rules that classified the click */
  readonly rules: number
  /** words of the user agent */
  readonly agent: string
  readonly bot: string | null
  readonly languages: readonly string[] | null
  readonly models: readonly string[] | null
}
const profileLabel = ({ rules, agent, bot, languages, models }: Profile) =>
  JSON.stringify([rules, agent, bot, languages, models])
export const readProfile = (label: string): Profile => {
  const [rules, agent, bot, languages, models] = JSON.parse(label) as [
    number,
    string,
    string | null,
    string[] | null,
    string[] | null,
  ]
  return { rules, agent, bot, languages, models }
}
/** Returns the `profile` of each click of a batch. Clicks of the same program and languages share a text. */
export const profilesOf = ({ rules, agents, languages, clicks }: Batch): readonly string[] => {
  const known = new Map<string, string>()
  return clicks.map(({ agent, languages: list, bot = null, models = null }) => {
    const key = `${agent} ${list} ${bot} ${models?.join()}`
    const words = list === undefined ? null : (languages[list] ?? null)
    const label = known.get(key) ?? profileLabel({ rules, agent: agents[agent] ?? '', bot, languages: words, models })
    known.set(key, label)
    return label
  })
}
type Batch = Pick<Event<'LinkClicked'>['data'], 'rules' | 'agents' | 'languages' | 'clicks'>

/** What a `route` says: the entry is that of a bio page, if the click came by one. */
export interface Route {
  readonly revision: number
  readonly bio: number | null
  readonly entry: number
  readonly rule: string
}
export const routeLabel = ({ revision, rule, source }: Click): string =>
  `${revision} ${source.kind === 'bio' ? `${source.id}/${source.entry ?? 0}` : '-'} ${rule}`
export const readRoute = (label: string): Route => {
  const [, revision, bio, entry, rule = ''] = /^(-?\d+) (?:(\d+)\/(\d+)|-) (.*)$/s.exec(label) ?? []
  return { revision: Number(revision), bio: bio === undefined ? null : Number(bio), entry: Number(entry ?? 0), rule }
}

/** The label of the route of all visits that another service has recorded. */
const importedLabel = `0 - ${importedRule}`
/** SQL of the number of that route; null where there is no such visit. */
export const importedRoute = (names: TableNames) => `(
  select id from ${names('details')} where dim = ${details.route}
    and hashtextextended(label, 0) = hashtextextended('${importedLabel}', 0) and label = '${importedLabel}')`

/** What the labels of a visit are made of. */
export interface Labelled {
  readonly click: Click
  readonly profile: string
  readonly destination: string
}
export const detailOf: Readonly<Record<Detail, (visit: Labelled) => string>> = {
  profile: ({ profile }) => profile,
  route: ({ click }) => routeLabel(click),
  destination: ({ destination }) => destination,
}
type Makers = readonly ((visit: Labelled) => string)[]
/** What makes the labels of each dimension, and of each detail. */
const makers: { readonly labels: Makers; readonly details: Makers } = {
  labels: dimensions.map(
    (dim) =>
      ({ click }) =>
        labelOf[dim](click),
  ),
  details: detailNames.map((name) => detailOf[name]),
}

/** characters of a label, for which an index entry has room */
const longestLabel = 255
/** Returns a label as the tables can keep it: no text of an event may halt the statistics. */
const keptAs = { labels: (label: string) => storable(label.slice(0, longestLabel)), details: storable } as const

/** Returns the number of a label within its dimension. */
export type LabelIds = (dim: number, label: string) => number

/**
 * Returns the numbers of the clicks' labels. New labels are numbered within their dimension in log order, so that every
 * replay gives the same numbers. A subquery per label looks it up by the unique index: a join may be planned as a scan
 * of all labels.
 */
export const labelIds = async (
  tx: Knex,
  names: TableNames,
  kind: 'labels' | 'details',
  visits: readonly Labelled[],
): Promise<LabelIds> => {
  const table = names(kind)
  const isSame = kind === 'labels' ? 'l.dim = w.dim and l.label = w.label' : sameDetail('l', 'w')
  const kept = keptAs[kind]
  const ids = makers[kind].map((of) => new Map(visits.map((v) => [kept(of(v)), undefined as number | undefined])))
  const add = (rows: readonly { readonly dim: number; readonly label: string; readonly id: number | null }[]) => {
    for (const { dim, label, id } of rows) if (id !== null) ids[dim]!.set(label, id)
  }
  const missing = () =>
    JSON.stringify(
      ids.flatMap((labels, dim) => [...labels].flatMap(([label, id]) => (id === undefined ? [{ dim, label }] : []))),
    )
  type Rows = { rows: { dim: number; label: string; id: number | null }[] }
  const known = await tx.raw<Rows>(
    `select dim, label, (select l.id from ${table} l where ${isSame}) as id
     from json_to_recordset(?::json) as w (dim smallint, label text)`,
    [missing()],
  )
  add(known.rows)
  const unknown = missing()
  if (unknown !== '[]') {
    const made = await tx.raw<Rows>(
      `insert into ${table} (dim, id, label)
       select dim, coalesce((select max(l.id) from ${table} l where l.dim = w.dim), 0) + row_number() over (partition by dim order by nr), label
       from rows from (json_to_recordset(?::json) as (dim smallint, label text)) with ordinality as w (dim, label, nr)
       returning dim, id, label`,
      [unknown],
    )
    add(made.rows)
  }
  return (dim, label) => ids[dim]?.get(kept(label)) ?? 0
}
