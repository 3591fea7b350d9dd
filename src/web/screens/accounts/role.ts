import { t } from '../../core/alltexts.ts'

/** Returns the label and the rights of a role. For a role of a newer release, returns its name. */
export const roleTexts = (role: string): readonly string[] => {
  const { roles } = t().members
  return Object.hasOwn(roles, role) ? roles[role as keyof typeof roles] : [role]
}
export const roleName = (role: string): string => roleTexts(role)[0] ?? role
