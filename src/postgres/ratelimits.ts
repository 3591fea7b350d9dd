import type { Database } from './database.ts'

const sweepEvery = 60_000

/** Counts requests in `state.rate_limits` in fixed windows that start with the first request, by the database's clock, so that all processes share them. */
export const limiter = (db: Database) => {
  const sweep = () => db('state.rate_limits').where('ends_at', '<', db.raw(`now() - interval '1 minute'`)).delete()
  let swept = Date.now()

  return {
    count: async (key: string, limit: number, seconds: number) => {
      if (Date.now() - swept > sweepEvery) {
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
    uncount: async (key: string) => {
      await db('state.rate_limits').where({ key }).andWhere('count', '>', 0).decrement('count', 1)
    },
  }
}
