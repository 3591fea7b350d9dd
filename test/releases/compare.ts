import { isDeepStrictEqual } from 'node:util'
import type { Change } from './changes.ts'
import type { Json, StoredTable } from './database.ts'

/** A value that differs from the stored one; `undefined` means that it is missing. */
export interface Difference {
  readonly at: string
  readonly stored: unknown
  readonly now: unknown
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns whether the keys of an object are data, so that an additional key is a difference. Other objects may gain
 * fields.
 */
const isMap = (at: string, stored: Json) =>
  Object.keys(stored).length === 0 ||
  /\.(?:top[A-Z]\w*|by|by\.\w+|location|device|language|fields|held|free|reached)$/.test(at)
/** Returns whether a value is a sentence for people, which may be rewritten. */
const isProse = (at: string) => /^answers\/.*\.json\.message$/.test(at)

/** Returns whether a list is a set of values, in which a new one changes nothing about the others. */
const isSet = (at: string) => /^pages\/.*\.addresses$/.test(at)

const setDifferences = (stored: readonly unknown[], now: readonly unknown[], at: string): Difference[] => [
  ...stored
    .filter((value) => !now.includes(value))
    .map((value) => ({ at: `${at}[${String(value)}]`, stored: value, now: undefined })),
  ...now
    .filter((value) => !stored.includes(value))
    .map((value) => ({ at: `${at}[${String(value)}]`, stored: undefined, now: value })),
]

/**
 * Returns the differences between a value and the stored one, at any depth. A new field of an object is not a
 * difference, unless its keys are data.
 */
export const differences = (stored: unknown, now: unknown, at: string): Difference[] => {
  if (isProse(at) && typeof stored === 'string' && typeof now === 'string') return []
  if (Array.isArray(stored) && Array.isArray(now)) {
    if (isSet(at)) return setDifferences(stored, now, at)
    const length = Math.max(stored.length, now.length)
    return Array.from({ length }, (_, i) => differences(stored[i], now[i], `${at}[${i}]`)).flat()
  }
  if (isObject(stored) && isObject(now)) {
    const names = new Set([...Object.keys(stored), ...(isMap(at, stored) ? Object.keys(now) : [])])
    return [...names].flatMap((name) => differences(stored[name], now[name], `${at}.${name}`))
  }
  return isDeepStrictEqual(stored, now) ? [] : [{ at, stored, now }]
}

/** Returns rows by their primary key or, without one, by all stored columns. Equal names are numbered. */
const byKey = (rows: readonly Json[], key: readonly string[], columns: readonly string[]) => {
  const found = new Map<string, Json>()
  for (const row of rows) {
    const name = (key.length > 0 ? key : columns).map((column) => `${column}=${String(row[column])}`).join(',')
    let n = 1
    while (found.has(`${name}#${n}`)) n++
    found.set(`${name}#${n}`, row)
  }
  return found
}

/** Whether only the newest moment of recording has moved: clicks in a stored spool are recorded while a test runs. */
const isLaterRecording = ({ at, stored, now }: Difference) => at.endsWith('.clock') && Number(now) >= Number(stored)

/** Returns the differences between the rows of a table and the stored ones. Columns that are not stored are ignored. */
export const tableDifferences = (stored: StoredTable, now: StoredTable | undefined, at: string): Difference[] => {
  if (!now) return [{ at, stored: `${stored.rows.length} rows`, now: undefined }]
  const columns = Object.keys(stored.rows[0] ?? {})
  const [before, after] = [stored.rows, now.rows].map((rows) => byKey(rows, stored.key, columns)) as [
    Map<string, Json>,
    Map<string, Json>,
  ]
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    differences(before.get(name), after.get(name), `${at}/${name.replace(/#1$/, '')}`).filter(
      (difference) => !isLaterRecording(difference),
    ),
  )
}

const matches = ({ at, now }: Change, difference: Difference) => {
  const pattern = at
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${pattern}$`).test(difference.at) && isDeepStrictEqual(now, difference.now)
}

/**
 * Returns the differences in a part (the beginning of `at`) that no listed change explains, and listed changes that
 * explain no difference.
 */
export const unexplained = (found: readonly Difference[], part: string, changes: readonly Change[]): string[] => {
  const mine = changes.filter(({ at }) => at.startsWith(`${part}/`))
  const say = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))
  return [
    ...found
      .filter((difference) => !mine.some((change) => matches(change, difference)))
      .map(({ at, stored, now }) => `${at}: stored ${say(stored)}, now ${say(now)}`),
    ...mine
      .filter((change) => !found.some((difference) => matches(change, difference)))
      .map(({ at }) => `${at}: is listed as changed, and is not`),
  ]
}

/**
 * Returns tables in which a click has what its profile says. Clicks in a stored spool are recorded while a test runs,
 * by the rules of today: the version of these rules, the ids of profiles and the regions of languages are left out.
 */
export const withProfiles = (tables: Readonly<Record<string, StoredTable>>): Readonly<Record<string, StoredTable>> => {
  const { details, clicks } = tables
  if (!details || !clicks) return tables
  const profiles = new Map<unknown, string>()
  for (const { dim, id, label } of details.rows) {
    if (dim !== 0) continue
    const [, words, program, languages] = JSON.parse(String(label)) as [number, unknown, unknown, string[] | null]
    profiles.set(id, JSON.stringify([words, program, languages?.map((range) => range.split('-')[0])]))
  }
  return {
    ...tables,
    // destinations (2) are newer than the stored releases
    details: { ...details, rows: details.rows.filter(({ dim }) => dim !== 0 && dim !== 2) },
    clicks: { ...clicks, rows: clicks.rows.map((row) => ({ ...row, profile: profiles.get(row['profile']) ?? null })) },
  }
}
