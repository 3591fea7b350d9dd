import { type Problem, sentenceOf } from '../../lib/problems/problem.ts'
import type { Database } from '../database.ts'

/** The number of visits that a rule changes from one class to another. */
interface Change {
  readonly from: string
  readonly to: string
  readonly rule: string
  readonly visits: number
}
/** A reclassification in the background: see 021_reclassifyjobs.sql. */
export interface StoredJob<Actor = unknown> {
  readonly id: string
  /** 0: all accounts, for an operator */
  readonly account: number
  readonly work: 'count' | 'apply' | 'undo'
  readonly actor: Actor
  readonly request: string
  readonly asked: Date
  readonly done: number
  readonly made: string | null
  readonly part: number
  readonly parts: number
  readonly visits: number
  readonly changes: readonly Change[]
  readonly ended: Date | null
  readonly failed: boolean
  /** why it failed, if known: as a sentence, and as a value, which jobs of an older release lack */
  readonly reason: string | null
  readonly problem: Problem | null
}
/** The fields that change while a job runs. */
export type JobProgress = Partial<Pick<StoredJob, 'done' | 'made' | 'part' | 'parts' | 'visits' | 'changes'>>
type Asked<A> = Pick<StoredJob<A>, 'id' | 'account' | 'work' | 'actor' | 'request' | 'made'>
type Row<A> = Omit<StoredJob<A>, 'account' | 'done' | 'visits'> & Record<'account' | 'done' | 'visits', string>

/** The advisory lock for reclassifying visits of an account. */
export const lockOfAccount = (account: number) => (1n << 62n) + BigInt(account)

/** Opens the jobs. `A` is the actor who requested one. */
export const openReclassifyJobs = <A>(db: Database) => {
  const table = () => db('state.reclassify_jobs')
  const found = (row: Row<A> | undefined): StoredJob<A> | undefined =>
    row && { ...row, account: Number(row.account), done: Number(row.done), visits: Number(row.visits) }
  return {
    /**
     * Begins a job in place of the last one of its account. Returns false while that one runs, or while a request or a
     * command reclassifies visits of the account.
     */
    begin: async ({ id, account, work, actor, request, made }: Asked<A>): Promise<boolean> =>
      db.transaction(async (tx) => {
        if (work !== 'count') {
          const sql = 'select pg_try_advisory_xact_lock(?) as free'
          const { rows } = await tx.raw<{ rows: { free: boolean }[] }>(sql, [lockOfAccount(account).toString()])
          if (!rows[0]?.free) return false
        }
        await tx('state.reclassify_jobs').where({ account }).whereNotNull('ended').delete()
        const begun = await tx('state.reclassify_jobs')
          .insert({ id, account, work, actor: JSON.stringify(actor), request, made })
          .onConflict('account')
          .ignore()
          .returning('id')
        return begun.length > 0
      }),
    /**
     * Returns what prevents reclassifying an account: its own job, or the unfinished reclassification of the job for
     * all accounts, which may be of another account.
     */
    unfinished: async (account: number) =>
      (await table()
        .where({ ended: null })
        .whereNot({ work: 'count' })
        .whereRaw('(account = ? or account = 0 and made is not null)', [account])
        .select('account', 'made')) as { account: string; made: string | null }[],
    of: async (account: number) => found(await table().where({ account }).first<Row<A>>()),
    /** Returns the next job to run: first one that was interrupted within an account, as no other may come between. */
    next: async () =>
      found(
        await table()
          .where({ ended: null })
          .orderByRaw(
            `(work = 'apply' and made is not null or work = 'undo' and part > 0) desc, turn nulls first, asked`,
          )
          .first<Row<A>>(),
      ),
    asker: async (id: string) => (await table().where({ id }).first<Pick<StoredJob<A>, 'actor'>>('actor'))?.actor,
    save: async (id: string, { changes, ...progress }: JobProgress) =>
      void (await table()
        .where({ id })
        .update({ turn: db.fn.now(), ...progress, ...(changes && { changes: JSON.stringify(changes) }) })),
    end: async (id: string, failed: boolean, problem?: Problem) =>
      void (await table()
        .where({ id })
        .update({
          ended: db.fn.now(),
          failed,
          ...(problem && { reason: sentenceOf(problem), problem: JSON.stringify(problem) }),
        })),
  }
}
export type ReclassifyJobStore<A> = ReturnType<typeof openReclassifyJobs<A>>
