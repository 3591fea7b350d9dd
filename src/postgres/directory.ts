import { randomUUID } from 'node:crypto'
import { spellingsOf } from '../lib/issuers.ts'
import type { Database } from './database.ts'
import { accountsHeld, holdAccounts, noteJoin } from './joined.ts'

/** A stored user of a directory: `person`, `name` and `email` are keyed hashes. */
export interface StoredUser {
  readonly id: string
  readonly issuer: string
  /** null: the directory has not sent the person's id at sign-ins */
  readonly person: Buffer | null
  /** null: the account of the person was erased */
  readonly name: Buffer | null
  readonly email: Buffer | null
  readonly active: boolean
  /** the account of the person */
  readonly account: number | null
  /** empty: the account of the person was erased */
  readonly sealed: string
  readonly created: Date
  readonly updated: Date
}
export interface SavedUser extends Omit<StoredUser, 'account' | 'created' | 'updated'> {
  /** `person` for all spellings of the issuer */
  readonly persons: readonly Buffer[]
}
export type UserColumn = 'id' | 'name' | 'person' | 'email'
export type Condition = readonly [column: UserColumn, value: Buffer | string]

/** The page of a directory to list: `first` is counted from 0. */
export interface PageOf {
  readonly first: number
  readonly count: number
}

const users = 'state.directory_users'
const columns = { id: 'id', issuer: 'issuer', person: 'person', name: 'name', email: 'email', active: 'active' }
const userColumns = { ...columns, account: 'account', sealed: 'sealed', created: 'created_at', updated: 'updated_at' }
const typed = (row: StoredUser): StoredUser => ({ ...row, account: row.account === null ? null : Number(row.account) })

/** Whether another user or group of the directory has the name or the person. */
export const isDuplicate = (error: unknown): boolean => (error as { readonly code?: unknown }).code === '23505'

export const findDirectoryUser = async (db: Database, issuer: string, id: string): Promise<StoredUser | undefined> => {
  const [row] = (await db(users).where({ issuer, id }).whereNotNull('sealed').select(userColumns)) as StoredUser[]
  return row && typed(row)
}

export const listDirectoryUsers = async (
  db: Database,
  issuer: string,
  conditions: readonly Condition[],
  { first, count }: PageOf,
) => {
  const matching = () => {
    const all = db(users).where({ issuer }).whereNotNull('sealed')
    return conditions.reduce((query, [column, value]) => query.where(column, value), all)
  }
  const [{ total = 0 } = {}] = (await matching().count('* as total')) as { total?: number }[]
  const rows = (await matching()
    .orderBy(['created_at', 'id'])
    .offset(first)
    .limit(count)
    .select(userColumns)) as StoredUser[]
  return { total: Number(total), rows: rows.map(typed) }
}

export const countDirectory = async (db: Database, what: 'users' | 'groups', issuer: string): Promise<number> => {
  const all = db(`state.directory_${what}`).where({ issuer })
  // users whom the directory has deleted are not listed
  if (what === 'users') void all.whereNotNull('sealed')
  const [row] = (await all.count('* as total')) as { total?: number }[]
  return Number(row?.total)
}

/**
 * Stores a new or changed user. A deleted user of the same person comes back with their account; another person gets
 * another account, if they have one. A user keeps the accounts that they have held. Throws a duplicate.
 */
const saveUser = async (tx: Database, { persons, ...user }: SavedUser): Promise<StoredUser> => {
  const { id, issuer } = user
  const deleted = await tx(users).whereIn('person', persons).whereNull('sealed').forUpdate().select('id', 'account')
  const before = deleted as readonly { readonly id: string; readonly account: string | null }[]
  const ids = before.map((one) => one.id)
  const others = await accountsHeld(tx, ids)
  await tx(users).whereIn('id', ids).delete()
  await tx(users)
    .insert({ ...user, account: before[0]?.account ?? null })
    .onConflict('id')
    .merge({
      ...user,
      account: tx.raw(
        'case when directory_users.person is not distinct from excluded.person then directory_users.account else excluded.account end',
      ),
      updated_at: tx.fn.now(),
    })
  await holdAccounts(tx, id, persons, others)
  return (await findDirectoryUser(tx, issuer, id)) as StoredUser
}

export const insertDirectoryUser = (db: Database, user: SavedUser): Promise<StoredUser> =>
  db.transaction((tx) => saveUser(tx, user))

/** deleted users to keep of an issuer */
const mostDeleted = 20_000
const forgetOldest = async (tx: Database, issuer: string): Promise<void> => {
  const deleted = tx(users).where({ issuer }).whereNull('sealed').orderBy('updated_at', 'desc')
  const oldest = deleted.offset(mostDeleted).forUpdate().skipLocked().select('id')
  await tx(users).whereIn('id', oldest).delete()
}

/** Changes a user. Concurrent changes are serialized. Returns both states, undefined without a user. */
export const changeDirectoryUser = (
  db: Database,
  issuer: string,
  id: string,
  change: (user: StoredUser) => SavedUser,
): Promise<{ readonly before: StoredUser; readonly after: StoredUser } | undefined> =>
  db.transaction(async (tx) => {
    await tx(users).where({ issuer, id }).forUpdate().select('id')
    const before = await findDirectoryUser(tx, issuer, id)
    if (!before) return undefined
    const after = await saveUser(tx, change(before))
    const { account, person } = before
    // the former person of the user counts as deleted by the directory
    if (!after.active && person !== null && (after.person === null || !person.equals(after.person))) {
      const made = { id: randomUUID(), issuer, person, account, active: false }
      await tx(users).insert(made)
      await holdAccounts(tx, made.id, [], await accountsHeld(tx, [id]))
      await forgetOldest(tx, issuer)
    }
    return { before, after }
  })

/** Deletes a user: the remaining row keeps the person from signing in. Returns the stored user. */
export const deleteDirectoryUser = (db: Database, issuer: string, id: string): Promise<StoredUser | undefined> =>
  db.transaction(async (tx) => {
    await tx(users).where({ issuer, id }).forUpdate().select('id')
    const before = await findDirectoryUser(tx, issuer, id)
    if (!before) return undefined
    await tx('state.directory_members').where({ user_id: id }).delete()
    if (before.person === null && (await accountsHeld(tx, [id])).length === 0) await tx(users).where({ id }).delete()
    else {
      const left = { sealed: null, name: null, email: null, active: false, updated_at: tx.fn.now() }
      await tx(users).where({ id }).update(left)
      await forgetOldest(tx, issuer)
    }
    return before
  })

/** Whether a directory has ended the access of a person without an account. */
export const isShutOut = async (db: Database, persons: readonly Buffer[]): Promise<boolean> => {
  const found = await db(users).whereIn('person', persons).where({ active: false }).whereNull('account').pluck('id')
  return found.length > 0
}

const people = 'state.directory_people'
/** Stores the directory's id of a person who has signed in; no other account keeps that id. */
export const notePerson = async (db: Database, account: number, person: Buffer): Promise<void> => {
  await db(people).where({ person }).whereNot({ account }).update({ person: null })
  await db(people).insert({ account, person }).onConflict('account').merge()
  // an account may have several identities; the row above has the latest one
  await noteJoin(db, person, account)
}

export const accountOfPerson = async (db: Database, persons: readonly Buffer[]): Promise<number | undefined> => {
  const [row] = (await db(people).whereIn('person', persons).select('account')) as { account: string }[]
  return row && Number(row.account)
}

/** Stores the groups that the issuer has sent. */
export const noteGroups = async (db: Database, account: number, groups: readonly string[]): Promise<void> => {
  await db(people)
    .insert({ account, groups: JSON.stringify(groups) })
    .onConflict('account')
    .merge(['groups'])
}

/** Returns the groups that an issuer has sent, undefined when unknown, and those of its directory. */
export const groupsOfAccount = async (db: Database, issuer: string, account: number) => {
  const [row] = (await db(people).where({ account }).select('groups')) as { groups: readonly string[] | null }[]
  const found = (await db({ u: users })
    .join({ m: 'state.directory_members' }, 'm.user_id', 'u.id')
    .join({ g: 'state.directory_groups' }, 'g.id', 'm.group_id')
    .where({ 'u.account': account })
    .whereIn('g.issuer', spellingsOf(issuer))
    .orderBy('g.id')
    .select('g.name', 'g.external')) as { name: string; external: string | null }[]
  return {
    claimed: row?.groups ?? undefined,
    sent: found.flatMap(({ name, external }) => (external === null ? [name] : [name, external])),
  }
}

/** Deletes the directory ids of a person who no longer signs in with their issuer. */
export const leaveDirectory = async (db: Database, account: number): Promise<void> => {
  await db(people).where({ account }).delete()
  await db(users).where({ account }).update({ account: null })
}
