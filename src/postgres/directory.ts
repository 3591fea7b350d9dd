import { randomUUID } from 'node:crypto'
import { spellingsOf } from '../lib/issuers.ts'
import type { Database } from './database.ts'
import { accountsHeld, holdAccounts, noteJoin } from './joined.ts'

/** A user of a directory, as it is stored: `person`, `name` and `email` are keyed hashes. */
export interface StoredUser {
  readonly id: string
  readonly issuer: string
  /** null: the directory does not say what sign-ins call the person */
  readonly person: Buffer | null
  /** null: the account of the person was erased */
  readonly name: Buffer | null
  readonly email: Buffer | null
  readonly active: boolean
  /** that the person signs in to */
  readonly account: number | null
  /** empty: the account of the person was erased */
  readonly sealed: string
  readonly created: Date
  readonly updated: Date
}
export interface SavedUser extends Omit<StoredUser, 'account' | 'created' | 'updated'> {
  /** what `person` is in all spellings of the issuer */
  readonly persons: readonly Buffer[]
}
export type UserColumn = 'id' | 'name' | 'person' | 'email'
export type Condition = readonly [column: UserColumn, value: Buffer | string]

/** What a request may list of a directory: `first` is counted from 0. */
export interface PageOf {
  readonly first: number
  readonly count: number
}

const users = 'state.directory_users'
const columns = { id: 'id', issuer: 'issuer', person: 'person', name: 'name', email: 'email', active: 'active' }
const userColumns = { ...columns, account: 'account', sealed: 'sealed', created: 'created_at', updated: 'updated_at' }
const typed = (row: StoredUser): StoredUser => ({ ...row, account: row.account === null ? null : Number(row.account) })

/** Whether a name or a person is that of another user or group of the directory. */
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
  // the directory knows nothing of users whom it has deleted
  if (what === 'users') void all.whereNotNull('sealed')
  const [row] = (await all.count('* as total')) as { total?: number }[]
  return Number(row?.total)
}

/**
 * Stores a user, new or changed. One whom the directory has deleted is that person again, with their account; another
 * person has another account, if they have one. What a user has held, they hold. Throws a duplicate.
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

/** users of an issuer whom its directory has deleted */
const mostDeleted = 20_000
const forgetOldest = async (tx: Database, issuer: string): Promise<void> => {
  const deleted = tx(users).where({ issuer }).whereNull('sealed').orderBy('updated_at', 'desc')
  const oldest = deleted.offset(mostDeleted).forUpdate().skipLocked().select('id')
  await tx(users).whereIn('id', oldest).delete()
}

/** Changes a user. Two changes at once come one after the other. Returns both states, undefined without a user. */
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
    // whom the user was before is as one whom the directory has deleted
    if (!after.active && person !== null && (after.person === null || !person.equals(after.person))) {
      const made = { id: randomUUID(), issuer, person, account, active: false }
      await tx(users).insert(made)
      await holdAccounts(tx, made.id, [], await accountsHeld(tx, [id]))
      await forgetOldest(tx, issuer)
    }
    return { before, after }
  })

/** Deletes a user: what is left keeps the person from signing in. Returns what was stored. */
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

/** Whether a directory has ended the access of somebody who has no account. */
export const isShutOut = async (db: Database, persons: readonly Buffer[]): Promise<boolean> => {
  const found = await db(users).whereIn('person', persons).where({ active: false }).whereNull('account').pluck('id')
  return found.length > 0
}

const people = 'state.directory_people'
/** Notes by what a directory calls somebody who has signed in, who is the only one of that name. */
export const notePerson = async (db: Database, account: number, person: Buffer): Promise<void> => {
  await db(people).where({ person }).whereNot({ account }).update({ person: null })
  await db(people).insert({ account, person }).onConflict('account').merge()
  // an account may have several identities, of which it has the last one above
  await noteJoin(db, person, account)
}

export const accountOfPerson = async (db: Database, persons: readonly Buffer[]): Promise<number | undefined> => {
  const [row] = (await db(people).whereIn('person', persons).select('account')) as { account: string }[]
  return row && Number(row.account)
}

/** Notes the groups that the issuer has named. */
export const noteGroups = async (db: Database, account: number, groups: readonly string[]): Promise<void> => {
  await db(people)
    .insert({ account, groups: JSON.stringify(groups) })
    .onConflict('account')
    .merge(['groups'])
}

/** Returns the groups that an issuer has named, undefined when it is not known, and those of its directory. */
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

/** Forgets by what directories call somebody, who does not sign in with their issuer any more. */
export const leaveDirectory = async (db: Database, account: number): Promise<void> => {
  await db(people).where({ account }).delete()
  await db(users).where({ account }).update({ account: null })
}
