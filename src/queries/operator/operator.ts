import type { AccountRow } from '../accounts/account.ts'
import { filtered, inOrder, type Listed, type ListRequest, readPositions } from '../page.ts'
import type { Reader } from '../reader.ts'

/** An account as an operator sees it: who it is, and nothing that it has made but the number of its links. */
export interface OperatedAccount extends Pick<AccountRow, 'id' | 'email' | 'username' | 'status' | 'registered'> {
  readonly links: number
}

/** Returns one page of all accounts. `id:7` searches for one account. */
export const searchAccounts = async (reader: Reader, request: ListRequest): Promise<Listed<OperatedAccount>> => {
  const { db, table } = reader
  const [, id] = /^id:([1-9]\d{0,14})$/i.exec(request.q?.[0]?.trim() ?? '') ?? []
  const named = { searched: `concat_ws(' ', x.email, x.username)`, created: 'x.registered' }
  const all = () => db({ x: table('accounts') })
  const matching = () =>
    id === undefined
      ? filtered(db, all(), request, named)
      : filtered(db, all().where({ 'x.id': id }), { ...request, q: undefined }, named)
  const found = await readPositions({ matching, position: ['x.id'] }, reader, request)
  const rows = (await all()
    .leftJoin({ c: table('link_counts') }, 'c.account', 'x.id')
    .whereRaw('x.id = any(?::bigint[])', [found.rows.map(([one]) => String(one))])
    .select('x.id', 'x.email', 'x.username', 'x.status', 'x.registered', 'c.n as links')) as OperatedAccount[]
  return inOrder(
    found,
    rows.map((row) => ({ ...row, id: Number(row.id), links: Number(row.links ?? 0) })),
    (row) => row.id,
  )
}

/** Returns how much room the events, the read tables and everything else takes in the database, in bytes. */
export const storageSizes = async ({ db }: Pick<Reader, 'db'>) => {
  const { rows } = await db.raw<{ rows: { name: string; bytes: string }[] }>(
    `select n.nspname as name, sum(pg_total_relation_size(c.oid)) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('log', 'read', 'state') group by 1`,
  )
  const bytesOf = (wanted: string) => Number(rows.find(({ name }) => name === wanted)?.bytes ?? 0)
  return { log: bytesOf('log'), read: bytesOf('read'), state: bytesOf('state') }
}

/** Returns how many webhooks there are, how many are disabled, and how many fail at the moment. */
export const webhookHealth = async ({ db, table }: Reader) => {
  const { rows } = await db.raw<{ rows: { n: number; stopped: number; failing: number }[] }>(
    `select count(*)::int as n, count(x.stopped)::int as stopped,
            (count(*) filter (where x.stopped is null and c.failing_since is not null))::int as failing
     from ${table('webhooks')} x left join state.webhooks c on c.webhook = x.id where x.deleted is null`,
  )
  const { n = 0, stopped = 0, failing = 0 } = rows[0] ?? {}
  return { all: n, stopped, failing }
}
