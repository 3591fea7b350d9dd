import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ApprovalEvent } from '../../events/approvals/approval.ts'
import { type ApprovalRules, noRules } from '../../events/approvals/rules.ts'
import { type CommandOf, decideBy, type Decider, refuse } from '../decider.ts'

/** A change that waits for a second person. */
export interface Proposal {
  readonly kind: string
  /** the id of the resource */
  readonly target: number
  /** the revision of the resource that it was made on */
  readonly revision: number
  /** the number of the member who proposed it */
  readonly member: number
  /** a digest of its command; missing where that cannot be read any more */
  readonly digest?: string
  /** the revision of its newest approval, until it is applied */
  readonly approved?: number
  /** the revision of the event that has its command */
  readonly at: number
}
export interface Approvals {
  readonly rules: ApprovalRules
  /** by number */
  readonly open: Readonly<Record<string, Proposal>>
  readonly last: number
  /** number of events so far */
  readonly seen: number
}

/** pending changes of an account */
const mostProposals = 1000
/** pending changes of one member, so that one member cannot block the others */
const mostOfOne = 500

/** `id` is that of the account. */
export type ApprovalCommand =
  | {
      readonly type: 'SetRules'
      readonly id: number
      readonly rules: ApprovalRules
      /** the rules that the decision was based on; undefined: any */
      readonly from?: ApprovalRules
    }
  | ({
      readonly type: 'Propose'
      readonly id: number
      readonly command: Readonly<Record<string, unknown>>
    } & Omit<Proposal, 'approved' | 'at' | 'digest'>)
  | {
      readonly type: 'Approve'
      readonly id: number
      readonly number: number
      readonly member: number
      readonly note?: string | undefined
    }
  | { readonly type: 'Apply'; readonly id: number; readonly number: number }
  | {
      readonly type: 'Refuse'
      readonly id: number
      readonly number: number
      readonly member: number
      readonly note?: string | undefined
      /** whether the member who proposed it refuses it */
      readonly own?: boolean
      /** whether the resource has changed meanwhile */
      readonly stale?: true
      /** the newest approval that was found, if no request makes its change any more */
      readonly unmade?: number | undefined
    }

type Decision<T> = (command: CommandOf<ApprovalCommand, T>, state: Approvals) => readonly ApprovalEvent[]

const found = ({ open }: Approvals, number: number): Proposal =>
  open[number] ?? refuse('not_found', { what: 'proposal' })
const noted = (note: string | undefined) => (note ? { note } : {})
const copied = ({ tags, domains, live }: ApprovalRules) => ({ tags: [...tags], domains: [...domains], live })

const setRules: Decision<'SetRules'> = ({ id, rules, from }, { rules: before }) => {
  if (from && !isDeepStrictEqual(from, before)) refuse('stale', { what: 'rules' })
  if (isDeepStrictEqual(rules, before)) return []
  return [{ type: 'ApprovalRulesSet', data: { id, ...copied(rules) } }]
}

/** Each request draws a token of its own for the address that it wants. */
const digestOf = ({ token: _, ...change }: Readonly<Record<string, unknown>>) =>
  createHash('sha256').update(JSON.stringify(change)).digest('base64url')

/** Returns the number of the open proposal of the same change of the same revision by the same member. */
export const openProposal = (
  { open }: Approvals,
  { kind, target, revision, member, command }: Omit<CommandOf<ApprovalCommand, 'Propose'>, 'type' | 'id'>,
): number | undefined => {
  const asked = { kind, target, revision, member, digest: digestOf(command) }
  const found = Object.entries(open).find(([, { at: _, approved: __, ...one }]) => isDeepStrictEqual(one, asked))
  return found && Number(found[0])
}

const propose: Decision<'Propose'> = ({ type: _, id, ...asked }, state) => {
  if (openProposal(state, asked)) return []
  const { open, last } = state
  const { kind, target, revision, member, command } = asked
  const waiting = Object.values(open)
  if (waiting.filter((one) => one.member === member).length >= mostOfOne)
    refuse('too_many', { what: 'own_proposals', max: mostOfOne })
  if (waiting.length >= mostProposals) refuse('too_many', { what: 'proposals', max: mostProposals })
  const proposed = { id, number: last + 1, kind, target, revision, member, command: { ...command } }
  return [{ type: 'ChangeProposed', data: proposed }]
}

const approve: Decision<'Approve'> = ({ id, number, member, note }, state) => {
  const proposal = found(state, number)
  if (proposal.member === member) refuse('lacks_rights', { what: 'own_proposal' })
  // also a change that is approved already: who refuses it must learn that a request is at work on it again
  return [{ type: 'ChangeApproved', data: { id, number, member, ...noted(note) } }]
}

const apply: Decision<'Apply'> = ({ id, number }, { open }) =>
  open[number] ? [{ type: 'ChangeApplied', data: { id, number } }] : []

/** A member may withdraw their own proposal, until it is approved. One whose change no request makes can be refused. */
const refuseChange: Decision<'Refuse'> = ({ id, number, member, note, own, stale, unmade }, state) => {
  const proposal = found(state, number)
  if (proposal.approved !== unmade && !stale) refuse('stale', { what: 'approved' })
  const why = stale ? 'stale' : (own ?? proposal.member === member) ? 'withdrawn' : 'refused'
  return [{ type: 'ChangeRefused', data: { id, number, member, ...noted(note), why } }]
}

/** Decides which changes need the approval of a second person, and on pending ones. */
export const approval: Decider<ApprovalCommand, Approvals, ApprovalEvent> = {
  kind: 'approval',
  version: 2,
  id: ({ id }) => id,
  initialState: { rules: noRules, open: {}, last: 0, seen: 0 },
  decide: decideBy<ApprovalCommand, Approvals, ApprovalEvent>({
    SetRules: setRules,
    Propose: propose,
    Approve: approve,
    Apply: apply,
    Refuse: refuseChange,
  }),
  evolve: (before, { type, data }) => {
    const at = before.seen
    const state = { ...before, seen: at + 1 }
    switch (type) {
      case 'ApprovalRulesSet': {
        const { id: _, ...rules } = data
        return { ...state, rules }
      }
      case 'ChangeProposed': {
        const { number, kind, target, revision, member, command } = data
        const proposal = { kind, target, revision, member, ...(command && { digest: digestOf(command) }), at }
        return { ...state, open: { ...state.open, [number]: proposal }, last: number }
      }
      case 'ChangeApproved': {
        const proposal = state.open[data.number]
        return proposal ? { ...state, open: { ...state.open, [data.number]: { ...proposal, approved: at } } } : state
      }
      case 'ChangeApplied':
      case 'ChangeRefused': {
        const { [data.number]: _, ...open } = state.open
        return { ...state, open }
      }
    }
  },
}
