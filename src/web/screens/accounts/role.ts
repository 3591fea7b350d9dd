import { t } from '../../core/alltexts.ts'

/** Returns what a role is called, and what it may do; of one that only a newer release knows, its name. */
export const roleTexts = (role: string): readonly string[] => {
  const { roles } = t().members
  return Object.hasOwn(roles, role) ? roles[role as keyof typeof roles] : [role]
}
export const roleName = (role: string): string => roleTexts(role)[0] ?? role
