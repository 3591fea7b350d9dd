import type { Context } from 'koa'
import type { EndReservation, Quotas } from '../../../cache/quotas.ts'
import { streamOf } from '../../../commands/decider.ts'
import type { Handler } from '../../../commands/handle.ts'
import type { Together } from '../../../commands/together.ts'
import type { Call } from '../route.ts'
import { projected, type Who, writer, type WriterOptions, type Writing } from './writer.ts'

export interface TogetherOptions extends WriterOptions {
  readonly together: Together
}

/** A change that does not wait for the read tables. */
const now = { wait: async () => true, shows: () => true }

/**
 * Returns what stores the changes of many rows as one, as the caller, and then waits until they are in the read tables.
 */
export const writerTogether =
  (ctx: Context, who: Who | undefined, options: TogetherOptions, writing: Writing): Call['together'] =>
  async (decide, store) => {
    const reserved: EndReservation[] = []
    const end = (position?: bigint) => reserved.splice(0).forEach((one) => one(position))
    const reserve: Quotas['reserve'] = async (...wanted) => {
      reserved.push(await options.quotas.reserve(...wanted))
      return () => {}
    }
    try {
      const { result, streams, position } = await options.together.run((handler) => {
        end() // of an attempt before
        return decide(
          writer(
            ctx,
            who,
            { ...options, handler, quotas: { reserve }, progress: { ...options.progress, ...now } },
            writing,
          ),
        )
      }, store)
      end(store ? position : undefined)
      await projected(ctx, streams, position, options)
      return result
    } catch (error) {
      end()
      throw error
    }
  }

/**
 * Returns what stores the changes of many rows, each on its own. Rows do not wait until the read tables have the ones
 * before.
 */
export const writerApart =
  (ctx: Context, who: Who | undefined, options: WriterOptions, writing: Writing): Call['apart'] =>
  async (work) => {
    const waits: Promise<void>[] = []
    const wait = (stream: string, position: bigint) => void waits.push(projected(ctx, [stream], position, options))
    const handler: Handler = {
      ...options.handler,
      handle: async (decider, command, ...rest) => {
        const handled = await options.handler.handle(decider, command, ...rest)
        wait(streamOf(decider, command), handled.position)
        return handled
      },
      create: async (decider, nextId, make, context) => {
        const handled = await options.handler.create(decider, nextId, make, context)
        wait(streamOf(decider, make(handled.id)), handled.position)
        return handled
      },
    }
    const quick = { ...options, handler, progress: { ...options.progress, ...now } }
    const result = await work(writer(ctx, who, quick, writing))
    await Promise.all(waits)
    return result
  }
