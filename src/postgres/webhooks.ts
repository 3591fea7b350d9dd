import type { Database } from './database.ts'

/** What a webhook sends again before it goes on where it was: see 012_webhookreplays.sql. */
export interface StoredReplay {
  readonly until: number
  readonly back: { readonly ordinal: number; readonly part: number }
}
/** How far a webhook is: see 009_webhooks.sql. */
export interface StoredCursor {
  readonly webhook: number
  readonly account: number
  readonly starts: number
  readonly next: number
  readonly part: number
  readonly idle: boolean
  readonly failingSince: Date | null
  readonly tries: number
  readonly dueAt: Date | null
  readonly replay: StoredReplay | undefined
}
/** An attempt to deliver a message. */
export interface Attempt {
  readonly webhook: number
  readonly account: number
  readonly message: string
  readonly type: string
  readonly ordinal: number | null
  readonly try: number
  readonly status: number | null
  readonly ms: number
  readonly delivered: boolean
  readonly problem: string
  readonly excerpt: string
}
/** Where a webhook continues after an attempt. */
export type Settled = Pick<StoredCursor, 'starts' | 'next' | 'part' | 'failingSince' | 'tries' | 'dueAt' | 'replay'>
/** Where a webhook is that has not delivered anything. */
export type Moved = Pick<StoredCursor, 'webhook' | 'starts' | 'next' | 'part' | 'idle' | 'replay'>

const [cursors, tail, deliveries] = ['state.webhooks', 'state.webhook_tail', 'state.webhook_deliveries']

/** SQL that locks the cursors with some ids, always in one order: two that do so never wait for each other. */
const locked = (by: 'webhook' | 'account') =>
  `own as materialized (select webhook from ${cursors} where ${by} = any (?::bigint[]) order by webhook for update)`

interface Row {
  readonly webhook: string
  readonly account: string
  readonly starts: number
  readonly next: string
  readonly part: number
  readonly idle: boolean
  readonly failing_since: Date | null
  readonly tries: number
  readonly due_at: Date | null
  readonly until: string | null
  readonly back: string | null
  readonly back_part: number | null
}
const typed = ({ failing_since: failingSince, due_at: dueAt, until, back, back_part, ...row }: Row): StoredCursor => ({
  ...row,
  webhook: Number(row.webhook),
  account: Number(row.account),
  next: Number(row.next),
  failingSince,
  dueAt,
  replay: until === null ? undefined : { until: Number(until), back: { ordinal: Number(back), part: back_part ?? 0 } },
})

/**
 * Makes a process the one that delivers: from now on, what another one stores has no effect. Returns where the log is
 * to be followed from.
 */
export const takeLead = async (db: Database, leader: string): Promise<number | undefined> => {
  const { rows } = await db.raw<{ rows: { next: string | null }[] }>(
    `insert into ${tail} (leader) values (?) on conflict (only_row) do update set leader = excluded.leader returning next`,
    [leader],
  )
  const next = rows[0]?.next ?? null
  return next === null ? undefined : Number(next)
}

/** Returns the webhooks that have a cursor. */
export const webhooksWithCursor = async (db: Database): Promise<readonly number[]> =>
  ((await db(cursors).select('webhook')) as { webhook: string }[]).map(({ webhook }) => Number(webhook))

/** Returns the webhooks whose last attempt was accepted. */
export const acceptedWebhooks = async (db: Database): Promise<ReadonlySet<number>> => {
  const { rows } = await db.raw<{ rows: { webhook: string }[] }>(
    `select w.webhook from ${cursors} w cross join lateral (
       select delivered from ${deliveries} d where d.webhook = w.webhook order by id desc limit 1
     ) as last
     where w.failing_since is null and last.delivered`,
  )
  return new Set(rows.map(({ webhook }) => Number(webhook)))
}

/** Where a webhook begins. */
export type Beginning = Pick<StoredCursor, 'webhook' | 'account' | 'starts' | 'next'> & {
  /** it goes on where it was after this part; `next`: where that was at least, if it is not stored */
  readonly part?: { readonly until: number; readonly next: number } | undefined
}

/**
 * SQL of where a webhook is that begins again: of a part that it sends again, where it goes on after it. A beginning
 * that was missed is not stored.
 */
const wasAt = (stored: string, back: string, otherwise: string) => `
  case when excluded.until is null then null when w.starts < excluded.starts - 1 then ${otherwise}
    when w.back is not null then ${back} else ${stored} end`

/** Returns the cursor of a webhook. One that is new, or begins again, starts at `next`. */
export const beginCursor = async (
  db: Database,
  { webhook, account, starts, next, part }: Beginning,
): Promise<StoredCursor> => {
  const tailNext = `(select next from ${tail})`
  const { rows } = await db.raw<{ rows: Row[] }>(
    `insert into ${cursors} as w (webhook, account, starts, next, until, back, back_part) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (webhook) do update set starts = excluded.starts, next = excluded.next, part = 0, idle = false,
       failing_since = null, tries = 0, due_at = null, until = excluded.until,
       back = ${wasAt(`case when w.idle then greatest(w.next, ${tailNext}) else w.next end`, 'w.back', 'excluded.back')},
       back_part = ${wasAt(`case when w.idle and ${tailNext} > w.next then 0 else w.part end`, 'w.back_part', '0')}
     where w.starts < excluded.starts
     returning *`,
    [webhook, account, starts, next, part?.until ?? null, part?.next ?? null, part ? 0 : null] as number[],
  )
  const [row] = rows.length > 0 ? rows : ((await db(cursors).where({ webhook })) as Row[])
  return typed(row!)
}

/** Keeps the place of a webhook that is where the tail is, while the tail goes on. */
export const holdCursor = async (db: Database, webhook: number): Promise<void> => {
  await db.raw(
    `update ${cursors} w set next = greatest(w.next, t.next), part = case when t.next > w.next then 0 else part end, idle = false
     from ${tail} t where webhook = ? and idle`,
    [webhook],
  )
}

/** Forgets that deliveries of a webhook have failed. */
export const clearFailures = async (db: Database, webhook: number): Promise<void> => {
  await db(cursors).where({ webhook }).update({ failing_since: null, tries: 0, due_at: null })
}

const deleteBy = (by: 'webhook' | 'account') => async (db: Database, ids: readonly number[]) => {
  const own = `${cursors} where webhook in (select webhook from own)`
  await db.raw(`with ${locked(by)} delete from ${own}`, [ids as number[]])
  await db(deliveries).whereIn(by, ids).delete()
}

/** Deletes all that is stored of webhooks that were deleted. */
export const deleteCursors = deleteBy('webhook')

/** Deletes all that is stored of the webhooks of accounts. */
export const eraseWebhooks = deleteBy('account')

const leads = `exists (select 1 from ${tail} where leader = ?)`
/** The values of a column, as an array for `unnest`. */
const column = <T>(rows: readonly T[], of: (row: T) => unknown) => rows.map(of) as number[]

const placeColumns = 'next = m.next, part = m.part, until = m.until, back = m.back, back_part = m.back_part'
const replayOf = <T extends Pick<StoredCursor, 'replay'>>(rows: readonly T[]) => [
  column(rows, ({ replay }) => replay?.until ?? null),
  column(rows, ({ replay }) => replay?.back.ordinal ?? null),
  column(rows, ({ replay }) => replay?.back.part ?? null),
]

/**
 * Stores together how far the log was followed, and where webhooks are. Returns false if another process delivers by
 * now.
 */
export const moveCursors = (
  db: Database,
  { leader, next, moved }: { readonly leader: string; readonly next: number; readonly moved: readonly Moved[] },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { rowCount } = await tx.raw<{ rowCount: number }>(`update ${tail} set next = ? where leader = ?`, [
      next,
      leader,
    ])
    if (rowCount === 0) return false
    const webhooks = column(moved, ({ webhook }) => webhook)
    if (moved.length > 0)
      await tx.raw(
        `with ${locked('webhook')}
         update ${cursors} w set ${placeColumns}, idle = m.idle
         from unnest(?::bigint[], ?::int[], ?::bigint[], ?::int[], ?::boolean[], ?::bigint[], ?::bigint[], ?::int[])
           as m (webhook, starts, next, part, idle, until, back, back_part) join own using (webhook)
         where w.webhook = m.webhook and w.starts = m.starts`,
        [
          webhooks,
          webhooks,
          ...(['starts', 'next', 'part', 'idle'] as const).map((name) => column(moved, (row) => row[name])),
          ...replayOf(moved),
        ],
      )
    return true
  })

/** Adds an attempt to the deliveries of a webhook. */
export const insertAttempt = async (db: Database, { webhook, account, try: n, ...attempt }: Attempt): Promise<void> => {
  await db(deliveries).insert({ webhook, account, try: n, ...attempt })
}

/**
 * Stores attempts of different webhooks, and where these continue, if this process delivers and they have not begun
 * again. One that was idle has something to send: its place no longer moves with the tail.
 */
export const settleAttempts = async (
  db: Database,
  leader: string,
  settled: readonly (Attempt & { readonly cursor: Settled })[],
): Promise<void> => {
  const of = <T extends keyof Attempt>(name: T) => column(settled, (row) => row[name])
  const cursorOf = <T extends keyof Settled>(name: T) => column(settled, ({ cursor }) => cursor[name])
  // the lock: a webhook that is deleted meanwhile has no row, and one that is deleted afterwards loses this one, too
  await db.raw(
    `with ${locked('webhook')}, m as (
       select * from unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::int[], ?::int[], ?::int[],
           ?::boolean[], ?::text[], ?::text[],
           ?::int[], ?::bigint[], ?::int[], ?::timestamptz[], ?::int[], ?::timestamptz[], ?::bigint[], ?::bigint[], ?::int[])
         as m (webhook, account, message, type, ordinal, try, status, ms, delivered, problem, excerpt,
           starts, next, part, failing_since, tries, due_at, until, back, back_part) join own using (webhook)
     ), settled as (
       update ${cursors} w set ${placeColumns}, idle = false, failing_since = m.failing_since, tries = m.tries, due_at = m.due_at
       from m where w.webhook = m.webhook and w.starts = m.starts and ${leads}
     )
     insert into ${deliveries} (webhook, account, message, type, ordinal, try, status, ms, delivered, problem, excerpt)
     select webhook, account, message, type, ordinal, try, status, ms, delivered, problem, excerpt from m`,
    [
      ...[of('webhook'), of('webhook'), of('account'), of('message'), of('type'), of('ordinal'), of('try')],
      ...[of('status'), of('ms'), of('delivered'), of('problem'), of('excerpt')],
      ...(['starts', 'next', 'part', 'failingSince', 'tries', 'dueAt'] as const).map(cursorOf),
      ...[...replayOf(settled.map(({ cursor }) => cursor)), leader],
    ] as unknown as string[],
  )
}

/** Deletes the oldest attempts of a webhook beyond the newest `most`. */
export const trimAttempts = async (db: Database, webhook: number, most: number): Promise<void> => {
  await db.raw(
    `delete from ${deliveries} where webhook = :webhook and id < (
       select min(id) from (select id from ${deliveries} where webhook = :webhook order by id desc limit :most) as newest)`,
    { webhook, most },
  )
}

/**
 * Deletes attempts that are older than so many days, those of accounts whose key was destroyed, and what receivers have
 * answered to what a visitor wrote, which earlier releases kept.
 */
export const deleteOldAttempts = async (db: Database, days: number): Promise<void> => {
  await db.raw(
    `delete from ${deliveries} where at < now() - make_interval(days => ?)
     or exists (select from state.destroyed_keys d where d.name = 'account-' || account)`,
    [days],
  )
  await db(deliveries).where({ type: 'AnswerGiven' }).whereNot('excerpt', '').update({ excerpt: '' })
}
