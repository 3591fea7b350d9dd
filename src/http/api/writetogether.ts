import type { Context } from 'koa'
import type { EndReservation, Quotas } from '../../cache/quotas.ts'
import type { Together } from '../../commands/together.ts'
import type { Call } from './route.ts'
import { projected, writer, type WriterOptions, type Who } from './write.ts'

export interface TogetherOptions extends WriterOptions {
  readonly together: Together
}

/** Nothing is stored while the changes are decided, so nothing has to be waited for. */
const now = { wait: async () => true, shows: () => true }

/** Returns what stores the changes of many rows as one, as the caller, and then waits until they are in the read tables. */
export const writerTogether =
  (ctx: Context, who: Who | undefined, options: TogetherOptions): Call['together'] =>
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
          writer(ctx, who, { ...options, handler, quotas: { reserve }, progress: { ...options.progress, ...now } }),
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
