import type { Logger } from 'pino'
import { createIncident } from '../../lib/incident.ts'
import type { Database } from '../../postgres/database.ts'
import { repeat } from '../jobs/repeat.ts'
import type { Jobs, Standstill } from './standstill.ts'

/** What is stuck meanwhile, in the words of `/readyz`. */
export const held = 'statements wait for a lock of PostgreSQL'
const lines = {
  begins: 'statements of this service wait for a lock of PostgreSQL that another session holds',
  goesOn: 'statements of this service still wait for a lock of PostgreSQL',
  ends: 'no statement of this service waits for a lock of PostgreSQL any more',
}

/** The session that keeps statements of this service waiting, and does not wait itself. */
export interface LockHolder {
  readonly pid: number
  readonly name: string
  readonly address: string
  readonly state: string
  /** when its transaction began, null when PostgreSQL does not show it */
  readonly since: Date | null
}

/** Returns the sessions that hold the locks for which statements of this service wait now. */
export const readLockHolders = async (db: Database): Promise<readonly LockHolder[]> => {
  const { rows } = await db.raw<{ rows: readonly LockHolder[] }>(
    `select distinct h.pid, coalesce(nullif(left(h.application_name, 64), ''), h.usename, 'unknown') as name,
       coalesce(host(h.client_addr), 'this machine') as address, coalesce(h.state, 'unknown') as state,
       coalesce(h.xact_start, h.backend_start) as since
     from pg_stat_activity w, unnest(pg_blocking_pids(w.pid)) as blocking (pid) join pg_stat_activity h using (pid)
     where w.datname = current_database() and w.application_name like 'linkledger-%' and w.wait_event_type = 'Lock'
       and h.wait_event_type is distinct from 'Lock'
     order by since limit 3`,
  )
  return rows
}

const describe = ({ pid, name, address, state, since }: LockHolder) =>
  `pid ${pid} holds one (${name}, ${address}, ${state}${since ? `, its transaction began ${since.toISOString()}` : ''}); \`select pg_terminate_backend(${pid})\` ends it`

/** ms between checks, until a wait counts as long, and until it counts as over */
const [every, long, over] = [2000, 5000, 8000]

/**
 * Returns a check of the locks that statements wait for: readiness and the log name a session that holds one for long.
 * A statement that times out and is tried again counts as one wait.
 */
export const watchLocks = (
  read: () => Promise<readonly LockHolder[]>,
  job: Pick<Standstill, 'failed' | 'worked'>,
  log: Pick<Logger, 'warn' | 'error'>,
) => {
  const incident = createIncident({ log, level: 'warn', lines })
  let known: readonly { readonly holder: LockHolder; readonly from: number; readonly seen: number }[] = []
  return async (now: number): Promise<void> => {
    const found = await read()
    const before = known.filter(({ seen }) => now - seen < over)
    const [of, pids] = [new Map(before.map((one) => [one.holder.pid, one])), new Set(found.map(({ pid }) => pid))]
    known = [
      ...found.map((holder) => ({ holder, from: of.get(holder.pid)?.from ?? now, seen: now })),
      ...before.filter(({ holder }) => !pids.has(holder.pid)),
    ]
    const holders = known.filter(({ from, seen }) => seen - from >= long).map(({ holder }) => holder)
    if (holders.length === 0) {
      job.worked()
      return incident.ends()
    }
    job.failed(new Error(holders.map(describe).join('; ')))
    incident.begins({ holders })
    incident.goesOn({ holders })
  }
}

/** Starts to check locks. Returns a function that stops it. */
export const followLocks = ({ db, jobs, log }: { db: Database; jobs: Jobs; log: Pick<Logger, 'warn' | 'error'> }) => {
  const look = watchLocks(() => readLockHolders(db), jobs.open('locks', held), log)
  // without PostgreSQL, an outage is reported instead
  return repeat(
    () => look(performance.now()),
    every,
    () => {},
  )
}
