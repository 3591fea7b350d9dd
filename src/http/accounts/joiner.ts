import { team } from '../../commands/accounts/team.ts'
import { refuse } from '../../commands/decider.ts'
import type { Load } from '../../commands/load.ts'

/**
 * Fails where the own sign-in of an account ends: it becomes a team account, which is no member of another one. Asked
 * before the account becomes one, and again after that: of two requests at once, each notes what it does before it
 * looks for the other. `undo` then takes back what was noted.
 */
export const requireOwnSignIn = async (load: Load, person: number, undo?: () => Promise<unknown>): Promise<void> => {
  if (!(await load(team, person)).state.isTeam) return
  await undo?.()
  refuse('lacks_rights', { what: 'sign_in_ends' })
}
