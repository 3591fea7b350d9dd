import type { Database } from './database.ts'
import { hasJoins, noteJoin, partAccounts } from './joined.ts'

/** A user of a directory, as it is stored: `person`, `name` and `email` are keyed hashes. */
export interface StoredUser {
  readonly id: string
  readonly issuer: string
  /** null: the directory does not say what sign-ins call the person */
  readonly person: Buffer | null
  readonly name: Buffer
  readonly email: Buffer | null
  readonly active: boolean
  /** that the person signs in to */
  readonly account: number | null
  readonly sealed: string
  readonly created: Date
  readonly updated: Date
}
export type SavedUser = Omit<StoredUser, 'account' | 'created' | 'updated'>
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
 * person has another account, if they have one. Throws a duplicate.
 */
const saveUser = async (tx: Database, user: SavedUser): Promise<StoredUser> => {
  const { id, issuer, person } = user
  const deleted =
    person === null ? [] : await tx(users).where({ person }).whereNull('sealed').delete().returning('account')
  const account = (deleted as readonly { account: string | null }[])[0]?.account ?? null
  await tx(users)
    .insert({ ...user, account })
    .onConflict('id')
    .merge({
      ...user,
      account: tx.raw(
        'case when directory_users.person is not distinct from excluded.person then directory_users.account else excluded.account end',
      ),
      updated_at: tx.fn.now(),
    })
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
      await tx(users).insert({ id: tx.raw('gen_random_uuid()'), issuer, person, account, active: false })
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
    if (before.person === null) await tx(users).where({ id }).delete()
    else {
      const left = { sealed: null, name: null, email: null, active: false, updated_at: tx.fn.now() }
      await tx(users).where({ id }).update(left)
      await forgetOldest(tx, issuer)
    }
    return before
  })

/** What a directory says of a person. */
export interface Standing {
  readonly active: boolean
  readonly account: number | null
}

export const findStanding = async (db: Database, person: Buffer): Promise<Standing | undefined> => {
  const [row] = (await db(users).where({ person }).select('active', 'account')) as Standing[]
  return row && { active: row.active, account: row.account === null ? null : Number(row.account) }
}

const people = 'state.directory_people'
/** Notes by what a directory calls somebody who has signed in, who is the only one of that name. */
export const notePerson = async (db: Database, account: number, person: Buffer): Promise<void> => {
  await db(people).where({ person }).whereNot({ account }).update({ person: null })
  await db(people).insert({ account, person }).onConflict('account').merge()
  // an account may have several identities, of which it has the last one above
  await noteJoin(db, person, account)
}

export const accountOfPerson = async (db: Database, person: Buffer): Promise<number | undefined> => {
  const [row] = (await db(people).where({ person }).select('account')) as { account: string }[]
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
    .where({ 'u.account': account, 'g.issuer': issuer })
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

/** Deletes what directories have said of people. Those whom they have shut out stay so, by a keyed hash alone. */
export const eraseFromDirectory = async (db: Database, accounts: readonly number[]): Promise<void> => {
  await db(people).whereIn('account', accounts).delete()
  await partAccounts(db, accounts)
  // somebody who has signed in to another account as well has to stay in reach there
  await db(users).whereIn('account', accounts).whereRaw(hasJoins).update({ account: null })
  await db(users).whereIn('account', accounts).where({ active: true }).delete()
  const ids = db(users).whereIn('account', accounts).select('id')
  await db('state.directory_members').whereIn('user_id', ids).delete()
  const left = { sealed: null, name: null, email: null, account: null }
  await db(users).whereIn('account', accounts).update(left)
}
