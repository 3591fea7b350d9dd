import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { streamOf } from '../../commands/decider.ts'
import type { Handled } from '../../commands/handle.ts'
import type { Progress } from '../../cache/progress.ts'
import type { Authenticated } from '../../cache/auth.ts'
import type { Call, Services } from './route.ts'

export interface WriterOptions extends Pick<Services, 'handler' | 'nextId'> {
  readonly progress: Progress
  /** A write is stored, but the read tables are late: everyone has to know. */
  readonly onPending: (stream: string, position: bigint) => void
}

/** ms until others are told that the tables are late, and until a write is answered all the same */
const [prompt, patience] = [40, 2000]

/** Appends as the caller, then waits until what was written can be read: for two seconds, then it is answered all the same. */
export const writer = (
  ctx: Context,
  who: Extract<Authenticated, { ok: true }> | undefined,
  { handler, nextId, progress, onPending }: WriterOptions,
): Pick<Call<unknown>, 'write' | 'create'> => {
  const actor = who ? ({ kind: 'key', key: who.key } as const) : ({ kind: 'visitor' } as const)
  const context = (account: number) => ({
    account,
    actor,
    request: String(ctx.state['request']),
    command: randomUUID(),
    at: new Date().toISOString(),
  })
  const readable = async <H extends Handled<unknown, unknown>>(stream: string, handled: H): Promise<H> => {
    if (await progress.wait(handled.position, prompt)) return handled
    onPending(stream, handled.position)
    if (!(await progress.wait(handled.position, patience - prompt))) ctx.set('X-Projection-Pending', '1')
    return handled
  }
  return {
    write: async (decider, command) =>
      readable(streamOf(decider, command), await handler.handle(decider, command, context(who?.account ?? 0))),
    create: async (kind, decider, make) => {
      const own = context(0)
      const handled = await handler.create(decider, nextId[kind], make, (id) => ({
        ...own,
        account: who?.account ?? id,
      }))
      return readable(streamOf(decider, make(handled.id)), handled)
    },
  }
}
