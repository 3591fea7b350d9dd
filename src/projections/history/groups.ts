import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { validate as isUuid } from 'uuid'
import type { Recorded } from '../../events/event.ts'
import type { LogEvent } from '../../events/index.ts'
import { importOfToken } from '../../events/links/link.ts'
import { column } from '../engine/columns.ts'

/** The first and the last id that a group can have: the same one for an import. */
export type Groups = readonly [low: string, high: string]

/** An event, with the group that it is shown in. */
export interface Grouped {
  readonly account: number
  /** ms since 1970 */
  readonly at: number
  /** undefined: it is shown by itself */
  readonly groups: Groups | undefined
  group: string | null
  /** whether it is the first of its group */
  leads: boolean
}

/** Returns the import that an event names. What takes it back is no part of it. */
const importOf = ({ type, data }: Recorded<LogEvent>): string | undefined => {
  switch (type) {
    case 'ImportStarted':
    case 'ImportFinished':
      return data.id
    case 'LinkCreated':
    case 'ClicksImported':
      return data.import
    case 'LinkAddressAdded':
      return importOfToken(data.token)
    default:
      return undefined
  }
}

const uuidOf = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/**
 * Returns the groups that an event can be in. That of an import has the import's id. Others begin with a digest of the
 * type, the author and the id of the request, and end with the time of their first event. The id alone is not enough,
 * because clients choose it; one that is no UUID may be that of all requests of a client.
 */
export const groupsOf = (event: Recorded<LogEvent>): Groups | undefined => {
  const { actor, request } = event.metadata
  const id = importOf(event)
  if (id !== undefined) return [id, id]
  if (!isUuid(request)) return undefined
  const about = JSON.stringify([event.type, actor.kind, actor.key, actor.member, request])
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 20)
  return [uuidOf(`${digest}${'0'.repeat(12)}`), uuidOf(`${digest}${'f'.repeat(12)}`)]
}

/** ms from the first event of a group to its last: a request that takes longer has several */
const longestMs = 10 * 60_000

/** Returns the group that begins with an event. */
const begunBy = ({ at }: Grouped, [low, high]: Groups): string =>
  low === high ? low : low.slice(0, -12) + at.toString(16).padStart(12, '0')

/** Whether an event belongs to the newest one of its groups. */
const isIn = (newest: string, { at }: Grouped, [low, high]: Groups): boolean =>
  low === high || at - Number.parseInt(newest.slice(-12), 16) < longestMs

/** Gives events that follow those of a table their groups. */
export const formGroups = async (tx: Knex, table: string, entries: readonly Grouped[]) => {
  const grouped = entries.flatMap((entry) => (entry.groups ? [{ entry, groups: entry.groups }] : []))
  const { rows } = await tx.raw<{ rows: { account: string; low: string; newest: string | null }[] }>(
    `select account, low, (
       select o.group_id from ${table} o where o.account = e.account and o.group_id between e.low and e.high
       order by o.group_id desc limit 1) as newest
     from (select distinct * from unnest(?::bigint[], ?::uuid[], ?::uuid[]) as e (account, low, high)) e`,
    [
      column(grouped, ({ entry }) => entry.account),
      column(grouped, ({ groups: [low] }) => low),
      column(grouped, ({ groups: [, high] }) => high),
    ],
  )
  const newestOf = new Map(rows.map(({ account, low, newest }) => [`${account} ${low}`, newest]))
  for (const { entry, groups } of grouped) {
    const key = `${entry.account} ${groups[0]}`
    const newest = newestOf.get(key)
    entry.leads = !newest || !isIn(newest, entry, groups)
    entry.group = newest && !entry.leads ? newest : begunBy(entry, groups)
    newestOf.set(key, entry.group)
  }
}
