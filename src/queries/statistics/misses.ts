import { setImmediate as nextTurn } from 'node:timers/promises'
import { headRequests, type MissKind } from '../../lib/misses.ts'
import { localTime, startsIn } from '../../lib/zone.ts'
import { addressKey, linkAddress } from '../../projections/links/link.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
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
type Raw = Omit<MissRow, 'count' | 'people'> & Record<'key' | 'count' | 'people', string>

export interface MissRequest extends ListRequest {
  /** whose days these are */
  readonly zone: string
  /** whether the days of an address are added up */
  readonly byAddress: boolean
  readonly kind?: MissKind | undefined
}

/**
 * SQL of the misses by quarters of an hour. What an earlier release has counted, or a process of one still counts, has
 * none: it is at noon of its day.
 */
const byQuarter = `state.misses m
  cross join lateral (select coalesce(sum(c), 0) as count, coalesce(sum(p), 0) as people
    from unnest(m.quarter_counts, m.quarter_people) as known (c, p)) known
  cross join lateral (
    select m.day::timestamp at time zone 'UTC' + quarter * interval '15 minutes' as at, count, people
    from (select * from unnest(m.quarters, m.quarter_counts, m.quarter_people)
      union all select 48, m.count - known.count, m.people - known.people where m.count > known.count
    ) as x (quarter, count, people)
  ) q`

const dayOf = (date: Date) => date.toISOString().slice(0, 10)
const dayMs = 86_400_000
/** more days than misses are kept, on all clocks */
const keptDays = 92

/** SQL of the day of a quarter in a zone; what is no longer kept has that of UTC. */
const localDay = (zone: string, now = Date.now()) => {
  const starts = startsIn(zone, now - keptDays * dayMs, now + 2 * dayMs, 'day')
  const moments = starts.map((at) => new Date(at).toISOString()).join()
  const days = starts.map((at) => localTime(zone, at).slice(0, 10)).join()
  return `coalesce(('{${days}}'::date[])[width_bucket(q.at, '{${moments}}'::timestamptz[])], (q.at at time zone 'UTC')::date)`
}

const key = `concat_ws(E'\\n', m.host, m.path, m.kind)`

/** Returns one page of the addresses that lead nowhere, as an account sees them; 0: the operator. */
export const listMisses = async (reader: Reader, account: number, request: MissRequest): Promise<Listed<MissRow>> => {
  const { db } = reader
  const { byAddress, kind, zone, from, to } = request
  const within = db.from(db.raw(byQuarter)).where({ 'm.account': account, ...(kind && { 'm.kind': kind }) })
  if (from) void within.where('m.day', '>=', dayOf(from))
  if (to) void within.where('m.day', '<=', dayOf(to))
  const counted = filtered(db, within.whereNot('m.kind', headRequests), request, {
    searched: `(m.host || m.path)`,
    created: 'q.at',
  }).select('m.host', 'm.path', 'm.kind', 'q.count', 'q.people', db.raw(`${localDay(zone)} as day`))
  const summed = db
    .from(counted.as('m'))
    .select('m.host', 'm.path', 'm.kind')
    .select(
      db.raw(
        `${byAddress ? key : `m.day || E'\\n' || ${key}`} as key, max(m.day)::text as date, sum(m.count) as count, sum(m.people) as people`,
      ),
    )
    .groupByRaw(`m.host, m.path, m.kind${byAddress ? '' : ', m.day'}`)
  const rows = () => db.from(summed.clone().as('x'))
  const position = request.order === 'click' ? ['x.people', 'x.count', 'x.key'] : ['x.date', 'x.key']
  const found = await readPositions({ matching: rows, position }, reader, request)
  const keys = found.rows.map((at) => String(at.at(-1)))
  const read = (await rows().whereIn('x.key', keys).select('x.*')) as Raw[]
  const listed = inOrder(found, read, (row) => row.key)
  return {
    ...listed,
    rows: listed.rows.map(({ key: _key, count, people, ...row }) => ({
      ...row,
      count: Number(count),
      people: Number(people),
    })),
  }
}

/** An address of an account, where something is asked for. */
interface Asked {
  /** null: the service's own host */
  readonly domain: number | null
  readonly path: string
}
/** A link of the account. */
export interface Near {
  readonly id: number
  readonly alias: string
}

/** characters that aliases consist of, without letter case */
const alphabet = Array.from('abcdefghijklmnopqrstuvwxyz0123456789-_')
/** Characters of an alias, and addresses of an answer: others get no slips. An alias has about 80 for a character. */
const [longest, mostSlipped] = [20, 25]

/** Returns what an alias becomes by one slip: a letter too many, two swapped, one left out, one for another. */
export const slips = (alias: string): readonly string[] => {
  const cuts = Array.from({ length: alias.length + 1 }, (_, i) => [alias.slice(0, i), alias.slice(i)] as const)
  const found = [
    ...cuts.map(([before, after]) => before + after.slice(1)),
    ...cuts.map(([before, after]) => before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2)),
    ...cuts.flatMap(([before, after]) => alphabet.map((letter) => before + letter + after)),
    ...cuts.flatMap(([before, after]) => (after ? alphabet.map((letter) => before + letter + after.slice(1)) : [])),
  ]
  return [...new Set(found)].filter((one) => one !== alias && one !== '')
}

/** Returns the alias that a path begins with; an empty text when it begins with none. */
const aliasIn = (path: string) => /^\/([a-z0-9_-]{1,64})(?![a-z0-9_-])/.exec(path)?.[1] ?? ''

/** Returns the addresses that each path may mean, the likely ones first: its beginning, and what has one slip. */
const meantBy = async (asked: readonly Asked[]): Promise<readonly (readonly string[])[]> => {
  const meant: string[][] = []
  for (const [i, { domain, path }] of asked.entries()) {
    const alias = aliasIn(path)
    const near = i < mostSlipped && alias.length <= longest ? slips(alias) : []
    meant.push((alias === '' ? [] : [alias, ...near]).map((one) => addressKey(domain, one)))
    // other requests are answered between two addresses
    if (near.length > 0) await nextTurn()
  }
  return meant
}

/**
 * Returns, for each address, the link of the account that has it by now, and the one that was probably meant. Other
 * accounts have no part in it: what they have is not told.
 */
export const nearLinks = async (
  { db, table }: Reader,
  account: number,
  asked: readonly Asked[],
): Promise<readonly { readonly at: Near | undefined; readonly near: Near | undefined }[]> => {
  const wanted = await meantBy(asked)
  const keys = [...new Set(wanted.flat())]
  if (keys.length === 0) return asked.map(() => ({ at: undefined, near: undefined }))
  const { rows } = await db.raw<{ rows: { id: string; alias: string; address: string }[] }>(
    `select id, alias, ${linkAddress} as address from ${table('links')}
     where ${linkAddress} = any(?::text[]) and deleted is null and account = ?`,
    [keys, account],
  )
  const known = new Map(rows.map(({ id, alias, address }) => [address, { id: Number(id), alias }]))
  return asked.map(({ domain, path }, i) => {
    const at = path.startsWith('/') ? known.get(addressKey(domain, path.slice(1))) : undefined
    const near = at ? undefined : wanted[i]?.flatMap((address) => known.get(address) ?? [])[0]
    return { at, near }
  })
}

/** Returns how many HEAD requests an account had in the quarters of an hour that a time touches. */
export const countHeadRequests = async (
  { db }: Pick<Reader, 'db'>,
  account: number,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<number> => {
  const { rows } = await db.raw<{ rows: { n: string }[] }>(
    `select coalesce(sum(q.count), 0) as n from ${byQuarter}
     where m.account = ? and m.kind = '${headRequests}' and m.day >= ? and m.day <= ?
       and q.at > ?::timestamptz - interval '15 minutes' and q.at < ?`,
    [account, dayOf(from), dayOf(to), from, to],
  )
  return Number(rows[0]?.n ?? 0)
}
