import { OperatorError } from '../lib/operatorerror.ts'
import type { Database } from './database.ts'
import { type ResourceKind, resourceKinds } from '../events/kinds.ts'
import { keepNextSeries, readNextSeries } from './checkpointnumbers.ts'
import { advanceSequence } from './ids.ts'

/** The target already has a service key: another Linkledger has used it. */
export class OtherState extends OperatorError {
  override readonly name = 'OtherState'
}

/** A signed checkpoint, with its number: see 015_checkpointnumbers.sql. Backups of older releases have no numbers. */
interface CheckpointRow {
  readonly size: number
  readonly note: string
  readonly signed_at: string
  readonly series?: string | null | undefined
  readonly number?: number | null | undefined
  readonly before?: number | null | undefined
  readonly seal?: string | null | undefined
}

/** Where a webhook goes on: see 009_webhooks.sql. */
interface WebhookPlace {
  readonly webhook: number
  readonly account: number
  readonly starts: number
  readonly next: number
  readonly part: number
  /** missing in backups of older releases */
  readonly until?: number | null | undefined
  readonly back?: number | null | undefined
  readonly back_part?: number | null | undefined
}

/**
 * What is not in the log, without the images: the wrapped keys, which keys were destroyed, the sequences, the results
 * of domain checks, and the places of webhooks.
 */
export interface State {
  readonly keys: readonly { readonly name: string; readonly wrapped: string; readonly made_at: string }[]
  readonly destroyed: readonly { readonly name: string; readonly destroyed_at: string }[]
  readonly checks: readonly { readonly domain: number; readonly checked_at: string; readonly failures: number }[]
  /** signed checkpoints of the log, with the number of its events */
  readonly checkpoints: readonly CheckpointRow[]
  /** how far each webhook is, by the ordinals of the log */
  readonly webhooks: readonly WebhookPlace[]
  /** the last id given to each kind; a kind without any is left out */
  readonly sequences: readonly { readonly kind: ResourceKind; readonly last: number }[]
}

const numberOrNull = (text: string | null) => (text === null ? null : Number(text))

/** SQL for a time as text, in ISO 8601 and UTC. */
const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${column}`

/**
 * Reads everything at one moment, so that a key is there or marked as destroyed. The row that hands a rotated SECRET
 * over to processes that run is left out: in a copy, it would only let the old SECRET open the keys.
 */
export const readState = (db: Database): Promise<State> =>
  db.transaction(
    async (tx) => {
      const select = async <R>(sql: string) => (await tx.raw<{ rows: R[] }>(sql)).rows
      const keys = await select<State['keys'][number]>(
        `select name, wrapped, ${iso('made_at')} from state.keys where name <> 'handover' order by name`,
      )
      const destroyed = await select<State['destroyed'][number]>(
        `select name, ${iso('destroyed_at')} from state.destroyed_keys order by name`,
      )
      const checks = await select<{ domain: string; checked_at: string; failures: number }>(
        `select domain, ${iso('checked_at')}, failures from state.domain_checks order by domain`,
      )
      const checkpoints = await select<
        Record<'size' | 'note' | 'signed_at', string> & Record<'series' | 'number' | 'before' | 'seal', string | null>
      >(`select size, note, ${iso('signed_at')}, series, number, before, seal from state.checkpoints order by size`)
      const webhooks = await select<
        Record<'webhook' | 'account' | 'starts' | 'next' | 'part', string> &
          Record<'until' | 'back' | 'back_part', string | null>
      >(
        `select webhook, account, starts, case when idle and t.next > w.next then 0 else part end as part,
           case when idle then greatest(w.next, t.next) else w.next end as next, until, back, back_part
         from state.webhooks w left join state.webhook_tail t on true order by webhook`,
      )
      const sequences: State['sequences'][number][] = []
      for (const kind of resourceKinds) {
        const [row] = await select<{ last: string; drawn: boolean }>(
          `select last_value as last, is_called as drawn from state.${kind}_id`,
        )
        if (row?.drawn) sequences.push({ kind, last: Number(row.last) })
      }
      return {
        keys,
        destroyed,
        checks: checks.map((row) => ({ ...row, domain: Number(row.domain) })),
        checkpoints: checkpoints.map(({ size, number, before, ...row }) => ({
          ...row,
          size: Number(size),
          number: numberOrNull(number),
          before: numberOrNull(before),
        })),
        webhooks: webhooks.map(({ webhook, account, starts, next, part, until, back, back_part }) => ({
          webhook: Number(webhook),
          account: Number(account),
          starts: Number(starts),
          next: Number(next),
          part: Number(part),
          until: numberOrNull(until),
          back: numberOrNull(back),
          back_part: numberOrNull(back_part),
        })),
        sequences,
      }
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  )

/** Throws `OtherState` when the database has the service key of another Linkledger. */
export const refuseOtherState = async (db: Database, { keys }: Pick<State, 'keys'>): Promise<void> => {
  const [existing] = await db<State['keys'][number]>('state.keys').where({ name: 'service' })
  const service = keys.find(({ name }) => name === 'service')
  if (existing && existing.wrapped !== service?.wrapped)
    throw new OtherState('the target holds the keys of another Linkledger: use an empty database')
}

/** A restore or a copy has begun and not finished: a service that started now would write to a part of a log. */
export class UnfinishedRestore extends OperatorError {
  override readonly name = 'UnfinishedRestore'
}

/**
 * Notes, where there are no keys yet, that the log with this id is restored or copied from now on, until
 * `finishRestore`. Returns what takes the note back when the log cannot be opened.
 */
export const beginRestore = async (db: Database, log: string): Promise<() => Promise<void>> => {
  const noted = await db('state.restores')
    .insert(db.select(db.raw('?::uuid as log', [log])).whereNotExists(db('state.keys').where({ name: 'service' })))
    .onConflict('log')
    .ignore()
    .returning('log')
  return async () => {
    if (noted.length > 0) await db('state.restores').where({ log }).delete()
  }
}

/** Notes that the log and what belongs to it are here. */
export const finishRestore = async (db: Database): Promise<void> => {
  await db('state.restores').delete()
}

/** Throws `UnfinishedRestore` while a restore or a copy has not finished. */
export const refuseUnfinishedRestore = async (db: Database): Promise<void> => {
  const [begun] = await db<{ readonly at: Date }>('state.restores')
  if (begun)
    throw new UnfinishedRestore(
      `a restore that began at ${begun.at.toISOString()} has not finished: run \`linkledger restore\` with the same backup again, or the \`linkledger log copy\` that began then, which continues, or use an empty database or DATA_DIR`,
    )
}

/** Inserts rows. Of those that exist, it keeps what is there, or takes what is given. */
const insertAll =
  (existing: 'ignore' | 'merge') => async (tx: Database, table: string, key: string, rows: readonly object[]) => {
    for (let n = 0; n < rows.length; n += 1000) {
      const given = tx(table)
        .insert(rows.slice(n, n + 1000))
        .onConflict(key)
      await (existing === 'merge' ? given.merge() : given.ignore())
    }
  }
const insertMissing = insertAll('ignore')
const insertOrReplace = insertAll('merge')

/**
 * Stores what `readState` returned. It can be repeated; sequences never go backwards. Throws `OtherState` before
 * anything is changed.
 */
export const writeState = (db: Database, state: State): Promise<void> =>
  db.transaction(async (tx) => {
    await refuseOtherState(tx, state)
    await insertMissing(tx, 'state.destroyed_keys', 'name', state.destroyed)
    // a key that an interrupted copy has brought here may be destroyed since
    await tx('state.keys').whereIn('name', tx('state.destroyed_keys').select('name')).delete()
    await insertMissing(tx, 'state.keys', 'name', state.keys)
    await insertMissing(tx, 'state.domain_checks', 'domain', state.checks)
    await insertMissing(tx, 'state.checkpoints', 'size', state.checkpoints)
    await insertMissing(tx, 'state.webhooks', 'webhook', state.webhooks)
    for (const { kind, last } of state.sequences) await advanceSequence(tx, kind, last)
  })

/** Copies what a service moves that is used between two copies of its log. Of that, the source has the newer one. */
export const copyPlaces = async (from: Database, to: Database): Promise<void> => {
  const { webhooks, checks } = await readState(from)
  await to.transaction(async (tx) => {
    const places = webhooks.map((row) => ({ ...row, idle: false }))
    await insertOrReplace(tx, 'state.webhooks', 'webhook', places)
    await insertOrReplace(tx, 'state.domain_checks', 'domain', checks)
  })
}

/** Copies the state to another database. Throws `OtherState` before anything is changed. */
export const copyState = async (from: Database, to: Database): Promise<void> => {
  await writeState(to, await readState(from))
  // a backup has no series that is to begin: its restore begins another one
  await keepNextSeries(to, await readNextSeries(from))
}
