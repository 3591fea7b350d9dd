import { z } from 'zod'
import type { Open } from '../openenum.ts'
import type { Scope } from './scope.ts'

/** What a member of an account may do in it. */
export const Role = z.enum(['owner', 'admin', 'editor', 'author', 'analyst', 'auditor'])
export type Role = z.output<typeof Role>

/** A right that a role gives: a scope of a key, or `audit`, which reads what otherwise needs `account`. */
export type RoleRight = Scope | 'audit'

/** The rights of each role. `account` includes managing members; only an owner can add or remove owners. */
export const rightsOfRoles = {
  owner: ['read', 'write', 'account'],
  admin: ['read', 'write', 'account'],
  editor: ['read', 'write'],
  author: ['read', 'write'],
  analyst: ['read'],
  auditor: ['read', 'audit'],
} as const satisfies Readonly<Record<Role, readonly RoleRight[]>>

/** Whether a role shows and changes only the member's own work. */
export const isLimitedToOwn = (role: Open<Role>): boolean => role === 'author'

/** Returns the rights of a role. A role that only a newer release knows has none here. */
export const rightsOf = (role: Open<Role>): readonly RoleRight[] =>
  Object.hasOwn(rightsOfRoles, role) ? rightsOfRoles[role as Role] : []

/** Returns the role with more rights; undefined counts as none. */
export const higherRole = (one: Open<Role> | undefined, other: Role): Open<Role> => {
  const rank = (role: Open<Role>) => Role.options.findIndex((known) => known === role)
  // a role that only a newer release knows was given by hand
  return one !== undefined && rank(one) <= rank(other) ? one : other
}

/** Whether a member with a role may give and take another role. */
export const mayGive = (own: Open<Role>, role: Open<Role>): boolean =>
  own === 'owner' || (own === 'admin' && role !== 'owner')
