import {
  type ChangedGroup,
  type FoundGroup,
  type GroupCondition,
  type SavedGroup,
  type StoredGroup,
  UnknownMember,
} from '../../security/directory.ts'
import { type Comparison, isObject, lowered, type Operation, readText } from './parse.ts'
import { isId, metaOf, notFound, refuse, refuseDuplicate, type Resource, type ScimServices } from './resource.ts'
import { serve } from './serve.ts'

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
/** groups of a directory */
const mostGroups = 1000

interface Draft {
  name: string | undefined
  external: string | undefined
  members: Set<string>
}

const unknown = (): never => refuse(400, 'Members must be ids of users of this directory.', 'invalidValue')
const readMembers = (value: unknown): readonly string[] =>
  [value ?? []].flat().map((one: unknown) => {
    const id = isObject(one) ? lowered(one)['value'] : one
    return isId(id) ? id.toLowerCase() : unknown()
  })

/** Changes the member whom a path names: `members[value eq "..."]`. */
const changeMember = ({ members }: Draft, [name, id]: Comparison, { op, value }: Operation) => {
  if (name !== 'value') refuse(400, 'Members are found by their value.', 'invalidFilter')
  const [one = ''] = readMembers(id)
  if (op === 'add') return void members.add(one)
  if (op === 'remove') return void members.delete(one)
  if (!members.delete(one)) refuse(400, 'The group has no such member.', 'noTarget')
  for (const next of readMembers(value)) members.add(next)
}

const changeMembers = (draft: Draft, operation: Operation) => {
  const { op, part, value, where } = operation
  // what members are called is not stored
  if (part !== undefined && part !== 'value') return
  if (where) return changeMember(draft, where, operation)
  if (part !== undefined) refuse(400, 'The path must say whose value: members[value eq "..."].', 'noTarget')
  // a removal that names members must not remove all, and a change that names none must not either
  if (op === 'remove' && value === undefined) return draft.members.clear()
  if (value === undefined || (op === 'remove' && value === null)) unknown()
  const named = readMembers(value)
  if (op === 'remove') for (const one of named) draft.members.delete(one)
  else if (op === 'add') for (const one of named) draft.members.add(one)
  else draft.members = new Set(named)
}

const changed = (draft: Draft, operations: readonly Operation[]): SavedGroup => {
  for (const one of operations) {
    const value = one.op === 'remove' ? undefined : one.value
    if (one.attribute === 'displayname') draft.name = readText('displayName', value)
    else if (one.attribute === 'externalid') draft.external = readText('externalId', value)
    else if (one.attribute === 'members') changeMembers(draft, one)
  }
  const { name, external = null, members } = draft
  return name === undefined ? refuse(400, 'displayName is required.', 'invalidValue') : { name, external, members }
}
const draftOf = ({ name, external, members }: FoundGroup): Draft => ({
  name,
  external: external ?? undefined,
  members: new Set(members),
})

const present = (
  { external, name, ...group }: StoredGroup & { readonly members?: ReadonlySet<string> },
  serviceUrl: string,
) => ({
  schemas: [groupSchema],
  id: group.id,
  ...(external !== null && { externalId: external }),
  displayName: name,
  ...(group.members && {
    members: [...group.members].map((value) => ({ value, $ref: `${serviceUrl}/scim/v2/Users/${value}`, type: 'User' })),
  }),
  meta: metaOf('Group', group, serviceUrl),
})

const attributes: Readonly<Record<string, GroupCondition[0]>> = {
  id: 'id',
  displayname: 'name',
  externalid: 'external',
  members: 'member',
  'members.value': 'member',
}
const conditionOf = ([name, value]: Comparison): GroupCondition => [
  Object.hasOwn(attributes, name)
    ? attributes[name]!
    : refuse(400, 'Groups are found by id, displayName, externalId and members.', 'invalidFilter'),
  value,
]
const duplicate = refuseDuplicate('Another group of this directory has the displayName.')
const taken = (error: unknown): never => (error instanceof UnknownMember ? unknown() : duplicate(error))
const namesOf = (group: StoredGroup | undefined) => (group ? [group.name, group.external ?? group.name] : [])

/** Serves `/Groups`. */
export const groupsResource = ({ directory, serviceUrl, sync }: ScimServices): Resource => {
  const { groups } = directory
  const settle = async ({ accounts, after, before }: ChangedGroup) => {
    await sync.regroup(accounts, [...namesOf(before), ...namesOf(after)])
    return { status: 200, body: present(after, serviceUrl) }
  }
  const change = async (issuer: string, id: string, make: (before: FoundGroup) => SavedGroup) =>
    settle((await groups.change(issuer, id, make).catch(taken)) ?? notFound())
  return serve({
    many: 'Groups',
    conditionOf,
    ids: new Set(['id', 'member']),
    list: async (issuer, conditions, page) => {
      const { total, rows } = await groups.list(issuer, conditions, page)
      return { total, resources: rows.map((group) => present(group, serviceUrl)) }
    },
    add: async (issuer, operations) => {
      const group = changed({ name: undefined, external: undefined, members: new Set() }, operations)
      if ((await directory.count('groups', issuer)) >= mostGroups)
        refuse(403, `A directory has at most ${mostGroups} groups.`)
      return { ...(await settle(await groups.add(issuer, group).catch(taken))), status: 201 }
    },
    find: async (issuer, id, query) => {
      const { members, ...group } = (await groups.find(issuer, id)) ?? notFound()
      const isExcluded = query('excludedAttributes').toLowerCase().split(',').includes('members')
      return { status: 200, body: present(isExcluded ? group : { ...group, members }, serviceUrl) }
    },
    replace: (issuer, id, operations) =>
      change(issuer, id, ({ external }) =>
        changed({ name: undefined, external: external ?? undefined, members: new Set() }, operations),
      ),
    patch: async (issuer, id, operations) => {
      await change(issuer, id, (before) => changed(draftOf(before), operations))
      return { status: 204 }
    },
    remove: async (issuer, id) => {
      const group = (await groups.find(issuer, id)) ?? notFound()
      await sync.regroup((await groups.remove(issuer, id)) ?? notFound(), namesOf(group))
    },
  })
}
