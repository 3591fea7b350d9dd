import { pastOf } from '../../projections/history/versions.ts'
import { contains, type Listed, type ListRequest, mostCounted, readPositions } from '../page.ts'
import { type KeptKind, keptKinds, kindOf, kinds, type ResourceKind } from '../../events/kinds.ts'
import { inPart, type Part } from '../accounts/part.ts'
import type { Reader } from '../reader.ts'

export { keySubject } from '../../projections/history/resourceevents.ts'

/** Where an event of a history is in the log. */
export interface HistoryRow {
  readonly position: bigint
  readonly stream: string
  readonly revision: number
  /** the group whose first event it is, and how many events that has, up to `mostCounted`, where groups are listed */
  readonly group?: string | null
  readonly events?: number
}

/** Whose history: a resource by its subject (see `resourceevents.ts`), or everything of an account. */
export type HistoryOf =
  | { readonly subject: string }
  | {
      readonly account: number
      /** only events of resources of this kind */
      readonly kind?: ResourceKind | undefined
      /** only the deletions of what is deleted now */
      readonly deleted?: boolean | undefined
      /** `request`: only the first event of each group; otherwise the events of this group */
      readonly group?: string | undefined
    }

/** The events after one position and up to another, undefined: from the first, to the last; and by whom. */
export interface Span {
  readonly after?: bigint | undefined
  readonly upTo?: bigint | undefined
  /** a member of an account */
  readonly by?: { readonly account: number; readonly member: number } | undefined
}

/** Visitors report links to the operator, not to the account. */
const shown = `x.stream not like 'report-%'`

/** SQL of the other events of the group of a row, after one position and up to another. */
const ofItsGroup = ({ db, table }: Reader, { after, upTo }: Span) =>
  db({ o: table('account_events') })
    .whereRaw('o.account = x.account and o.group_id = x.group_id')
    .modify((rows) => {
      if (after !== undefined) void rows.where('o.position', '>', after.toString())
      if (upTo !== undefined) void rows.where('o.position', '<=', upTo.toString())
    })

/** SQL of how many events the group of a row has. */
const eventsOf = (reader: Reader, span: Span) =>
  reader.db.raw('case when x.group_id is null then 1 else (select count(*)::int from ? counted) end as events', [
    ofItsGroup(reader, span).select(reader.db.raw('1')).limit(mostCounted),
  ])

/** Returns a query of the events of an account. */
const ofAccount = (
  reader: Reader,
  { account, kind, deleted, group }: Exclude<HistoryOf, { subject: string }>,
  after: bigint | undefined,
) => {
  const { db, table } = reader
  const rows = db({ x: table('account_events') })
    .where({ 'x.account': account })
    .whereRaw(shown)
  // a group that began before shows its first event of the span
  if (group === 'request' && after !== undefined)
    void rows.where((either) => {
      const earlier = ofItsGroup(reader, { after }).whereRaw('o.position < x.position').select(db.raw('1'))
      void either.whereRaw('x.leads').orWhereNotExists(earlier)
    })
  else if (group === 'request') void rows.whereRaw('x.leads')
  else if (group !== undefined) void rows.where({ 'x.group_id': group })
  if (kind !== undefined)
    void rows.whereRaw('x.stream like any(?)', [[kind, ...(kindOf(kind)?.parts ?? [])].map((one) => `${one}-%`)])
  // one look-up by the position of the event, in the table that its stream names
  if (deleted) {
    const deletions = keptKinds.map(
      (one) =>
        `(x.stream like '${one}-%' and exists (select 1 from ${table(kinds[one].table)} r where r.position = x.position and r.deleted is not null))`,
    )
    // together in brackets: an `or` outside of them would find those of other accounts
    void rows.whereRaw(`(${deletions.join(' or ')})`)
  }
  return rows
}

/** Returns one page of the events of a resource or an account. */
export const listHistory = async (
  reader: Reader,
  of: HistoryOf,
  { after, upTo: until, by }: Span,
  request: ListRequest,
): Promise<Listed<HistoryRow>> => {
  const { db, table } = reader
  const upTo = reader.upTo !== undefined && (until === undefined || until > reader.upTo) ? reader.upTo : until
  const own = () =>
    'subject' in of
      ? db({ x: table('resource_events') }).where({ 'x.subject': of.subject })
      : ofAccount(reader, of, after)
  const matching = () => {
    const rows = own()
    if (after !== undefined) void rows.where('x.position', '>', after.toString())
    if (upTo !== undefined) void rows.where('x.position', '<=', upTo.toString())
    if (by && 'subject' in of)
      void rows.whereExists(
        db({ e: table('account_events') })
          .whereRaw('e.position = x.position')
          .where({ 'e.account': by.account, 'e.member': by.member }),
      )
    else if (by) void rows.where({ 'x.member': by.member })
    return rows
  }
  const found = await readPositions({ matching, position: ['x.position'] }, reader, request)
  const positions = found.rows.map(([position]) => String(position))
  type Row = { position: string; stream: string; revision: string; group?: string | null; events?: number }
  const rows: Row[] = await own()
    .whereRaw('x.position = any(?::bigint[])', [`{${positions.join()}}`])
    .select(
      'x.position',
      'x.stream',
      'x.revision',
      ...('subject' in of || of.group !== 'request' ? [] : ['x.group_id as group', eventsOf(reader, { after, upTo })]),
    )
  const byPosition = new Map(rows.map((row) => [row.position, row]))
  return {
    ...found,
    rows: positions.flatMap((position) => {
      const row = byPosition.get(position)
      return row ? [{ ...row, position: BigInt(position), revision: Number(row.revision) }] : []
    }),
  }
}

/** The columns by which resources are known whose events are in streams of others. */
const names = {
  bio: `x.name || ' ' || x.alias`,
  channel: 'x.name',
  link: `x.title || ' ' || x.alias`,
  overlay: 'x.name',
  qr: 'x.name',
} as const satisfies Partial<Record<KeptKind, string>>
export type Nameable = keyof typeof names

/** Resources of one kind, and what a caller sees of the account; undefined: all. */
interface Named {
  readonly kind: Nameable
  readonly ids: readonly number[]
  readonly part?: Part | undefined
}

/** Returns which of some resources have one of some texts in their names, also deleted ones. */
export const idsNamed = async (
  reader: Reader,
  { kind, ids, part }: Named,
  parts: readonly string[],
): Promise<readonly number[]> => {
  const { db, table } = reader
  const rows: { id: string }[] = await db({ x: table(kinds[kind].table) })
    .whereRaw('x.id = any(?::bigint[])', [`{${ids.join()}}`])
    .whereRaw(contains(db, names[kind], parts))
    .whereRaw(part ? inPart(reader, kind, 'x.id', part) : 'true')
    .select('x.id')
  return rows.map(({ id }) => Number(id))
}

/** Returns the event at a position, if a resource or an account has it in its history. */
export const findEntry = async ({ db, table }: Reader, position: bigint): Promise<HistoryRow | undefined> => {
  const rows: { stream: string; revision: string }[] = await db(table('account_events'))
    .where({ position: position.toString() })
    .select('stream', 'revision')
  const [row] = rows
  return row && { position, stream: row.stream, revision: Number(row.revision) }
}

/** SQL of the names of keys: those that they had last, at the moment of the reader. */
const keyNames = ({ table, upTo, clicksUpTo }: Reader) =>
  clicksUpTo === undefined || upTo === undefined
    ? `select key, number, name from ${table('event_keys')} where key = any(?::text[])`
    : `select distinct on (account, key) key, number, name from ${table(pastOf('api_keys'))}
       where key = any(?::text[]) and since <= ${upTo} order by account, key, since desc`

/** Returns the number and the name of keys, also of those that have ended, by their public ids. */
export const namesOfKeys = async (
  reader: Reader,
  keys: readonly string[],
): Promise<ReadonlyMap<string, { readonly number: number; readonly name: string }>> => {
  if (keys.length === 0) return new Map()
  const { rows } = await reader.db.raw<{ rows: { key: string; number: string; name: string }[] }>(keyNames(reader), [
    [...keys],
  ])
  return new Map(rows.map(({ key, number, name }) => [key, { number: Number(number), name }]))
}
