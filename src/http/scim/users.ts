import type { DirectoryEmail, DirectoryPerson, DirectoryUser, UserFilter } from '../../security/directory.ts'
import { type Comparison, isObject, lowered, type Operation, readText } from './parse.ts'
import { metaOf, notFound, refuse, refuseDuplicate, type Resource, type ScimServices } from './resource.ts'
import { serve } from './serve.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
/** users of a directory, and addresses of one of them */
const [mostUsers, mostEmails] = [10_000, 20]

interface Draft {
  active: boolean
  person: { -readonly [K in keyof DirectoryPerson]?: DirectoryPerson[K] | undefined }
}

/** Entra sends "False" as a text. */
const readBoolean = (value: unknown): boolean => {
  const text = typeof value === 'string' ? value.slice(0, 6).toLowerCase() : JSON.stringify(value)
  if (text !== 'true' && text !== 'false') refuse(400, 'active must be true or false.', 'invalidValue')
  return text === 'true'
}

const readEmails = (value: unknown): readonly DirectoryEmail[] =>
  [value ?? []].flat().flatMap((one: unknown) => {
    const { value: address, type, primary } = isObject(one) ? lowered(one) : { value: one }
    const read = readText('emails', address)
    return read === undefined ? [] : [{ value: read, type: readText('type', type), primary: primary === true }]
  })

const changeEmails = (emails: readonly DirectoryEmail[], { op, part, value, where }: Operation) => {
  if (!where) {
    const sent = readEmails(value)
    return op === 'add' ? [...emails.filter((one) => !sent.some((next) => next.value === one.value)), ...sent] : sent
  }
  const [name, wanted] = where
  const isMeant = (one: DirectoryEmail) => String(lowered({ ...one })[name]).toLowerCase() === wanted.toLowerCase()
  if (value === undefined || op === 'remove')
    return part && part !== 'value' ? emails : emails.filter((one) => !isMeant(one))
  if (part !== undefined && part !== 'value') return emails
  const address = readEmails(value)[0]?.value
  if (address === undefined) return emails
  if (emails.some(isMeant)) return emails.map((one) => (isMeant(one) ? { ...one, value: address } : one))
  return [...emails, { value: address, type: name === 'type' ? wanted : undefined }]
}

const namesOf = { formatted: 'formatted', givenname: 'givenName', familyname: 'familyName' } as const
const changeName = (name: DirectoryPerson['name'], { part, value }: Operation): DirectoryPerson['name'] => {
  const given = part === undefined ? (isObject(value) ? lowered(value) : {}) : { [part]: value }
  const parts = Object.entries(namesOf).flatMap(([key, known]) =>
    Object.hasOwn(given, key) ? [[known, readText(`name.${known}`, given[key])]] : [],
  )
  return { ...(part === undefined && value === undefined ? {} : name), ...(Object.fromEntries(parts) as object) }
}

/** attributes that are a value, and have no parts */
const simple: ReadonlySet<string> = new Set(['active', 'username', 'externalid', 'displayname'])

/** Changes what a directory says of a user. Attributes that are not stored are left out. */
const apply = (draft: Draft, change: Operation) => {
  const { person } = draft
  // what is not understood is not answered as done
  if (simple.has(change.attribute) && (change.where ?? change.part) !== undefined)
    refuse(400, 'This attribute has no parts: name it alone, such as active.', 'invalidPath')
  const value = change.op === 'remove' ? undefined : (change.value ?? undefined)
  switch (change.attribute) {
    case 'active':
      draft.active = readBoolean(value)
      break
    case 'username':
      person.userName = readText('userName', value)
      break
    case 'externalid':
      person.externalId = readText('externalId', value)
      break
    case 'displayname':
      person.displayName = readText('displayName', value)
      break
    case 'name':
      person.name = changeName(person.name, { ...change, value })
      break
    case 'emails':
      person.emails = changeEmails(person.emails ?? [], { ...change, value })
      if (person.emails.length > mostEmails) refuse(400, `A user has at most ${mostEmails} emails.`, 'invalidValue')
  }
}

const changed = (draft: Draft, operations: readonly Operation[]) => {
  for (const one of operations) apply(draft, one)
  const { userName, ...person } = draft.person
  if (userName === undefined) return refuse(400, 'userName is required.', 'invalidValue')
  return { active: draft.active, person: { userName, ...person } }
}

const present = ({ active, person, ...user }: DirectoryUser, serviceUrl: string) => ({
  schemas: [userSchema],
  id: user.id,
  ...person,
  active,
  meta: metaOf('User', user, serviceUrl),
})

const attributes: Readonly<Record<string, UserFilter[0]>> = {
  id: 'id',
  username: 'userName',
  externalid: 'externalId',
  emails: 'email',
  'emails.value': 'email',
  'emails[type eq "work"]': 'email',
  'emails[type eq "work"].value': 'email',
}
const filterOf = ([name, value]: Comparison): UserFilter => [
  Object.hasOwn(attributes, name)
    ? attributes[name]!
    : refuse(400, 'Users are found by id, userName, externalId and emails[type eq "work"].value.', 'invalidFilter'),
  value,
]
const taken = refuseDuplicate('Another user of this directory has the userName or the externalId.')

/** Serves `/Users`. */
export const usersResource = ({ directory, serviceUrl, sync }: ScimServices): Resource => {
  const shown = (user: DirectoryUser, status = 200) => ({ status, body: present(user, serviceUrl) })
  const change = async (
    issuer: string,
    id: string,
    operations: readonly Operation[],
    draftOf: (before: DirectoryUser) => Draft,
  ) => {
    const make = (before: DirectoryUser) => changed(draftOf(before), operations)
    const { after, before } = (await directory.change(issuer, id, make).catch(taken)) ?? notFound()
    const saysActive = operations.some(({ attribute }) => attribute === 'active')
    await sync.settle(issuer, after, { before, saysActive })
    return shown(after)
  }
  return serve({
    many: 'Users',
    conditionOf: filterOf,
    ids: new Set(['id']),
    list: async (issuer, filters, page) => {
      const { total, users } = await directory.list(issuer, filters, page)
      return { total, resources: users.map((user) => present(user, serviceUrl)) }
    },
    add: async (issuer, operations) => {
      const said = changed({ active: true, person: {} }, operations)
      if ((await directory.count('users', issuer)) >= mostUsers)
        refuse(403, `A directory has at most ${mostUsers} users.`)
      const user = await directory.add(issuer, said).catch(taken)
      await sync.settle(issuer, user, { saysActive: true })
      return shown(user, 201)
    },
    find: async (issuer, id) => shown((await directory.find(issuer, id)) ?? notFound()),
    // what is left out stays where it keeps the person out, or joins them with their account
    replace: (issuer, id, operations) =>
      change(issuer, id, operations, ({ active, person: { externalId } }) => ({ active, person: { externalId } })),
    patch: (issuer, id, operations) =>
      change(issuer, id, operations, ({ active, person }) => ({ active, person: { ...person } })),
    remove: async (issuer, id) => {
      // the user is there until their access has ended, so that a request after one that was interrupted ends it
      const end = ({ person }: DirectoryUser) => ({ active: false, person })
      const { after } = (await directory.change(issuer, id, end)) ?? notFound()
      await sync.leave(issuer, after)
      const removed = await directory.remove(issuer, id)
      if (removed) await sync.leave(issuer, removed)
    },
  })
}
