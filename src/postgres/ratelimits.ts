import { createHmac } from 'node:crypto'
import type { Database } from './database.ts'

const sweepEvery = 60_000

interface Window {
  readonly count: number
  readonly reset: string
  readonly wait: string
}
const shown = `ceil(extract(epoch from ends_at)) as reset, ceil(extract(epoch from ends_at - now())) as wait`

const countedOf = ({ count, reset, wait }: Window, limit: number) => ({
  limit,
  remaining: Math.max(0, limit - count),
  reset: Number(reset),
  over: count > limit,
  wait: Math.max(1, Number(wait)),
})

/**
 * Counts requests in `state.rate_limits` in fixed windows that start with the first request, by the database's clock,
 * so that all processes share them. Keys name networks and e-mail addresses: what is stored is their first word and a
 * keyed hash.
 */
export const limiter = (db: Database, pepper: Buffer) => {
  const stored = (key: string) =>
    `${key.slice(0, key.indexOf(' '))} ${createHmac('sha256', pepper).update(`limit ${key}`).digest('base64url')}`
  const sweep = () => db('state.rate_limits').where('ends_at', '<', db.raw(`now() - interval '1 minute'`)).delete()
  let swept = performance.now()
  const sweepNow = () => {
    if (performance.now() - swept <= sweepEvery) return
    swept = performance.now()
    void sweep().catch(() => {})
  }

  return {
    count: async (key: string, limit: number, seconds: number) => {
      sweepNow()
      const { rows } = await db.raw<{ rows: Window[] }>(
        `insert into state.rate_limits as r (key, ends_at, count) values (?, now() + make_interval(secs => ?), 1)
         on conflict (key) do update set
           count = case when r.ends_at <= now() then 1 else r.count + 1 end,
           ends_at = case when r.ends_at <= now() then excluded.ends_at else r.ends_at end
         returning count, ${shown}`,
        [stored(key), seconds],
      )
      return countedOf(rows[0]!, limit)
    },
    uncount: async (key: string) => {
      await db('state.rate_limits')
        .where({ key: stored(key) })
        .andWhere('count', '>', 0)
        .decrement('count', 1)
    },
    take: async (key: string, limit: number, seconds: number, requests: number) => {
      sweepNow()
      // a client over its limit only reads: a flood must not cost a write for each request
      const attempt = () =>
        db.raw<{ rows: (Window & { readonly full: boolean })[] }>(
          `with full_window as (
           select count, ends_at from state.rate_limits
           where key = :key and ends_at > now() and count + :requests::int > :limit::int
         ), taken as (
           insert into state.rate_limits as r (key, ends_at, count)
           select :key, now() + make_interval(secs => :seconds), :requests::int where not exists (select from full_window)
           on conflict (key) do update set
             count = case when r.ends_at <= now() then :requests::int else r.count + :requests::int end,
             ends_at = case when r.ends_at <= now() then excluded.ends_at else r.ends_at end
             where r.ends_at <= now() or r.count + :requests::int <= :limit::int
           returning count, ends_at
         )
         select count, false as full, ${shown} from taken
         union all select count, true as full, ${shown} from full_window`,
          { key: stored(key), limit, seconds, requests },
        )
      let { rows } = await attempt()
      // another request has filled the window meanwhile: the next look sees it
      while (rows.length === 0) ({ rows } = await attempt())
      const row = rows[0]!
      const counted = countedOf(row, limit)
      return { ...counted, over: counted.over || row.full }
    },
  }
}
