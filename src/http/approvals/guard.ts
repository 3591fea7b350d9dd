import type { Known } from '../../cache/known.ts'
import { approval, type ApprovalCommand, openProposal } from '../../commands/approvals/approval.ts'
import { type Decider, fold, RevisionChanged } from '../../commands/decider.ts'
import type { Revisions } from '../../commands/handle.ts'
import { countRevision } from '../../commands/load.ts'
import { isOfItsImport } from '../../commands/links/brought.ts'
import type { LinkCommand } from '../../commands/links/link.ts'
import type { Link } from '../../commands/links/state.ts'
import { type ApprovalRules, hasRules, isStricter, keepsTags, needsApproval } from '../../events/approvals/rules.ts'
import type { DomainEvent } from '../../events/index.ts'
import { kindAt } from '../../events/kinds.ts'
import { isUsedByRuled, type Used } from '../../queries/approvals/approval.ts'
import type { Reader } from '../../queries/reader.ts'
import type { Route } from '../api/route.ts'
import type { JudgedWriter } from './judged.ts'

/** Thrown in place of a change that needs the approval of a second person. `proposal` is the number of its proposal. */
export class Proposed extends Error {
  override readonly name = 'Proposed'
  readonly proposal: number
  /** what the answer has besides the number */
  readonly details: object
  constructor(proposal: number, details: object = {}) {
    super(`proposed as ${proposal}`)
    this.proposal = proposal
    this.details = details
  }
}

/** Returns the answer to a request whose change was proposed. Throws any other error again. */
export const answerProposed = (error: unknown) => {
  if (!(error instanceof Proposed)) throw error
  const { proposal, details } = error
  return { ...details, proposal, message: 'The change waits for the approval of a second person.' }
}
/** Whether an answer is that of `answerProposed`. */
export const isProposed = (answer: object): boolean => 'proposal' in answer && typeof answer.proposal === 'number'

/** Kinds of resources whose changes may have to be approved, by what links use them as. */
const used: Readonly<Record<string, (id: number) => Used>> = {
  domain: (id) => ({ domain: id }),
  splash: (id) => ({ type: `splash-${id}` }),
  overlay: (id) => ({ type: `overlay-${id}` }),
  pixel: (id) => ({ pixel: id }),
}
const ruled: ReadonlySet<string> = new Set(['link', ...Object.keys(used)])

/** Fields of a link that visitors never see. */
const inner = new Set(['notes', 'campaign', 'archived', 'tags'])
/** Returns what visitors meet at a link, to be compared. */
const answering = ({ status, fields, password, places }: Link) =>
  JSON.stringify([
    status,
    password,
    places?.others,
    Object.entries(fields).filter(([name, value]) => !inner.has(name) && value !== undefined),
  ])

/** Routes that change something else, or bring back a domain that was deleted. */
const others: ReadonlySet<string> = new Set(['put /api/account/approval', 'post /api/domain/add'])
/** Whether what a route does may have to wait for an approval. */
export const mayWait = ({ method, path }: Pick<Route, 'method' | 'path'>) => {
  const [, of = ''] =
    /^\/api\/([a-z]+)\/:id\/(?:update|delete|restore|addresses|address\/:address\/delete)$/.exec(path) ?? []
  return ruled.has(kindAt(of) ?? '') || others.has(`${method} ${path}`)
}

/** Whether a link gets an address by the import that makes it: a new link needs no approval. */
const isAddressOfImport = (kind: string, command: unknown, before: unknown) => {
  if (kind !== 'link') return false
  const asked = command as LinkCommand
  return asked.type === 'AddAddress' && isOfItsImport(asked.token, before as Link)
}

interface Change<S> {
  readonly before: S
  readonly after: S
}

export interface GuardSources {
  readonly reader: Reader
  readonly rules: Pick<Known<[number], ApprovalRules | undefined>, 'find'>
}

/** Returns whether a change of a resource needs an approval. */
const isRuled = async (
  { reader }: GuardSources,
  rules: ApprovalRules,
  { kind, id, account }: { readonly kind: string; readonly id: number; readonly account: number },
  { before, after }: Change<unknown>,
): Promise<boolean> => {
  if (kind === 'link') {
    const [was, is] = [before as Link, after as Link]
    const now = new Date().toISOString()
    if (!needsApproval(rules, was, now)) return false
    return answering(was) !== answering(is) || !keepsTags(rules, { before: was, after: is })
  }
  if (kind === 'domain' && rules.domains.includes(id)) return true
  const use = used[kind]
  return use !== undefined && isUsedByRuled(reader, account, rules, use(id))
}

/** Who proposes: a member, under a condition of the request on the revision. */
interface Proposer {
  readonly account: number
  readonly member: number
  readonly allowed: Revisions
}

/** Returns a writer that stores a proposal for each change that needs an approval, and throws `Proposed`. */
export const guardedWriter = <W extends JudgedWriter>(
  writer: W,
  { account, member, allowed }: Proposer,
  sources: GuardSources,
): W => {
  let unwritten = allowed
  const propose = async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C, revision: number) => {
    if (unwritten && !unwritten.includes(revision)) throw new RevisionChanged(revision)
    const proposed = {
      kind: decider.kind,
      target: Number(decider.id(command)),
      revision,
      member,
      command: command as Readonly<Record<string, unknown>>,
    }
    const { state } = await writer.write(approval, { type: 'Propose', id: account, ...proposed })
    throw new Proposed(openProposal(state, proposed) ?? state.last)
  }
  /** The same for new rules: by those of the log, which the tables may not have yet. */
  const guardRules = async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C) => {
    const asked = command as unknown as ApprovalCommand
    if (asked.type !== 'SetRules') return undefined
    const { state, revision } = await writer.load(approval, account)
    if (!isStricter(state.rules, asked.rules)) await propose(decider, { ...command, from: state.rules }, 0)
    return countRevision(revision)
  }
  /** Proposes a change that needs an approval. Returns the revision of which it was found to need none. */
  const guard = async <C, S, E extends DomainEvent>(decider: Decider<C, S, E>, command: C) => {
    const { kind } = decider
    if (kind === approval.kind) return guardRules(decider, command)
    if (!ruled.has(kind)) return
    const rules = await sources.rules.find(account)
    if (!rules || !hasRules(rules)) return
    // a check of DNS decides that
    if ((command as { readonly type: string }).type === 'VerifyDomain') return
    const { state: before, revision } = await writer.load(decider, decider.id(command))
    const events = decider.decide(command, before)
    const judged = countRevision(revision)
    if (events.length === 0 || isAddressOfImport(kind, command, before)) return judged
    const after = fold(decider, events, before)
    const about = { kind, id: Number(decider.id(command)), account }
    if (await isRuled(sources, rules, about, { before, after })) await propose(decider, command, judged)
    return judged
  }
  return {
    ...writer,
    write: async (decider, command) => {
      const handled = await writer.write(decider, command, () => guard(decider, command))
      unwritten = undefined
      return handled
    },
  }
}
