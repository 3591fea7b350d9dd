import type { Database } from './database.ts'
import type { PageOf } from './directory.ts'

/** A group of a directory. `external` is what the directory calls it. */
export interface StoredGroup {
  readonly id: string
  readonly issuer: string
  readonly name: string
  readonly external: string | null
  readonly created: Date
  readonly updated: Date
}
export type SavedGroup = Pick<StoredGroup, 'name' | 'external'> & { readonly members: ReadonlySet<string> }
export type GroupCondition = readonly [column: 'id' | 'name' | 'external' | 'member', value: string]

const [table, members, users] = ['state.directory_groups', 'state.directory_members', 'state.directory_users']
const columns = {
  ...{ id: 'id', issuer: 'issuer', name: 'name', external: 'external' },
  ...{ created: 'created_at', updated: 'updated_at' },
}

const find = async (db: Database, issuer: string, id: string) =>
  ((await db(table).where({ issuer, id }).select(columns)) as StoredGroup[])[0]

const membersOf = async (db: Database, id: string): Promise<ReadonlySet<string>> =>
  new Set(await db(members).where({ group_id: id }).orderBy('user_id').pluck<string[]>('user_id'))

/** Returns a group with its members, undefined when there is none. */
export const findDirectoryGroup = async (db: Database, issuer: string, id: string) => {
  const group = await find(db, issuer, id)
  return group && { ...group, members: await membersOf(db, id) }
}
export type FoundGroup = NonNullable<Awaited<ReturnType<typeof findDirectoryGroup>>>

export const listDirectoryGroups = async (
  db: Database,
  issuer: string,
  conditions: readonly GroupCondition[],
  { first, count }: PageOf,
) => {
  const matching = () =>
    conditions.reduce((query, [column, value]) => {
      if (column === 'name') return query.whereRaw('lower(name) = lower(?)', [value])
      if (column !== 'member') return query.where(column, value)
      return query.whereIn('id', db(members).where({ user_id: value }).select('group_id'))
    }, db(table).where({ issuer }))
  const [{ total = 0 } = {}] = (await matching().count('* as total')) as { total?: number }[]
  const rows = (await matching()
    .orderBy(['created_at', 'id'])
    .offset(first)
    .limit(count)
    .select(columns)) as StoredGroup[]
  return { total: Number(total), rows }
}

/** Some of the members of a group are no users of its directory. */
export class UnknownMember extends Error {
  override readonly name = 'UnknownMember'
}

/** What a change of a group has changed: the accounts of people who have other groups now. */
export interface ChangedGroup {
  readonly before: FoundGroup | undefined
  readonly after: FoundGroup
  readonly accounts: readonly number[]
}

const accountsOf = async (db: Database, ids: readonly string[]) => {
  const found = db(users).whereIn('id', ids).whereNotNull('account').whereNotNull('sealed')
  return [...new Set((await found.pluck<string[]>('account')).map(Number))]
}

const save = async (
  tx: Database,
  of: Pick<StoredGroup, 'id' | 'issuer'>,
  before: FoundGroup | undefined,
  group: SavedGroup,
) => {
  const { id, issuer } = of
  const { name, external } = group
  await tx(table)
    .insert({ id, issuer, name, external })
    .onConflict('id')
    .merge({ name, external, updated_at: tx.fn.now() })
  const had = before?.members ?? new Set<string>()
  const added = [...group.members].filter((one) => !had.has(one))
  const removed = [...had].filter((one) => !group.members.has(one))
  const known = await tx(users).where({ issuer }).whereNotNull('sealed').whereIn('id', added).forShare().pluck('id')
  if (known.length < added.length) throw new UnknownMember('the group has members that are no users of its directory')
  if (removed.length > 0) await tx(members).where({ group_id: id }).whereIn('user_id', removed).delete()
  if (added.length > 0) await tx(members).insert(added.map((user_id) => ({ group_id: id, user_id })))
  const isRenamed = before !== undefined && (before.name !== name || before.external !== external)
  const after = (await findDirectoryGroup(tx, issuer, id)) as FoundGroup
  return { before, after, accounts: await accountsOf(tx, isRenamed ? [...had, ...added] : [...added, ...removed]) }
}

export const insertDirectoryGroup = (
  db: Database,
  of: Pick<StoredGroup, 'id' | 'issuer'>,
  group: SavedGroup,
): Promise<ChangedGroup> => db.transaction((tx) => save(tx, of, undefined, group))

/** Changes a group. Two changes at once come one after the other. Returns undefined when there is no such group. */
export const changeDirectoryGroup = (
  db: Database,
  issuer: string,
  id: string,
  change: (group: FoundGroup) => SavedGroup,
): Promise<ChangedGroup | undefined> =>
  db.transaction(async (tx) => {
    await tx(table).where({ issuer, id }).forUpdate().select('id')
    const before = await findDirectoryGroup(tx, issuer, id)
    return before && save(tx, { id, issuer }, before, change(before))
  })

/** Deletes a group. Returns the accounts of its members, undefined when there is no such group. */
export const deleteDirectoryGroup = (
  db: Database,
  issuer: string,
  id: string,
): Promise<readonly number[] | undefined> =>
  db.transaction(async (tx) => {
    await tx(table).where({ issuer, id }).forUpdate().select('id')
    if (!(await find(tx, issuer, id))) return undefined
    const accounts = await accountsOf(tx, [...(await membersOf(tx, id))])
    await tx(table).where({ id }).delete()
    return accounts
  })
