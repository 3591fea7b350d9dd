import type { Context } from 'koa'
import type { EndReservation, Quotas } from '../../../cache/quotas.ts'
import { streamOf } from '../../../commands/decider.ts'
import type { Handler } from '../../../commands/handle.ts'
import type { Transactions } from '../../../commands/transaction.ts'
import type { Call, Who } from '../route.ts'
import { actorOf, projected, writer, type WriterOptions, type Writing } from './writer.ts'

export interface TransactionOptions extends WriterOptions {
  readonly transactions: Transactions
}

/** A change that does not wait for the read tables. */
const unwaited = { wait: async () => true, shows: () => true }

/** Returns `transaction` of a call, as the caller. */
export const transactionOf =
  (ctx: Context, who: Who | undefined, options: TransactionOptions, writing: Writing): Call['transaction'] =>
  async (decide, { dryRun }) => {
    const reserved: EndReservation[] = []
    const end = (position?: bigint) => reserved.splice(0).forEach((one) => one(position))
    const reserve: Quotas['reserve'] = async (...wanted) => {
      reserved.push(await options.quotas.reserve(...wanted))
      return () => {}
    }
    try {
      const { result, streams, position } = await options.transactions.run(
        async (handler) => {
          end() // of an attempt before
          const free = dryRun && { rules: { find: async () => undefined } }
          const quick = {
            ...options,
            ...free,
            handler,
            quotas: { reserve },
            progress: { ...options.progress, ...unwaited },
          }
          const decided = await decide(writer(ctx, who, quick, writing))
          await writing.execution?.hold()
          return decided
        },
        { dryRun },
      )
      end(dryRun ? undefined : position)
      await projected(ctx, streams, position, options)
      return result
    } catch (error) {
      end()
      throw error
    }
  }

/** ms that a change waits for the read tables: those of others wait behind it, so that it is no faster than they are */
const paceMs = 250

/** Returns `withoutWaiting` of a call, as the caller. */
export const withoutWaitingOf =
  (ctx: Context, who: Who | undefined, options: WriterOptions, writing: Writing): Call['withoutWaiting'] =>
  async (work) => {
    const waits: Promise<void>[] = []
    const wait = (stream: string, position: bigint) => void waits.push(projected(ctx, [stream], position, options))
    const paced = async (position: bigint) => {
      await options.progress.wait(position, paceMs)
      return true
    }
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
    const quick = { ...options, handler, progress: { ...options.progress, ...unwaited, wait: paced } }
    const result = await work(writer(ctx, who, quick, writing))
    await Promise.all(waits)
    return result
  }

/** Returns what writes for a caller whose request has its answer: its Idempotency-Key has ended then. */
export const laterOf = (ctx: Context, who: Who | undefined, options: TransactionOptions) => ({
  ...writer(ctx, who, options),
  actor: actorOf(who),
  resumed: false,
  transaction: transactionOf(ctx, who, options, {}),
  withoutWaiting: withoutWaitingOf(ctx, who, options, {}),
})
