import type { Database } from './database.ts'

/** Identifies a request that was sent with an Idempotency-Key. */
export interface RequestKey {
  readonly scope: string
  readonly key: Buffer
}
/** Values drawn for a request, by their purpose: ids of what it creates, and the seed of secrets, sealed. */
export type Drawn = Readonly<Record<string, number | string>>

export interface IdempotencyRow {
  readonly request: Buffer
  readonly command: string
  /** as text, because it has microseconds */
  readonly taken: string
  readonly drawn: Drawn
  readonly account: number | null
  readonly sealed: Buffer | null
  /** whether it is currently executed */
  readonly running: boolean
}

/** How long an answer is kept. */
const kept = `interval '24 hours'`
/** A request that its process has not renewed for so long counts as ended: the process is gone, or was frozen. */
const lease = `interval '1 minute'`

type Taken = Pick<IdempotencyRow, 'command' | 'taken'>

/** Inserts a request that is new, or whose answer has expired; undefined if there is one. */
export const enterRequest = async (
  db: Database,
  { scope, key }: RequestKey,
  request: Buffer,
  instance: string,
): Promise<Taken | undefined> => {
  const { rows } = await db.raw<{ rows: Taken[] }>(
    `insert into state.idempotency as i (scope, key, request, instance) values (?, ?, ?, ?)
     on conflict (scope, key) do update set
       request = excluded.request, command = excluded.command, instance = excluded.instance, began_at = excluded.began_at,
       taken_at = excluded.taken_at, renewed_at = null, drawn = excluded.drawn, account = null, sealed = null
     where i.began_at < now() - ${kept}
     returning command, taken_at::text as taken`,
    [scope, key, request, instance],
  )
  return rows[0]
}

export const findRequest = async (db: Database, { scope, key }: RequestKey): Promise<IdempotencyRow | undefined> => {
  const { rows } = await db.raw<{ rows: (Omit<IdempotencyRow, 'account'> & { account: string | null })[] }>(
    `select request, command, taken_at::text as taken, drawn, account, sealed,
       greatest(taken_at, renewed_at) > now() - ${lease} and instance <> '' and exists (
         select 1 from pg_stat_activity where starts_with(application_name, instance)) as running
     from state.idempotency where scope = ? and key = ?`,
    [scope, key],
  )
  const [row] = rows
  return row && { ...row, account: row.account === null ? null : Number(row.account) }
}

/**
 * Takes over a request whose execution ended without an answer, with the values drawn until then; undefined when
 * another process was first.
 */
export const takeRequest = async (
  db: Database,
  { scope, key }: RequestKey,
  { command, taken }: Taken,
  instance: string,
): Promise<(Taken & Pick<IdempotencyRow, 'drawn'>) | undefined> => {
  const { rows } = await db.raw<{ rows: (Taken & Pick<IdempotencyRow, 'drawn'>)[] }>(
    `update state.idempotency set instance = ?, taken_at = clock_timestamp(), renewed_at = null
     where scope = ? and key = ? and command = ? and taken_at = ?::timestamptz and sealed is null
     returning command, taken_at::text as taken, drawn`,
    [instance, scope, key, command, taken],
  )
  return rows[0]
}

const mine = 'scope = ? and key = ? and command = ? and taken_at = ?::timestamptz and sealed is null'
const named = ({ scope, key }: RequestKey, { command, taken }: Taken) => [scope, key, command, taken]

/** Stores ids before they are used. Returns whether this execution still holds the request. */
export const storeDrawn = async (db: Database, at: RequestKey, by: Taken, drawn: Drawn): Promise<boolean> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update state.idempotency set drawn = drawn || ?::jsonb where ${mine}`,
    [JSON.stringify(drawn), ...named(at, by)],
  )
  return rowCount > 0
}

/** Returns whether this execution still holds a request, or another one has taken it over. */
export const isMine = async (db: Database, at: RequestKey, by: Taken): Promise<boolean> => {
  const { rows } = await db.raw<{ rows: object[] }>(`select 1 from state.idempotency where ${mine}`, named(at, by))
  return rows.length > 0
}

/** Renews requests that are still executed. Requests that were taken over stay as they are. */
export const renewRequests = async (
  db: Database,
  running: readonly { readonly at: RequestKey; readonly by: Taken }[],
): Promise<void> => {
  await db.raw(
    `update state.idempotency i set renewed_at = clock_timestamp()
     from unnest(?::text[], ?::bytea[], ?::uuid[], ?::text[]) as r (scope, key, command, taken)
     where i.scope = r.scope and i.key = r.key and i.command = r.command and i.taken_at = r.taken::timestamptz
       and sealed is null`,
    [
      running.map(({ at }) => at.scope),
      running.map(({ at }) => at.key),
      running.map(({ by }) => by.command),
      running.map(({ by }) => by.taken),
    ],
  )
}

export const storeAnswer = async (
  db: Database,
  at: RequestKey,
  by: Taken,
  { account, sealed }: { readonly account: number | null; readonly sealed: Buffer },
): Promise<void> => {
  await db.raw(`update state.idempotency set account = ?, sealed = ? where ${mine}`, [
    account,
    sealed,
    ...named(at, by),
  ])
}

/** Ends the execution without an answer: the next request with the key continues it. */
export const endRequest = async (db: Database, at: RequestKey, by: Taken): Promise<void> => {
  await db.raw(`update state.idempotency set instance = '' where ${mine}`, named(at, by))
}

/** Deletes a request of which nothing was executed. */
export const forgetRequest = async (db: Database, at: RequestKey, by: Taken): Promise<void> => {
  await db.raw(`delete from state.idempotency where ${mine}`, named(at, by))
}

/** Deletes the oldest ended requests of a scope, with or without an answer, down to its maximum number and bytes. */
export const trimAnswers = async (db: Database, scope: string, most: number, bytes: number): Promise<void> => {
  await db.raw(
    `delete from state.idempotency i using (
       select key, row_number() over newest as n,
         sum(coalesce(octet_length(sealed), 0) + octet_length(drawn::text)) over newest as bytes
       from state.idempotency where scope = :scope and (sealed is not null or instance = '')
       window newest as (order by began_at desc, key)) x
     where i.scope = :scope and i.key = x.key and (x.n > :most or x.bytes > :bytes)`,
    { scope, most, bytes },
  )
}

/** Deletes expired requests. Returns the number of rows. */
export const deleteExpiredRequests = async (db: Database): Promise<number> => {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from state.idempotency where began_at < now() - ${kept}`,
  )
  return rowCount
}

/** Deletes all answers of accounts: they contain personal data. */
export const eraseAnswers = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db('state.idempotency')
    .whereIn('account', accounts)
    .orWhereIn(
      'scope',
      accounts.map((account) => `account ${account}`),
    )
    .delete()
}
