import { account as accounts } from '../../../commands/accounts/account.ts'
import type { Account } from '../../../commands/accounts/state.ts'
import { countRevision } from '../../../commands/load.ts'
import { webhook as webhooks } from '../../../commands/webhooks/webhook.ts'
import { Unreadable } from '../../../events/codec.ts'
import type { Recorded } from '../../../events/event.ts'
import type { LogEvent } from '../../../events/index.ts'
import { ChangedByNewer, isUnknown } from '../../../events/unknown.ts'
import { continueAt, definitionOf, type Hook, isBefore } from './hook.ts'
import type { Cursor, WebhookOptions, WebhookState } from './options.ts'

/** The webhooks of the service. */
export interface Registry {
  readonly all: () => IterableIterator<Hook>
  /** Returns the webhooks that an event may concern: those of its account, or of the accounts of its clicks. */
  readonly concerned: (event: Recorded<LogEvent>) => readonly Hook[]
  readonly hasAccount: (account: number) => boolean
  readonly wantsClicks: () => boolean
  /** Reads a webhook from its stream; one that is deleted is forgotten. */
  readonly reload: (id: number) => Promise<void>
  readonly reloadAccount: (account: number) => Promise<void>
}

const hookOf = (id: number, account: number, { next, part, idle, replay, ...cursor }: Cursor): Hook => ({
  id,
  account,
  definition: undefined,
  revision: -1,
  starts: cursor.starts,
  from: undefined,
  resume: { ordinal: next, part },
  replay,
  end: undefined,
  refs: [],
  attached: false,
  scanned: undefined,
  stored: { next, part, idle, replay },
  storedScanned: undefined,
  sending: false,
  failing: cursor.failingSince
    ? { since: cursor.failingSince.getTime(), tries: cursor.tries, due: cursor.dueAt?.getTime() ?? 0 }
    : undefined,
  timer: undefined,
  acceptedBy: undefined,
})

/** Lets a webhook send from another place on. */
const beginAgain = (hook: Hook, { starts, next, part, idle, replay }: Cursor) => {
  hook.starts = starts
  hook.stored = { next, part, idle, replay }
  hook.replay = replay
  hook.end = undefined
  continueAt(hook, { ordinal: next, part })
}

/** Events of a webhook that sends nothing are read from the log afterwards. */
const detach = (hook: Hook, position: bigint) => {
  const [first] = hook.refs
  if (first) return continueAt(hook, isBefore(hook.resume, first) ? first : hook.resume)
  if (!hook.attached) return
  hook.attached = false
  hook.scanned = position
}

/** What was refused before may be accepted now. */
const forgive = async (hook: Hook, state: Pick<WebhookState, 'clearFailures'>) => {
  if (!hook.failing) return
  hook.failing = undefined
  clearTimeout(hook.timer)
  await state.clearFailures(hook.id)
}

/** Webhooks by their ids, and by their accounts. */
const createHooks = () => {
  const byId = new Map<number, Hook>()
  const byAccount = new Map<number, Set<Hook>>()
  return {
    all: () => byId.values(),
    get: (id: number) => byId.get(id),
    of: (account: number): readonly Hook[] => [...(byAccount.get(account) ?? [])],
    add: (hook: Hook) => {
      byId.set(hook.id, hook)
      const own = byAccount.get(hook.account) ?? new Set()
      byAccount.set(hook.account, own.add(hook))
      return hook
    },
    delete: (hook: Hook) => {
      byId.delete(hook.id)
      const own = byAccount.get(hook.account)
      own?.delete(hook)
      if (own?.size === 0) byAccount.delete(hook.account)
    },
  }
}

const concernedBy = (event: Recorded<LogEvent>, hooks: ReturnType<typeof createHooks>): readonly Hook[] => {
  // whose clicks they are cannot be read
  if (isUnknown(event) && event.data.type === 'LinkClicked') return [...hooks.all()]
  if (event.type !== 'LinkClicked') return hooks.of(event.metadata.account ?? 0)
  const accounts = new Set(event.data.clicks.map(({ account }) => account))
  return [...accounts].flatMap(hooks.of)
}

interface RegistryOptions extends Pick<WebhookOptions, 'handler' | 'state' | 'onProblem'> {
  /** Returns the position up to which the tail has given events to webhooks. */
  readonly position: () => bigint
  /** Called with each webhook that may have something else to send now. */
  readonly onChanged: (hook: Hook) => void
}

/** What accounts with webhooks are, until one of their events says otherwise. */
const createOwners = ({ handler }: Pick<RegistryOptions, 'handler'>) => {
  const known = new Map<number, Account['status']>()
  return {
    statusOf: async (account: number) => {
      const status = known.get(account) ?? (await handler.load(accounts, account)).state.status
      known.set(account, status)
      return status
    },
    forget: (account: number) => void known.delete(account),
  }
}

export const createRegistry = (options: RegistryOptions): Registry => {
  const { handler, state, onProblem, position, onChanged } = options
  const hooks = createHooks()
  const owners = createOwners(options)

  const drop = async (id: number) => {
    const hook = hooks.get(id)
    if (hook) {
      clearTimeout(hook.timer)
      hook.definition = undefined
      hooks.delete(hook)
      if (hooks.of(hook.account).length === 0) owners.forget(hook.account)
    }
    await state.remove([id])
  }
  /** Only a newer release knows what it sends now: until a process of that release delivers, it waits at its place. */
  const hold = async (id: number, error: unknown) => {
    const hook = hooks.get(id)
    onProblem(error, `webhook ${id} cannot be read and sends nothing; the others are not affected`)
    if (!hook) return state.hold(id)
    hook.definition = undefined
    detach(hook, position())
  }

  const load = async (id: number) => {
    const loaded = await handler.load(webhooks, id)
    const owner = loaded.state.status === 'open' ? await owners.statusOf(loaded.state.account) : 'none'
    return { loaded, owner }
  }
  const reload = async (id: number) => {
    const found = await load(id).catch((error: unknown) => {
      if (error instanceof ChangedByNewer || error instanceof Unreadable) return hold(id, error)
      throw error
    })
    if (!found) return
    const { loaded, owner } = found
    const { account, starts, from, part } = loaded.state
    if (owner !== 'active' && owner !== 'disabled') return drop(id)
    const cursor = await state.begin({ webhook: id, account, starts, next: from, part })
    const revision = countRevision(loaded.revision)
    const known = hooks.get(id)
    const hook = known ?? hooks.add(hookOf(id, account, cursor))
    if (known && known.revision !== revision) await forgive(known, state)
    if (hook.starts < cursor.starts) beginAgain(hook, cursor)
    // a log that is older than the row does not say where that beginning was
    hook.from = cursor.starts === starts ? from : undefined
    hook.revision = revision
    hook.definition = owner === 'active' ? definitionOf(loaded.state) : undefined
    if (!hook.definition) detach(hook, position())
    onChanged(hook)
  }

  return {
    all: hooks.all,
    concerned: (event) => concernedBy(event, hooks),
    hasAccount: (account) => hooks.of(account).length > 0,
    wantsClicks: () => [...hooks.all()].some(({ definition }) => definition?.clicks),
    reload,
    reloadAccount: async (account) => {
      owners.forget(account)
      for (const { id } of hooks.of(account)) await reload(id)
    },
  }
}
