import { fail } from '../errors.ts'

/**
 * Returns what begins a piece of heavy work for an account, and returns what ends it. Fails with 409 while the account
 * has one, with 503 while the process has `most`. `what` names it: `rehearsal`.
 */
export const oneAtATime = (what: 'reclassification' | 'rehearsal', most: number): ((account: number) => () => void) => {
  const running = new Set<number>()
  const later = { 'Retry-After': '5' }
  return (account) => {
    if (running.has(account)) fail(409, 'still_running', { what }, later)
    if (running.size >= most) fail(503, 'busy', { what }, later)
    running.add(account)
    return () => void running.delete(account)
  }
}
