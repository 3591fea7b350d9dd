import type { Knex } from 'knex'

export interface Counted {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds */
  readonly reset: number
  readonly over: boolean
  /** whole seconds until the window ends */
  readonly wait: number
}

/** What is said to be left where there is no limit. */
export const unlimited = 1_000_000

/** Fixed windows that open with the first request, in PostgreSQL and by its clock, so that all processes share them. */
export interface Limiter {
  readonly count: (key: string, limit: number, seconds: number) => Promise<Counted>
  /** Takes one back that should not have counted. */
  readonly uncount: (key: string) => Promise<void>
}

export const limiter = (db: Knex): Limiter => {
  const sweep = () => db('state.rate_limits').where('ends_at', '<', db.raw(`now() - interval '1 minute'`)).delete()
  let swept = Date.now()

  return {
    count: async (key, limit, seconds) => {
      const now = Math.floor(Date.now() / 1000)
      if (limit === 0)
        return { limit: unlimited, remaining: unlimited, reset: now + seconds, over: false, wait: seconds }
      if (Date.now() - swept > 60_000) {
        swept = Date.now()
        void sweep().catch(() => {})
      }
      const { rows } = await db.raw<{ rows: { count: number; reset: string; wait: string }[] }>(
        `insert into state.rate_limits as r (key, ends_at, count) values (?, now() + make_interval(secs => ?), 1)
         on conflict (key) do update set
           count = case when r.ends_at <= now() then 1 else r.count + 1 end,
           ends_at = case when r.ends_at <= now() then excluded.ends_at else r.ends_at end
         returning count, ceil(extract(epoch from ends_at)) as reset, ceil(extract(epoch from ends_at - now())) as wait`,
        [key, seconds],
      )
      const { count, reset, wait } = rows[0]!
      return {
        limit,
        remaining: Math.max(0, limit - count),
        reset: Number(reset),
        over: count > limit,
        wait: Math.max(1, Number(wait)),
      }
    },
    uncount: async (key) => {
      await db('state.rate_limits').where({ key }).andWhere('count', '>', 0).decrement('count', 1)
    },
  }
}
