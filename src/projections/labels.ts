import type { Knex } from 'knex'
import type { Click } from '../events/click.ts'

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
} as const
export type Dim = keyof typeof dims
export const dimensions = Object.keys(dims) as Dim[]
/** The dimensions whose labels visitors and owners make up; those of the others come from closed lists of ours, so that a smallint numbers them. */
export const openDimensions: readonly Dim[] = ['referrer', 'variant']
/** The dimensions of the statistics of a link over all time. */
export const topDimensions = ['referrer', 'country', 'browser', 'os', 'variant'] as const satisfies readonly Dim[]

/** Returns the id of the variant that a rule names; empty when it names none. */
const variantOf = (rule: string) => /^variant:(\d+)$/.exec(rule)?.[1] ?? ''

export const labelOf: Readonly<Record<Dim, (click: Click) => string>> = {
  referrer: ({ referrer }) => referrer,
  country: ({ country }) => country,
  browser: ({ browser }) => browser.family,
  os: ({ os }) => os.family,
  device: ({ device }) => device,
  language: ({ language }) => language,
  source: ({ source }) => source.kind,
  variant: ({ rule }) => variantOf(rule),
}

export const labelTables = {
  labels: (t: string) =>
    `create table ${t} (dim smallint not null, id int not null, label text not null, primary key (dim, id), unique (dim, label))`,
} as const

/** Returns the number of a label within its dimension. */
export type LabelIds = (dim: number, label: string) => number

/**
 * Returns the numbers of the clicks' labels. New labels are numbered within their dimension in log order, so that every replay gives the
 * same numbers. A subquery per label looks it up by the unique index: a join may be planned as a scan of all labels.
 */
export const labelIds = async (tx: Knex, table: string, clicks: readonly Click[]): Promise<LabelIds> => {
  const ids = dimensions.map(() => new Map<string, number | undefined>())
  for (const click of clicks)
    for (const dim of dimensions) {
      const label = labelOf[dim](click)
      if (!ids[dims[dim]]!.has(label)) ids[dims[dim]]!.set(label, undefined)
    }
  const add = (rows: readonly { readonly dim: number; readonly label: string; readonly id: number | null }[]) => {
    for (const { dim, label, id } of rows) if (id !== null) ids[dim]!.set(label, id)
  }
  const missing = () =>
    JSON.stringify(
      ids.flatMap((labels, dim) => [...labels].flatMap(([label, id]) => (id === undefined ? [{ dim, label }] : []))),
    )
  type Rows = { rows: { dim: number; label: string; id: number | null }[] }
  const known = await tx.raw<Rows>(
    `select dim, label, (select l.id from ${table} l where l.dim = w.dim and l.label = w.label) as id
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
  return (dim, label) => ids[dim]?.get(label) ?? 0
}
