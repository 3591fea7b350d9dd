import { approval, type Approvals, type Proposal } from '../../commands/approvals/approval.ts'
import { type Decider, fold, refuse } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { countRevision } from '../../commands/load.ts'
import type { Link } from '../../commands/links/state.ts'
import type { ApprovalRules } from '../../events/approvals/rules.ts'
import type { Actor } from '../../events/event.ts'
import type { DomainEvent, Event } from '../../events/index.ts'
import { isResource } from '../../events/kinds.ts'
import { changesBetween, type Fields, type OriginOf } from '../history/fields.ts'
import { histories } from '../history/kinds.ts'
import { isOtherSince } from './uses.ts'

/** The decider of any kind of resource. */
export type AnyDecider = Decider<object, unknown, DomainEvent>

/** A pending proposal, with its command. */
export interface Waiting extends Proposal {
  readonly decider: AnyDecider
  readonly command: object
  /** the sender of the command, and their key */
  readonly actor: Actor
  /** position of the proposal in the log */
  readonly position: bigint
}

/** Returns the decider of a kind of resource that can have proposals. */
export const deciderOf = (kind: string): AnyDecider =>
  (isResource(kind) ? histories[kind].decider : approval) as unknown as AnyDecider

/** Returns a proposal that is open in a state of the approvals of an account. Throws `Refused` (`not_found`). */
export const proposalIn = async (
  handler: Pick<Handler, 'steps'>,
  { open }: Approvals,
  { account, number }: { readonly account: number; readonly number: number },
): Promise<Waiting> => {
  const proposal = open[number] ?? refuse('not_found', { what: 'proposal' })
  const { at, kind } = proposal
  for await (const { event } of handler.steps(approval, account, { from: at, upTo: at })) {
    const { data, metadata } = event as unknown as Event<'ChangeProposed'> & { readonly metadata: { actor: Actor } }
    // null for an erased account, which has no requests
    const command = { ...data.command, now: new Date().toISOString() }
    return { ...proposal, decider: deciderOf(kind), command, actor: metadata.actor, position: event.position }
  }
  return refuse('not_found', { what: 'proposal' })
}

/** Returns a pending proposal. Throws `Refused` (`not_found`). */
export const waitingProposal = async (
  handler: Pick<Handler, 'load' | 'steps'>,
  account: number,
  number: number,
): Promise<Waiting> => proposalIn(handler, (await handler.load(approval, account)).state, { account, number })

interface Change {
  readonly before: Link
  readonly after: Link
}

/** Returns the present effect of a proposal on its resource. Throws `Refused` where it would be refused. */
export const effectOf = async ({ load }: Pick<Handler, 'load'>, waiting: Waiting) => {
  const { decider, target, command, revision, position } = waiting
  const { state: before, revision: now } = await load(decider, target)
  const events = decider.decide(command, before)
  // the rules compare themselves with the rules of the decision
  const after = fold(decider, events, before)
  const isChanged = decider.kind !== approval.kind && countRevision(now) !== revision
  const isOther = decider.kind === 'link' && (await isOtherSince(load, { before, after } as Change, position))
  return { before, after, isStale: isChanged || isOther }
}

/** Returns what a proposal would make. Throws `Refused` unless it still can: `stale` once its resource has changed. */
export const requireCurrent = async (handler: Pick<Handler, 'load'>, waiting: Waiting) => {
  const effect = await effectOf(handler, waiting)
  if (effect.isStale) refuse('stale')
  return effect
}

const fieldsOf = (kind: string, state: unknown, originOf: OriginOf): Fields => {
  if (!isResource(kind)) return { ...(state as { readonly rules: ApprovalRules }).rules }
  return histories[kind].fields(state, originOf)
}

/** Returns the differences between two states of a resource, by its kind. */
export const changesOf = (
  kind: string,
  { before, after }: { readonly before: unknown; readonly after: unknown },
  originOf: OriginOf,
) => changesBetween(fieldsOf(kind, before, originOf), fieldsOf(kind, after, originOf))
