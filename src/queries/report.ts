import type { Reader } from './reader.ts'

export interface ReportRow {
  readonly id: string
  readonly account: number
  readonly kind: string
  readonly subject: number
  readonly address: string
  readonly reason: string
  /** null after the account was erased */
  readonly message: string | null
  readonly email: string | null
  readonly sent: Date
  readonly closed: Date | null
  /** number of open reports about the same thing */
  readonly open: number
}

/** Returns the newest reports; closed ones only when asked for. */
export const listReports = async (
  { db, table }: Reader,
  { limit, closed }: { readonly limit: number; readonly closed: boolean },
): Promise<readonly ReportRow[]> => {
  const found = db({ r: table('reports') })
    .select('r.*')
    .select(
      db.raw(
        `(select count(*) from ${table('reports')} o where o.kind = r.kind and o.subject = r.subject and o.closed is null)::int as open`,
      ),
    )
    .orderBy('r.position', 'desc')
    .limit(limit)
  if (!closed) void found.where({ 'r.closed': null })
  const rows = (await found) as ReportRow[]
  return rows.map((row) => ({ ...row, account: Number(row.account), subject: Number(row.subject) }))
}
