import { z } from 'zod'
import type { Open } from '../openenum.ts'
import type { Scope } from './scope.ts'

/** What a member of an account may do in it. */
export const Role = z.enum(['owner', 'admin', 'editor', 'author', 'analyst', 'auditor'])
export type Role = z.output<typeof Role>

/** What a role gives: the scopes of a key, and `audit`, which reads what else only `account` may. */
export type RoleRight = Scope | 'audit'

/** What each role may do. `account` includes to manage members; only an owner makes owners, and ends them. */
export const rightsOfRoles = {
  owner: ['read', 'write', 'account'],
  admin: ['read', 'write', 'account'],
  editor: ['read', 'write'],
  author: ['read', 'write'],
  analyst: ['read'],
  auditor: ['read', 'audit'],
} as const satisfies Readonly<Record<Role, readonly RoleRight[]>>

/** Whether a role shows and changes only what its member made. */
export const isLimitedToOwn = (role: Open<Role>): boolean => role === 'author'

/** Returns what a role may do. One that only a newer release knows may do nothing here. */
export const rightsOf = (role: Open<Role>): readonly RoleRight[] =>
  Object.hasOwn(rightsOfRoles, role) ? rightsOfRoles[role as Role] : []

/** Returns the role of two that may do more; undefined counts as none. */
export const higherRole = (one: Open<Role> | undefined, other: Role): Open<Role> => {
  const rank = (role: Open<Role>) => Role.options.findIndex((known) => known === role)
  // one that only a newer release knows was given by hand
  return one !== undefined && rank(one) <= rank(other) ? one : other
}

/** Whether somebody with a role may give and take another one. */
export const mayGive = (own: Open<Role>, role: Open<Role>): boolean =>
  own === 'owner' || (own === 'admin' && role !== 'owner')
