import type { Handler } from '../../../commands/handle.ts'
import type { Ordinals } from '../../../events/ordinals.ts'
import type { EventStore } from '../../../events/store.ts'
import type { GuardedPost } from '../../../lib/post.ts'
import type { StoredPlace } from './hook.ts'
import type { Presenter } from './message.ts'

/** The stored cursor of a webhook: see `state.webhooks`. */
export interface Cursor extends StoredPlace {
  readonly starts: number
  readonly failingSince: Date | null
  readonly tries: number
  readonly dueAt: Date | null
}
/** An attempt to deliver a message, as its owner sees it. */
export interface Attempt {
  readonly webhook: number
  readonly account: number
  readonly message: string
  readonly type: string
  readonly ordinal: number | null
  readonly try: number
  readonly status: number | null
  readonly ms: number
  readonly delivered: boolean
  readonly problem: string
  readonly excerpt: string
}

/** What is stored of webhooks outside of the log. */
export interface WebhookState {
  /**
   * Makes this process the one that delivers. Returns the ordinal of the next event for webhooks, undefined at the
   * first start.
   */
  readonly lead: () => Promise<number | undefined>
  readonly withCursor: () => Promise<readonly number[]>
  /** Returns the webhooks whose last attempt was accepted. */
  readonly accepted: () => Promise<ReadonlySet<number>>
  /** Returns the cursor of a webhook. One that is new, or begins again, starts at `next`. */
  readonly begin: (webhook: {
    readonly webhook: number
    readonly account: number
    readonly starts: number
    readonly next: number
    /** it goes on where it was after this part; `next`: where that was at least, if it is not stored */
    readonly part?: { readonly until: number; readonly next: number } | undefined
  }) => Promise<Cursor>
  /** Keeps the place of a webhook that this process cannot read, while the others go on. */
  readonly hold: (webhook: number) => Promise<void>
  readonly clearFailures: (webhook: number) => Promise<void>
  readonly remove: (webhooks: readonly number[]) => Promise<void>
  /**
   * Stores together how far the log was followed, and where webhooks are. Returns false if another process delivers by
   * now.
   */
  readonly move: (
    next: number,
    moved: readonly (StoredPlace & { readonly webhook: number; readonly starts: number })[],
  ) => Promise<boolean>
  readonly settle: (attempt: Attempt, cursor: Omit<Cursor, 'idle'>) => Promise<void>
  readonly trim: (webhook: number) => Promise<void>
}

export interface WebhookOptions {
  readonly store: Pick<EventStore, 'head' | 'read' | 'subscribe'>
  /** the same log with its JSON as text, if the engine has it so */
  readonly texts?: EventStore['texts']
  readonly handler: Pick<Handler, 'handle' | 'load'>
  readonly ordinals: Ordinals
  readonly state: WebhookState
  readonly presenter: Presenter
  readonly post: GuardedPost
  /**
   * Returns the webhooks in the read tables, and the position that the tables have reached; undefined while they are
   * filled.
   */
  readonly known: () => Promise<{ readonly webhooks: readonly number[]; readonly position: bigint } | undefined>
  /** Whether the projector of this thread is applying events, for which requests may wait: it goes first. */
  readonly isProjecting?: (() => boolean) | undefined
  readonly onAttempt: (delivered: boolean) => void
  /** Called now and then while the log is followed. */
  readonly onFollowed?: () => void
  /** Called before a webhook is disabled because of its receiver. */
  readonly onDisabling?:
    ((webhook: { readonly webhook: number; readonly account: number }) => Promise<void>) | undefined
  readonly onProblem: (error: unknown, what: string) => void
  /** ms from the first failed attempt to the second; the next pauses are longer */
  readonly firstPause?: number | undefined
}
