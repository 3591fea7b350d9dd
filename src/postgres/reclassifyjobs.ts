import type { Database } from './database.ts'

/** How many visits change from a class to another by a rule. */
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
}
/** What changes of a job while it runs. */
export type JobProgress = Partial<Pick<StoredJob, 'done' | 'made' | 'part' | 'parts' | 'visits' | 'changes'>>
type Asked<A> = Pick<StoredJob<A>, 'id' | 'account' | 'work' | 'actor' | 'request' | 'made'>
type Row<A> = Omit<StoredJob<A>, 'account' | 'done' | 'visits'> & Record<'account' | 'done' | 'visits', string>

/** Opens the jobs. `A` is who has asked for one. */
export const openReclassifyJobs = <A>(db: Database) => {
  const table = () => db('state.reclassify_jobs')
  const found = (row: Row<A> | undefined): StoredJob<A> | undefined =>
    row && { ...row, account: Number(row.account), done: Number(row.done), visits: Number(row.visits) }
  return {
    /** Begins a job, in the place of the last one of its account. Returns false while that runs. */
    begin: async ({ id, account, work, actor, request, made }: Asked<A>): Promise<boolean> => {
      const { rows } = await db.raw<{ rows: unknown[] }>(
        `with gone as (delete from state.reclassify_jobs where account = ? and ended is not null)
         select 1 from state.reclassify_jobs where account = ? and ended is null`,
        [account, account],
      )
      if (rows.length > 0) return false
      const begun = await table()
        .insert({ id, account, work, actor: JSON.stringify(actor), request, made })
        .onConflict('account')
        .ignore()
        .returning('id')
      return begun.length > 0
    },
    of: async (account: number) => found(await table().where({ account }).first<Row<A>>()),
    /** Returns the job whose turn it is. */
    next: async () => found(await table().where({ ended: null }).orderByRaw('turn nulls first, asked').first<Row<A>>()),
    save: async (id: string, { changes, ...progress }: JobProgress) =>
      void (await table()
        .where({ id })
        .update({ turn: db.fn.now(), ...progress, ...(changes && { changes: JSON.stringify(changes) }) })),
    end: async (id: string, failed: boolean) =>
      void (await table().where({ id }).update({ ended: db.fn.now(), failed })),
  }
}
export type ReclassifyJobStore<A> = ReturnType<typeof openReclassifyJobs<A>>
