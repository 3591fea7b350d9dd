import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import type { KeyHolder } from '../../cache/auth.ts'
import type { Progress } from '../../cache/progress.ts'
import { streamOf } from '../../commands/decider.ts'
import type { Handled, Revisions } from '../../commands/handle.ts'
import type { Services, Writer } from './route.ts'
import { timed } from './timing.ts'

export interface WriterOptions extends Pick<Services, 'handler' | 'nextId' | 'quotas'> {
  readonly progress: Progress
  /** A write is stored but not projected yet: other processes must be notified. */
  readonly onPending: (stream: string, position: bigint) => void
}

/** ms until a stream counts as pending */
const pendingAfter = 40
/** ms until a write is answered although it is not projected yet */
const patience = 2000

/** Waits until the changes of streams are in the read tables. Those that are not there soon count as pending. */
export const projected = async (
  ctx: Context,
  streams: readonly string[],
  position: bigint,
  { progress, onPending }: Pick<WriterOptions, 'progress' | 'onPending'>,
): Promise<void> => {
  const isShown = (stream: string) => progress.shows(stream, position)
  const wait = (ms: number) => timed(ctx, 'project', () => progress.wait(position, ms))
  const reached = await wait(pendingAfter)
  const hidden = streams.filter((stream) => !isShown(stream))
  for (const stream of hidden) onPending(stream, position)
  if (!reached) await wait(patience - pendingAfter)
  if (!hidden.every(isShown)) ctx.set('X-Projection-Pending', '1')
}

/** The caller of a request: an account and its key. */
export type Who = Pick<KeyHolder, 'account' | 'key'>

/**
 * Appends as the caller, then waits until the write is in the read tables; after two seconds it sets `X-Projection-Pending`. For a halted
 * projection it does not wait. The first write is to a stream at one of the `allowed` revisions.
 */
export const writer = (ctx: Context, who: Who | undefined, options: WriterOptions, allowed?: Revisions): Writer => {
  const { handler, nextId, quotas } = options
  const actor = who ? ({ kind: 'key', key: who.key } as const) : ({ kind: 'visitor' } as const)
  const account = who?.account ?? 0
  let unwritten = allowed
  const context = (account: number) => ({
    account,
    actor,
    request: String(ctx.state['request']),
    command: randomUUID(),
    at: new Date().toISOString(),
  })
  const shown = async <H extends Handled<unknown, unknown>>(stream: string, handled: H): Promise<H> => {
    await projected(ctx, [stream], handled.position, options)
    return handled
  }
  return {
    account,
    load: handler.load,
    write: async (decider, command) => {
      const revisions = unwritten
      unwritten = undefined
      const handled = await handler.handle(decider, command, context(account), revisions)
      return shown(streamOf(decider, command), handled)
    },
    create: async (kind, decider, make) => {
      const own = context(0)
      const end = kind === 'account' ? () => {} : await quotas.reserve(account, kind)
      const handled = await handler
        .create(decider, nextId[kind], make, (id) => ({ ...own, account: who?.account ?? id }))
        .catch((error: unknown) => {
          end()
          throw error
        })
      end(handled.position)
      return shown(streamOf(decider, make(handled.id)), handled)
    },
  }
}
