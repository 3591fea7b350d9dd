import type { Database } from './database.ts'

/** A stored one-time link. `seconds` until it expires; null: only when it is used. */
export interface StoredLink {
  readonly hash: Buffer
  readonly kind: string
  readonly account: number | null
  readonly sealed: Buffer
  readonly seconds: number | null
}
interface Row {
  readonly hash: Buffer
  readonly account: string | null
  readonly sealed: Buffer
}
type FoundLink = Pick<StoredLink, 'account' | 'sealed'>

const table = 'state.one_time_links'
/** the kind of links that make another person a member of the account */
const invitation = 'invitation'
const unexpired = '(expires_at is null or expires_at > now())'
const found = ({ account, sealed }: Row): FoundLink => ({ account: account === null ? null : Number(account), sealed })

export const insertLink = async (db: Database, { seconds, ...link }: StoredLink): Promise<void> => {
  await db.raw(
    `insert into ${table} (hash, kind, account, sealed, expires_at)
     values (:hash, :kind, :account, :sealed, now() + make_interval(secs => :seconds))`,
    { ...link, seconds },
  )
}

export const findLink = async (db: Database, kind: string, hash: Buffer): Promise<FoundLink | undefined> => {
  const [row] = (await db(table).where({ kind, hash }).whereRaw(unexpired)) as Row[]
  return row && found(row)
}

/**
 * Runs `work` while no other process can use the link, and deletes the link with all others of its account, except that
 * an invitation deletes only itself. When `work` throws, they stay. Links of a `single` kind exclude each other: using
 * one ends all of them. Returns undefined when the link no longer exists.
 */
export const useLink = <R>(
  db: Database,
  { kind, hash, single }: { readonly kind: string; readonly hash: Buffer; readonly single: boolean },
  work: (link: FoundLink) => Promise<R>,
): Promise<{ readonly result: R } | undefined> =>
  db.transaction(async (tx) => {
    const { rows } = await tx.raw<{ rows: Row[] }>(
      `select hash, account, sealed from ${table} where kind = :kind and (hash = :hash or :single) and ${unexpired}
       order by hash for update`,
      { kind, hash, single },
    )
    const row = rows.find((one) => one.hash.equals(hash))
    if (!row) return undefined
    const result = await work(found(row))
    const hashes = rows.map((one) => one.hash)
    await tx.raw(
      `delete from ${table} where hash = any (:hashes) or (account = :account and :kind <> :others and kind <> :others)`,
      { hashes, account: row.account, kind, others: invitation },
    )
    return { result }
  })

/** Sets when a link expires, from now on. */
export const extendLink = async (db: Database, hash: Buffer, seconds: number): Promise<void> => {
  await db.raw(`update ${table} set expires_at = now() + make_interval(secs => ?) where hash = ?`, [seconds, hash])
}

/** Deletes the links of an account except invitations to it. */
export const deleteOwnLinks = async (db: Database, account: number): Promise<void> => {
  await db(table).where({ account }).whereNot({ kind: invitation }).delete()
}

/** Returns the invitations to an account. */
export const invitationLinks = async (
  db: Database,
  account: number,
): Promise<readonly (FoundLink & Pick<StoredLink, 'hash'>)[]> =>
  ((await db(table).where({ account, kind: invitation }).whereRaw(unexpired)) as Row[]).map((row) => ({
    hash: row.hash,
    ...found(row),
  }))

export const deleteLink = async (db: Database, hash: Buffer): Promise<void> => {
  await db(table).where({ hash }).delete()
}

export const deleteLinksOf = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db(table).whereIn('account', accounts).delete()
}

export const deleteExpiredLinks = async (db: Database): Promise<void> => {
  await db(table).whereRaw('expires_at <= now()').delete()
}
