import { expect } from 'chai'
import { Refused } from '../../src/commands/decider.ts'
import type { EventStore, Write } from '../../src/events/store.ts'
import { Killed, oneByOne, writer } from './writer.ts'

/** Returns the code of a refusal and the kind of name that is taken, if any: `taken alias`. */
export const refused = (outcome: unknown) => {
  expect(outcome).to.be.instanceOf(Refused)
  const { code, what } = outcome as Refused
  return code === 'taken' ? `${code} ${what}` : code
}

/** Returns the result of a command that was not refused. */
export const accepted = <T>(outcome: T) =>
  (outcome instanceof Refused ? expect.fail(outcome.message) : outcome) as Exclude<T, Refused>

/** Returns a store that calls `meanwhile` before each of the first `times` appends. */
export const interrupted = (
  store: EventStore,
  times: number,
  meanwhile: (n: number) => Promise<unknown>,
): EventStore => {
  let n = 0
  return {
    ...store,
    append: async (writes) => {
      if (n < times) await meanwhile(++n)
      return store.append(writes)
    },
  }
}

/** Returns a store that records the writes of each append. */
export const watched = (store: EventStore) => {
  const appends: (readonly Write[])[] = []
  return {
    appends,
    store: { ...store, append: (writes: readonly Write[]) => (appends.push(writes), store.append(writes)) },
  }
}

/** Returns a process that is killed after the first write of its next append, which is the claim or the fence. */
export const killedBetween = (store: EventStore) => writer(oneByOne(store, () => Promise.reject(new Killed())))

/** Waits until a command fails because its process was killed. */
export const untilKilled = async (command: Promise<unknown>) => {
  const ended = await command.catch((error: unknown) => error)
  expect(ended).to.be.instanceOf(Killed)
}
