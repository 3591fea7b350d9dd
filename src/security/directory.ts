import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { spellingsOf } from '../lib/issuers.ts'
import type { Database } from '../postgres/database.ts'
import {
  changeDirectoryUser,
  type Condition,
  countDirectory,
  deleteDirectoryUser,
  findDirectoryUser,
  insertDirectoryUser,
  listDirectoryUsers,
  type PageOf,
  type SavedUser,
  type StoredUser,
} from '../postgres/directory.ts'
import {
  changeDirectoryGroup,
  deleteDirectoryGroup,
  findDirectoryGroup,
  insertDirectoryGroup,
  listDirectoryGroups,
} from '../postgres/scimgroups.ts'
import { issuerOfKey } from '../postgres/scimkeys.ts'
import { seal, unseal } from './seal.ts'

export { isDuplicate, type PageOf } from '../postgres/directory.ts'
export {
  type ChangedGroup,
  type FoundGroup,
  type GroupCondition,
  type SavedGroup,
  type StoredGroup,
  UnknownMember,
} from '../postgres/scimgroups.ts'

/** A person, as a directory sends them. */
export interface DirectoryPerson {
  readonly userName: string
  /** the id of the person in sign-ins with the issuer; undefined: not sent */
  readonly externalId?: string | undefined
  readonly displayName?: string | undefined
  readonly name?: Readonly<Partial<Record<'formatted' | 'givenName' | 'familyName', string>>> | undefined
  readonly emails?: readonly DirectoryEmail[] | undefined
}
export interface DirectoryEmail {
  readonly value: string
  readonly type?: string | undefined
  readonly primary?: boolean | undefined
}

export interface DirectoryUser extends Pick<StoredUser, 'id' | 'active' | 'account' | 'created' | 'updated'> {
  readonly person: DirectoryPerson
}
type Rest<F extends (db: Database, ...rest: never) => unknown> = F extends (db: Database, ...rest: infer R) => unknown
  ? R
  : never
type Said = Pick<DirectoryUser, 'active' | 'person'>
/** The attribute and value to find a user by, in clear. */
export type UserFilter = readonly [attribute: 'id' | 'userName' | 'externalId' | 'email', value: string]

const context = 'user of a directory'
const prefix = 'llscim_'

const hashOf = (pepper: Buffer, what: string, parts: readonly string[]) =>
  createHmac('sha256', pepper)
    .update(`directory ${what} ${JSON.stringify(parts)}`)
    .digest()

/** Returns a new key of a directory, which is shown once, and the hash that is stored. */
export const newDirectoryKey = (pepper: Buffer) => {
  const key = prefix + randomBytes(32).toString('base64url')
  return { key, hash: hashOf(pepper, 'key', [key]) }
}

/** Returns the keyed hash of a person, by the issuer and its id for them. */
export const personKey = (pepper: Buffer, issuer: string, called: string): Buffer =>
  hashOf(pepper, 'person', [issuer, called])

/** Returns the same for all spellings of the issuer, the given one first. */
export const personKeys = (pepper: Buffer, issuer: string, called: string): readonly Buffer[] =>
  spellingsOf(issuer).map((spelling) => personKey(pepper, spelling, called))

/** The directories of organizations. Data of one issuer is found only with that issuer. */
export interface Directory {
  /** Returns the issuer for which an `Authorization` header has a key, undefined when it has none. */
  readonly issuerOf: (header: string) => Promise<string | undefined>
  readonly count: (what: 'users' | 'groups', issuer: string) => Promise<number>
  readonly groups: ReturnType<typeof openGroups>
  readonly find: (issuer: string, id: string) => Promise<DirectoryUser | undefined>
  readonly list: (
    issuer: string,
    filters: readonly UserFilter[],
    page: PageOf,
  ) => Promise<{ readonly total: number; readonly users: readonly DirectoryUser[] }>
  readonly add: (issuer: string, said: Said) => Promise<DirectoryUser>
  readonly change: (
    issuer: string,
    id: string,
    change: (before: DirectoryUser) => Said,
  ) => Promise<{ readonly before: DirectoryUser; readonly after: DirectoryUser } | undefined>
  readonly remove: (issuer: string, id: string) => Promise<DirectoryUser | undefined>
}

const openGroups = (db: Database) => ({
  find: (issuer: string, id: string) => findDirectoryGroup(db, issuer, id),
  list: (...args: Rest<typeof listDirectoryGroups>) => listDirectoryGroups(db, ...args),
  add: (issuer: string, group: Parameters<typeof insertDirectoryGroup>[2]) =>
    insertDirectoryGroup(db, { id: randomUUID(), issuer }, group),
  change: (...args: Rest<typeof changeDirectoryGroup>) => changeDirectoryGroup(db, ...args),
  remove: (issuer: string, id: string) => deleteDirectoryGroup(db, issuer, id),
})

export const openDirectory = (db: Database, pepper: Buffer): Directory => {
  const hashed = (issuer: string, [attribute, value]: UserFilter): Condition => {
    if (attribute === 'id') return ['id', value]
    if (attribute === 'externalId') return ['person', personKey(pepper, issuer, value)]
    const [column, what] = attribute === 'email' ? (['email', 'email'] as const) : (['name', 'name'] as const)
    // both ignore letter case (RFC 7643, 4.1)
    return [column, hashOf(pepper, what, [issuer, value.toLowerCase()])]
  }
  const stored = (issuer: string, id: string, { active, person }: Said, before?: StoredUser): SavedUser => {
    const { emails = [], externalId, userName } = person
    const mail = emails.find(({ type }) => type === 'work') ?? emails[0]
    // for an erased account, only the hash is known
    const known = before?.person && opened(before).person.externalId === undefined ? [before.person] : []
    const persons = externalId === undefined ? known : personKeys(pepper, issuer, externalId)
    return {
      ...{ id, issuer, active, persons },
      person: persons[0] ?? null,
      name: hashed(issuer, ['userName', userName])[1] as Buffer,
      email: mail ? (hashed(issuer, ['email', mail.value])[1] as Buffer) : null,
      sealed: seal(pepper, context, JSON.stringify(person)),
    }
  }
  const opened = ({ id, active, account, created, updated, sealed }: StoredUser): DirectoryUser => ({
    ...{ id, active, account, created, updated },
    person:
      sealed === '' ? { userName: id } : (JSON.parse(unseal(pepper, context, sealed).toString()) as DirectoryPerson),
  })
  return {
    issuerOf: async (header) => {
      const [, key] = /^bearer (llscim_[\w-]{43})$/i.exec(header) ?? []
      return key === undefined ? undefined : issuerOfKey(db, hashOf(pepper, 'key', [key]))
    },
    count: (what, issuer) => countDirectory(db, what, issuer),
    groups: openGroups(db),
    find: async (issuer, id) => {
      const user = await findDirectoryUser(db, issuer, id)
      return user && opened(user)
    },
    list: async (issuer, filters, page) => {
      const conditions = filters.map((one) => hashed(issuer, one))
      const { total, rows } = await listDirectoryUsers(db, issuer, conditions, page)
      return { total, users: rows.map(opened) }
    },
    add: async (issuer, said) => opened(await insertDirectoryUser(db, stored(issuer, randomUUID(), said))),
    change: async (issuer, id, change) => {
      const changed = await changeDirectoryUser(db, issuer, id, (user) =>
        stored(issuer, id, change(opened(user)), user),
      )
      return changed && { before: opened(changed.before), after: opened(changed.after) }
    },
    remove: async (issuer, id) => {
      const user = await deleteDirectoryUser(db, issuer, id)
      return user && opened(user)
    },
  }
}
