import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { v5 as uuid } from 'uuid'
import type { Quotas } from '../../../cache/quotas.ts'
import type { PendingStreams } from '../../../cache/pending.ts'
import type { Progress } from '../../../cache/progress.ts'
import { type Decider, streamOf } from '../../../commands/decider.ts'
import { requireCredential } from '../../../commands/accounts/credential.ts'
import type { Credentials } from '../../../security/credential.ts'
import type { Handler, NextId, NextIds, Revisions } from '../../../commands/handle.ts'
import type { Handled } from '../../../commands/context.ts'
import { countRevision, type Load } from '../../../commands/load.ts'
import type { DomainEvent } from '../../../events/index.ts'
import { parseStreamId, streamId } from '../../../events/streams.ts'
import type { Execution } from '../../../security/idempotency.ts'
import type { Call, Who, Writer } from '../route.ts'
import { guardedWriter, type GuardSources } from '../../approvals/guard.ts'
import { asJudged, type JudgedWriter } from '../../approvals/judged.ts'
import { ownMember } from '../../../events/accounts/team.ts'
import { limitedWriter, limitOf } from '../limits/part.ts'
import { timed } from '../timing.ts'

export interface WriterOptions extends GuardSources {
  readonly handler: Handler
  /** the streams whose changes are not in the tables yet */
  readonly pending: PendingStreams
  readonly nextId: NextIds
  /** what an account may have of each kind of resource */
  readonly quotas: Quotas
  readonly progress: Progress
  /** A write is stored but not projected yet: other processes must be notified. */
  readonly onPending: (stream: string, position: bigint) => void
}

/** ms until a stream counts as pending */
const pendingAfter = 40
/** the same for a resource that the client does not know of before the answer: others read nothing of it meanwhile */
const newPendingAfter = 1000
/** ms until a write is answered although it is not projected yet */
const timeoutMs = 2000

/** Waits until the changes of streams are in the read tables. Those that are not there soon count as pending. */
export const projected = async (
  ctx: Context,
  streams: readonly string[],
  position: bigint,
  { progress, onPending }: Pick<WriterOptions, 'progress' | 'onPending'>,
  after = pendingAfter,
): Promise<void> => {
  const isShown = (stream: string) => progress.shows(stream, position)
  const wait = (ms: number) => timed(ctx, 'project', () => progress.wait(position, ms))
  const reached = await wait(after)
  const hidden = streams.filter((stream) => !isShown(stream))
  for (const stream of hidden) onPending(stream, position)
  if (!reached) await wait(timeoutMs - after)
  if (!hidden.every(isShown)) ctx.set('X-Projection-Pending', '1')
}

/** Returns who causes what a caller writes. */
export const actorOf = (who: Who | undefined) => {
  if (who === undefined) return { kind: 'visitor' } as const
  const isMember = who.member !== undefined && who.member.number !== ownMember
  const by = isMember && { member: who.member.number, role: who.member.role }
  return who.key === undefined ? ({ kind: 'session', ...by } as const) : ({ kind: 'key', key: who.key, ...by } as const)
}

/** How a request writes. */
export interface Writing {
  /** the revisions that its first write may change */
  readonly allowed?: Revisions
  /** the execution under its Idempotency-Key */
  readonly execution?: Execution | undefined
}

/**
 * Returns the ids of a request's commands. Under an Idempotency-Key they follow from the key and from what the command
 * is for, so that what a crash has interrupted is recognised in the log.
 */
export const commandIds = (execution: Execution | undefined, part: string) => {
  const used = new Map<string, number>()
  return (what: string) => {
    const n = used.get(what) ?? 0
    used.set(what, n + 1)
    const name = `${part}${what} ${n}`
    return { name, id: execution ? uuid(name, execution.command) : randomUUID() }
  }
}

/**
 * Draws ids for one thing that a request creates. Those of an earlier execution are used again, new ones are stored
 * before they are used.
 */
const drawing =
  (name: string, nextId: NextId, { drawn, draw, hold }: Execution): NextId =>
  async (past) => {
    const known = past === undefined ? drawn(name) : undefined
    if (known !== undefined) return hold().then(() => known)
    const id = await nextId(past)
    await draw(name, id)
    return id
  }

/** Returns a resource if the command has created it. */
const createdBy = async <C, S, E extends DomainEvent>(
  load: Load,
  decider: Decider<C, S, E>,
  id: number,
  command: string,
): Promise<(Handled<S, E> & { readonly id: number }) | undefined> => {
  const loaded = await load(decider, id)
  if (loaded.createdBy !== command) return undefined
  return { id, state: loaded.state, events: [], position: loaded.position, revision: countRevision(loaded.revision) }
}

/** Returns `created` of a writer. */
const findingCreated =
  (load: Load, execution: Execution | undefined, part: string): Writer['created'] =>
  async (kind, decider) => {
    const commandId = commandIds(execution, part)
    for (;;) {
      const { name, id } = commandId(kind)
      const drawn = execution?.resumed ? execution.drawn(name) : undefined
      if (drawn === undefined) return undefined
      const found = await createdBy(load, decider, drawn, id)
      if (found) return found
    }
  }

/** Returns what binds a request to a credential, and what it has to require of its account from then on. */
const createBinding = (who: Who | undefined) => {
  let bound = who?.credential && { account: who.person ?? who.account, credential: who.credential }
  return {
    bindTo: (account: number, hash: string | null) =>
      void (bound = { account, credential: { kind: 'password', hash } }),
    requiresFor: (stream: string) => {
      if (!bound || stream !== streamId('account', bound.account)) return undefined
      const requires = requireCredential(bound.credential)
      return (state: unknown) => requires(state as Credentials)
    },
  }
}

/** Returns what waits until a change is in the read tables. */
const waitingUntilShown =
  (ctx: Context, options: WriterOptions) =>
  async <H extends Handled<unknown, unknown>>(stream: string, handled: H, after?: number): Promise<H> => {
    // statistics have a subscription of their own
    if (parseStreamId(stream).kind === 'reclassification') return handled
    await projected(ctx, [stream], handled.position, options, after)
    return handled
  }

type BoundWriter = JudgedWriter & Pick<Call, 'bindTo'>

/** Returns the writer of a caller who may change all of the account. */
const wholeWriter = (
  ctx: Context,
  who: Who | undefined,
  options: WriterOptions,
  { allowed, execution }: Writing,
  part: string,
): BoundWriter => {
  const { handler, nextId, quotas } = options
  const [account, resumed] = [who?.account ?? 0, execution?.resumed ?? false]
  const commandId = commandIds(execution, part)
  let unwritten = allowed
  const { bindTo, requiresFor } = createBinding(who)
  const context = (account: number, command: string) => ({
    account,
    actor: actorOf(who),
    request: String(ctx.state['request']),
    command,
    at: new Date().toISOString(),
  })
  const shown = waitingUntilShown(ctx, options)
  return {
    account,
    load: handler.load,
    write: async (decider, command, judge) => {
      const stream = streamOf(decider, command)
      const [revisions, requires] = [unwritten, requiresFor(stream)]
      unwritten = undefined
      const owner = who || decider.kind !== 'account' ? account : Number(decider.id(command))
      const own = context(owner, commandId(stream).id)
      await execution?.hold()
      const handle = async (given: Revisions) =>
        handler.handle(decider, command, own, { revisions: given, requires, resumed })
      // what was done is not judged again: by now the same command would do nothing, or something else
      const done = resumed ? await handler.outcome(decider, command, own.command) : undefined
      return shown(stream, done ?? (await asJudged(judge, revisions, handle)))
    },
    bindTo,
    create: async (kind, decider, make) => {
      const { name, id: command } = commandId(kind)
      const own = context(0, command)
      const drawn = resumed ? execution?.drawn(name) : undefined
      const before = drawn === undefined ? undefined : await createdBy(handler.load, decider, drawn, command)
      if (before) return shown(streamOf(decider, make(before.id)), before)
      const end = kind === 'account' ? () => {} : await quotas.reserve(account, kind)
      const next = execution ? drawing(name, nextId[kind], execution) : nextId[kind]
      const handled = await handler
        .create(decider, next, make, (id) => ({ ...own, account: kind === 'account' ? id : (who?.account ?? id) }))
        .catch((error: unknown) => {
          end()
          throw error
        })
      end(handled.position)
      return shown(streamOf(decider, make(handled.id)), handled, newPendingAfter)
    },
    created: findingCreated(handler.load, execution, part),
    part: (n, only) => writer(ctx, who, options, { execution, ...(only && { allowed: only }) }, `${part}row ${n} `),
  }
}

/**
 * Appends as the caller, then waits until the write is in the read tables; after two seconds it sets
 * `X-Projection-Pending`. For a halted projection it does not wait.
 */
export const writer = (
  ctx: Context,
  who: Who | undefined,
  options: WriterOptions,
  writing: Writing = {},
  part = '',
): BoundWriter => {
  const whole = wholeWriter(ctx, who, options, writing, part)
  if (!who) return whole
  const proposer = { account: who.account, member: who.member?.number ?? ownMember, allowed: writing.allowed }
  const guarded = guardedWriter(whole, proposer, options)
  const made = limitOf(who)
  return made ? limitedWriter(guarded, made, options) : guarded
}
