import { type Detail, details } from '../../projections/statistics/labels.ts'
import type { Reader } from '../reader.ts'

/** A label and its number of clicks. */
export interface Count {
  readonly label: string
  readonly n: number
}
/** Sorts counts in descending order, and those that are the same by label. */
export const mostFirst = (a: Count, b: Count) => b.n - a.n || (a.label < b.label ? -1 : 1)

/** The ids of some labels of a dimension. */
interface Ids {
  readonly dim: number
  readonly ids: readonly number[]
}
/** The numbers of clicks with the labels of a dimension, in the order of their ids. */
interface Numbered extends Ids {
  readonly counts: readonly number[]
}

/**
 * Returns the labels of some ids. Each dimension looks up its own: a join by dimension and id may be planned as one by
 * the dimension, which compares each pair, since PostgreSQL does not know that nearly all labels are referrers.
 */
export const readLabels = async (
  { db, table }: Pick<Reader, 'db' | 'table'>,
  wanted: readonly Ids[],
): Promise<(dim: number, id: number) => string | undefined> => {
  const some = wanted.filter(({ ids }) => ids.length > 0)
  if (some.length === 0) return () => undefined
  const select = ({ dim }: Ids) => `
    select ${dim} as dim, coalesce(json_agg(id), '[]') as ids, coalesce(json_agg(label), '[]') as labels
    from ${table('labels')} where dim = ${dim} and id = any(?::int[])`
  const { rows } = await db.raw<{ rows: { dim: number; ids: number[]; labels: string[] }[] }>(
    some.map(select).join(' union all '),
    some.map(({ ids }) => [...ids]),
  )
  const labels = new Map(
    rows.map(({ dim, ids, labels: found }) => [dim, new Map(ids.map((id, i) => [id, found[i] ?? '']))]),
  )
  return (dim, id) => labels.get(dim)?.get(id)
}

/** Returns the labels of a detail by their ids. */
export const readDetails = async (
  { db, table }: Pick<Reader, 'db' | 'table'>,
  name: Detail,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const { rows } = await db.raw<{ rows: { id: number; label: string }[] }>(
    `select id, label from ${table('details')} where dim = ${details[name]} and id = any(?::int[])`,
    [[...new Set(ids)]],
  )
  return new Map(rows.map(({ id, label }) => [id, label]))
}

/**
 * Labels of a dimension that are read at most. Visitors invent referrers: the labels with the most clicks are read, and
 * of those that have as many the older ones.
 */
export const mostLabels = 10_000

/** The clicks of a dimension by label, most first, and of the labels that were left out together. */
export interface Breakdown {
  readonly counts: readonly Count[]
  readonly others: number
}

/**
 * Returns the numbers of clicks by label for each dimension that has some. `counts` is SQL of a table with the columns
 * `dim`, `label` and `n`, and `ctes` of what it needs.
 */
export const readCounts = async (reader: Reader, ctes: string, counts: string) => {
  // a sum of bigints would be a numeric, which is slow, and so is a row for each of thousands of labels
  const { rows } = await reader.db.raw<{ rows: (Numbered & Pick<Breakdown, 'others'>)[] }>(
    `with ${ctes}
     select dim, json_agg(label) filter (where ${mostLabels} >= rank) as ids,
       json_agg(n) filter (where ${mostLabels} >= rank) as counts, coalesce(sum(n) filter (where rank > ${mostLabels}), 0) as others
     from (
       select *, row_number() over (partition by dim order by n desc, label) as rank
       from (select dim, label, sum(n::float8) as n from ${counts} c group by 1, 2) c where n > 0
     ) c group by dim`,
  )
  const labelOf = await readLabels(reader, rows)
  return (dim: number): Breakdown => {
    const { ids = [], counts: n = [], others = 0 } = rows.find((row) => row.dim === dim) ?? {}
    return { counts: ids.map((id, i) => ({ label: labelOf(dim, id) ?? '', n: n[i] ?? 0 })).toSorted(mostFirst), others }
  }
}
