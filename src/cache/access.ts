import { approval } from '../commands/approvals/approval.ts'
import type { Handler } from '../commands/handle.ts'
import type { ApprovalRules } from '../events/approvals/rules.ts'
import { streamId } from '../events/streams.ts'
import { batch } from '../lib/async/batch.ts'
import { Behind } from '../lib/unavailable.ts'
import { findKeys, type KeyRow } from '../queries/accounts/key.ts'
import { findMembership, type Membership } from '../queries/accounts/member.ts'
import { findRules } from '../queries/approvals/approval.ts'
import type { Reader } from '../queries/reader.ts'
import { type Auth, openAuth } from './auth.ts'
import { foldKey, foldMembership } from './fold.ts'
import { type Known, openKnown } from './known.ts'
import type { PendingStreams } from './pending.ts'

/** The roles of people in accounts other than their own, by account and person; undefined: not a member. */
export type Members = Known<[number, number], Membership | undefined>

/** Which callers may act in which account, by a key or as a member, and which changes need an approval there. */
export interface Access {
  readonly auth: Auth
  readonly members: Members
  readonly rules: Known<[number], ApprovalRules | undefined>
  /** Invalidates what is cached about accounts and the people who sign in to them. */
  readonly forget: (accounts: readonly number[]) => void
  readonly forgetAll: () => void
}

export interface AccessOptions {
  readonly handler: Handler
  readonly reader: Reader
  /** key of the hashes of API keys */
  readonly pepper: Buffer
  readonly pending: Pick<PendingStreams, 'has' | 'any'>
}

/** Reads from the tables, or from the log while a change of access is not projected yet. */
export const openAccess = ({ handler, reader, pepper, pending }: AccessOptions): Access => {
  const isPending = (account: number, person: number | null) =>
    pending.has(streamId('account', account)) ||
    pending.has(streamId('team', account)) ||
    (person !== null && pending.has(streamId('account', person)))

  // made-up keys arrive faster than single look-ups can answer them
  const findKey = batch<string, KeyRow | undefined>(500, (keys) => findKeys(reader, keys))
  const auth = openAuth(pepper, async (key) => {
    const found = await findKey(key)
    // an ended key must not work until the tables show its end
    if (found && isPending(found.account, found.person)) return foldKey(handler, found.account, key)
    // the account may not be projected yet: respond 503, not 401
    if (!found && pending.any('account-')) throw new Behind('an account is not projected yet')
    return found
  })
  const members: Members = openKnown((account, person) =>
    isPending(account, person) ? foldMembership(handler, account, person) : findMembership(reader, account, person),
  )
  const rules: Access['rules'] = openKnown(async (account) => {
    if (!pending.has(streamId('approval', account))) return findRules(reader, account)
    return (await handler.load(approval, account)).state.rules
  })
  const all = [auth, members, rules]
  return {
    auth,
    members,
    rules,
    forget: (accounts) => all.forEach((one) => one.forget(accounts)),
    forgetAll: () => all.forEach((one) => one.forgetAll()),
  }
}
