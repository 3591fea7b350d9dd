type Value = string | number | boolean | bigint | null | readonly unknown[] | object
export type Row = Readonly<Record<string, Value>>
/** A row in parts that have no column in common: to copy a row of so many columns takes longer than to write it. */
export type Parts = readonly Row[]

/**
 * Returns a value as JSON. Large numbers are strings. Most columns are empty, and to call `JSON.stringify` for each
 * takes long.
 */
const valueText = (value: Value | undefined): string => {
  if (value === null || value === undefined) return 'null'
  if (value === '') return '""'
  if (typeof value === 'bigint') return `"${value}"`
  return JSON.stringify(value)
}

/** Returns the columns of a row as a JSON object, without those that are left out of a part. */
const rowText = (parts: Parts, leftOut: readonly ReadonlySet<string>[] = []) => {
  const members: string[] = []
  for (const [i, part] of parts.entries()) {
    const without = leftOut[i]
    for (const column in part) if (!without?.has(column)) members.push(`"${column}":${valueText(part[column])}`)
  }
  return `{${members.join()}}`
}

const isEmpty = (value: Value | undefined) => Array.isArray(value) && value.length === 0
const isSame = (a: Value | undefined, b: Value | undefined) => a === b || (isEmpty(a) && isEmpty(b))

/** Returns the columns of each part that have the same value in all rows. */
const commonOf = (rows: readonly Parts[]): readonly ReadonlySet<string>[] =>
  (rows[0] ?? []).map(
    (part, i) =>
      new Set(
        Object.keys(part).filter(
          (column) => part[column] !== undefined && rows.every((row) => isSame(row[i]?.[column], part[column])),
        ),
      ),
  )

/** Rows from which on their common columns are written once. */
const many = 10

/**
 * Returns the bindings of `recordsOf`: what all rows have in common as a JSON object, and the rest of each. Most
 * columns of most links are empty, and writing and parsing them row by row takes most of the time of a fill.
 */
export const jsonOf = (rows: readonly Parts[]): readonly [common: string, rows: string] => {
  if (rows.length < many) return ['{}', `[${rows.map((row) => rowText(row)).join()}]`]
  const common = commonOf(rows)
  const [first = []] = rows
  const shared = first.map((part, i) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => common[i]?.has(name))),
  )
  return [rowText(shared), `[${rows.map((row) => rowText(row, common)).join()}]`]
}

/** SQL of the rows of a table, given the bindings that `jsonOf` returns. */
export const recordsOf = (table: string) =>
  `json_populate_recordset(json_populate_record(null::${table}, ?::json), ?::json)`
