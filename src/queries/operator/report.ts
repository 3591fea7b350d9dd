import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

export interface ReportRow {
  readonly id: string
  readonly account: number
  readonly kind: string
  readonly subject: number
  readonly address: string
  readonly reason: string
  /** null after it or the account was erased */
  readonly message: string | null
  readonly email: string | null
  readonly sent: Date
  readonly closed: Date | null
  /** number of open reports about the same thing */
  readonly open: number
}

/** Selects reports, as `r`, with the number of open ones about the same. */
const selected = ({ db, table }: Reader) =>
  db({ r: table('reports') })
    .select('r.*')
    .select(
      db.raw(
        `(select count(*) from ${table('reports')} o where o.kind = r.kind and o.subject = r.subject and o.closed is null)::int as open`,
      ),
    )
const typed = (row: ReportRow): ReportRow => ({ ...row, account: Number(row.account), subject: Number(row.subject) })

/** Returns the newest reports; closed ones only when asked for. */
export const listReports = async (
  reader: Reader,
  { limit, closed }: { readonly limit: number; readonly closed: boolean },
): Promise<readonly ReportRow[]> => {
  const found = selected(reader).orderBy('r.position', 'desc').limit(limit)
  if (!closed) void found.where({ 'r.closed': null })
  return ((await found) as ReportRow[]).map(typed)
}

/** Returns one page of the open reports, or of the closed ones. */
export const searchReports = async (
  reader: Reader,
  { closed, ...request }: ListRequest & { readonly closed: boolean },
): Promise<Listed<ReportRow>> => {
  const { db, table } = reader
  const reports = () => db({ r: table('reports') }).whereRaw(`r.closed is ${closed ? 'not null' : 'null'}`)
  const matching = () =>
    filtered(db, reports(), request, { searched: `concat_ws(' ', r.address, r.id)`, created: 'r.sent' })
  const found = await readPositions({ matching, position: ['r.position'] }, reader, request)
  const rows = (await selected(reader).whereRaw('r.position = any(?::bigint[])', [
    found.rows.map(([position]) => String(position)),
  ])) as (ReportRow & { readonly position: string })[]
  return inOrder(
    found,
    rows.map((row) => ({ ...typed(row), position: row.position })),
    (row) => row.position,
  )
}

/** Returns reports that were closed before a time and are not erased, the first ones first. */
export const reportsClosedBefore = ({ db, table }: Reader, time: Date, limit: number): PromiseLike<readonly string[]> =>
  db(table('reports'))
    .where('closed', '<', time)
    .whereNotNull('message')
    .orderBy('closed')
    .limit(limit)
    .pluck<string[]>('id')

/** Returns reports that are erased, and whose keys are not destroyed yet. */
export const erasedReports = ({ db, table }: Reader, limit: number): PromiseLike<readonly string[]> =>
  db({ r: table('reports') })
    .whereNotNull('erased')
    .whereRaw(`not exists (select from state.destroyed_keys k where k.name = 'report-' || r.id)`)
    .limit(limit)
    .pluck<string[]>('id')
