import { account } from '../../commands/accounts/account.ts'
import { team } from '../../commands/accounts/team.ts'
import { Refused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import { systemMetadata } from '../../events/event.ts'
import { NotReady } from '../../lib/unavailable.ts'
import { dueErasures, membershipsOfErased } from '../../queries/accounts/erasure.ts'
import type { Reader } from '../../queries/reader.ts'
import { repeat, unwatched, type Watching } from './repeat.ts'

export interface ErasureOptions {
  readonly reader: Reader
  readonly handler: Pick<Handler, 'handle'>
  /** Destroys what is left of an account after its erasure. Idempotent. */
  readonly finish: (account: number) => Promise<void>
  readonly onProblem: (error: unknown, what: string) => void
  /** Returns the time, or rejects while it may be wrong. */
  readonly sureNow?: () => Promise<Date>
  readonly watching?: Watching
}

/** ms between runs */
const every = 60_000
/** accounts in one run */
const perRun = 100

/** Ends the memberships of erased people in other accounts. The last owner of a team account stays. */
const endMemberships = async ({ reader, handler, onProblem }: ErasureOptions) => {
  for (const { account: id, member } of await membershipsOfErased(reader, perRun)) {
    try {
      await handler.handle(team, { type: 'RemoveMember', id, member, by: undefined }, systemMetadata(id))
    } catch (error) {
      if (!(error instanceof Refused)) onProblem(error, `an erased member of account ${id} could not be removed`)
    }
  }
}

/** Erases the accounts whose delay after their owners' request is over. Of several processes, one appends the event. */
export const carryOutErasures = async (options: ErasureOptions, now = new Date()): Promise<void> => {
  const { reader, handler, finish, onProblem, sureNow } = options
  const due = await dueErasures(reader, now, perRun)
  if (due.length > 0) await sureNow?.()
  for (const id of due) {
    try {
      const command = { type: 'CarryOutErasure', id, now: now.toISOString() } as const
      const { state } = await handler.handle(account, command, systemMetadata(id))
      if (state.status === 'erased') await finish(id)
    } catch (error) {
      // continue with the others
      onProblem(error, `account ${id} could not be erased; it is tried again`)
    }
  }
  await endMemberships(options)
}

/** Starts to erase due accounts, now and every minute. Returns a function that stops it. */
export const startErasures = (options: ErasureOptions) => {
  const onError = (error: unknown) => {
    if (!(error instanceof NotReady)) options.onProblem(error, 'accounts that are to be erased could not be read')
  }
  const run = (options.watching ?? unwatched)(() => carryOutErasures(options))
  const first = run().catch(onError)
  const stop = repeat(run, every, onError)
  return async () => {
    await first
    await stop()
  }
}
