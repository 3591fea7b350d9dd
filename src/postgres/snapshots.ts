import type { Database } from './database.ts'

/** The state of a stream as it is stored: sealed under the key of its account. */
export interface StoredSnapshot {
  readonly stream: string
  /** of the rules that folded it */
  readonly version: number
  readonly account: number
  /** of the last event in it */
  readonly revision: bigint
  /** id of that event */
  readonly event: string
  readonly sealed: Buffer
}

/** Returns the newest snapshot of a stream, or the newest one up to a revision. */
export const findSnapshot = async (
  db: Database,
  stream: string,
  version: number,
  upTo?: bigint,
): Promise<StoredSnapshot | undefined> => {
  const found = db('state.snapshots').where({ stream, version }).orderBy('revision', 'desc').limit(1)
  if (upTo !== undefined) void found.where('revision', '<=', upTo.toString())
  const [row] = (await found) as {
    account: string
    revision: string
    event_id: string
    sealed: Buffer
  }[]
  if (!row) return undefined
  const { account, revision, event_id: event, sealed } = row
  return { stream, version, account: Number(account), revision: BigInt(revision), event, sealed }
}

/**
 * bytes from which on a state is stored alone: some states grow with their streams, and many of them would take more
 * room than the log
 */
const large = 16 * 1024

/**
 * Stores a snapshot, and deletes those of older versions. A large one replaces all that are older, and none is stored
 * that is older than a large one. Does nothing once the account's key is destroyed.
 */
export const storeSnapshot = async (db: Database, snapshot: StoredSnapshot): Promise<void> => {
  const { stream, version, account, revision, event, sealed } = snapshot
  await db.raw(
    `with outdated as (
       delete from state.snapshots where stream = :stream
         and (version < :version or version = :version and revision < :revision and :large)
     )
     insert into state.snapshots (stream, version, account, revision, event_id, sealed)
     select :stream, :version, :account, :revision, :event, :sealed
     where exists (select 1 from state.keys where name = 'account-' || :account::bigint)
       and not exists (select 1 from state.snapshots
         where stream = :stream and version = :version and revision > :revision and length(sealed) > ${large})
     on conflict (stream, version, revision) do update set
       account = excluded.account, event_id = excluded.event_id, sealed = excluded.sealed`,
    { stream, version, account, revision: revision.toString(), event, sealed, large: sealed.length > large },
  )
}

/** Deletes all snapshots of accounts: they contain personal data. */
export const eraseSnapshots = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db('state.snapshots').whereIn('account', accounts).delete()
}

/** Deletes all snapshots of a stream. */
export const dropSnapshots = async (db: Database, stream: string): Promise<void> => {
  await db('state.snapshots').where({ stream }).delete()
}
