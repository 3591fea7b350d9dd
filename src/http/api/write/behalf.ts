import type { Context } from 'koa'
import { streamOf } from '../../../commands/decider.ts'
import type { Apply, Operate, Who } from '../route.ts'
import { commandIds, projected, type WriterOptions, type Writing } from './writer.ts'

/** Applies an approved change as the member who has proposed it. */
export const applying =
  (ctx: Context, options: WriterOptions): Apply =>
  async (decider, command, context, revision) => {
    const limits = { revisions: revision === undefined ? undefined : [revision], resumed: true }
    const request = String(ctx.state['request'])
    const handled = await options.handler.handle(decider, command, { ...context, request }, limits)
    await projected(ctx, [streamOf(decider, command)], handled.position, options)
    return handled
  }

/**
 * Writes what an operator does on the dashboard. The event names their account and nothing else of them: it stays for
 * good, and a username could not be erased from it.
 */
export const operating =
  (
    ctx: Context,
    who: Pick<Who, 'account' | 'person'> | undefined,
    options: WriterOptions,
    { execution }: Writing,
  ): Operate =>
  async (decider, command, of) => {
    const stream = streamOf(decider, command)
    const context = {
      account: of,
      actor: { kind: 'operator', name: `account ${who?.person ?? who?.account ?? 0}` } as const,
      request: String(ctx.state['request']),
      command: commandIds(execution, '')(stream).id,
      at: new Date().toISOString(),
    }
    await execution?.hold()
    const handled = await options.handler.handle(decider, command, context, { resumed: execution?.resumed ?? false })
    await projected(ctx, [stream], handled.position, options)
    return handled
  }
