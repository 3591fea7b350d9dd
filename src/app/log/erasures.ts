import { randomUUID } from 'node:crypto'
import { account as accounts } from '../../commands/accounts/account.ts'
import { isRefused } from '../../commands/decider.ts'
import type { Handler } from '../../commands/handle.ts'
import type { Config } from '../../config.ts'
import type { EventStore } from '../../events/store.ts'
import { streamId } from '../../events/streams.ts'
import { NotReady } from '../../lib/unavailable.ts'
import type { Database } from '../../postgres/database.ts'
import { accounts as accountTables } from '../../projections/accounts/account.ts'
import { loadMembers, WrongLog } from '../../projections/engine/members.ts'
import { erasedAccounts } from '../../queries/accounts/account.ts'
import type { Reader } from '../../queries/reader.ts'
import { appendErasures, type Erasure, readErasures, registerIn } from '../../security/erasures.ts'
import type { Keys } from '../../security/keyring.ts'

interface Erasing {
  readonly config: Pick<Config, 'DATA_DIR'>
  readonly db: Database
  readonly store: Pick<EventStore, 'logId' | 'idAt' | 'read'>
  readonly handler: Pick<Handler, 'load' | 'handle'>
  readonly keys: Pick<Keys, 'destroy'>
  readonly reader: Reader
}
interface Streams {
  readonly store: Pick<EventStore, 'logId' | 'read'>
}

/** accounts whose streams are read at once */
const atOnce = 50

const inParts = async <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  for (let n = 0; n < all.length; n += atOnce) results.push(...(await Promise.all(all.slice(n, n + atOnce).map(work))))
  return results
}

/** Returns the id of the event that opened the account's stream, by which registers recognize the account. */
const registrationOf = async ({ store }: Streams, account: number): Promise<string | undefined> => {
  for await (const { id } of store.read(streamId('account', account), 0n, 1)) return id
  return undefined
}

/** Returns the lines of a register for accounts of this log. An account that the log does not have gets none. */
const erasuresOf = async ({ store }: Streams, ids: readonly number[]): Promise<readonly Erasure[]> => {
  const at = new Date().toISOString()
  const found = await inParts(ids, async (account) => {
    const registered = await registrationOf({ store }, account)
    return registered === undefined ? [] : [{ log: store.logId, account, registered, at }]
  })
  return found.flat()
}

const nameOf = ({ log, account, registered }: Erasure) => `${log} ${account} ${registered}`

/**
 * Returns the register in DATA_DIR, and the lines of these accounts that it does not have. A number alone does not name
 * an account.
 */
const compareWithRegister = async ({ config, store }: Pick<Erasing, 'config' | 'store'>, ids: readonly number[]) => {
  const noted = await readErasures(registerIn(config.DATA_DIR))
  const names = new Set(noted.map(nameOf))
  const others = (await erasuresOf({ store }, ids)).filter((erasure) => !names.has(nameOf(erasure)))
  return { noted, others }
}

/**
 * Returns the accounts that the tables have as erased; none while the tables do not fit the log, or are filled for the
 * first time.
 */
const knownErased = async ({ db, store, reader }: Pick<Erasing, 'db' | 'store' | 'reader'>) => {
  try {
    await loadMembers(db, store, [accountTables])
    return await erasedAccounts(reader)
  } catch (error) {
    if (error instanceof NotReady || error instanceof WrongLog) return []
    throw error
  }
}

const eraseOne = async ({ store, handler }: Pick<Erasing, 'store' | 'handler'>, { account, registered }: Erasure) => {
  if ((await registrationOf({ store }, account)) !== registered) return undefined
  const { state, position } = await handler.load(accounts, account)
  if (state.status === 'erased') return { account, position, isNew: false }
  try {
    const done = await handler.handle(
      accounts,
      { type: 'EraseAccount', id: account },
      {
        account,
        actor: { kind: 'service' },
        request: 'erasure register',
        command: randomUUID(),
        at: new Date().toISOString(),
      },
    )
    return { account, position: done.position, isNew: true }
  } catch (error) {
    // another process that starts at the same time has erased it
    if (!isRefused(error, 'not_found')) throw error
    return { account, position: (await handler.load(accounts, account)).position, isNew: false }
  }
}

/** What applying a register did. */
export interface Erased {
  /** number of accounts that were not erased before */
  readonly count: number
  /** position of the last erasure that the read tables may not have yet */
  readonly position: bigint
}
const nothing: Erased = { count: 0, position: 0n }

/**
 * Erases the accounts of a register again, as after the log was restored from before their erasure, and destroys their
 * keys. Lines of other logs, and of accounts that this log does not have, change nothing.
 */
export const applyErasures = async (ledger: Erasing, erasures: readonly Erasure[]): Promise<Erased> => {
  const own = erasures.filter(({ log }) => log === ledger.store.logId)
  if (own.length === 0) return nothing
  const known = new Set(await knownErased(ledger))
  const byAccount = new Map(own.map((erasure) => [nameOf(erasure), erasure]))
  const open = [...byAccount.values()].filter(({ account }) => !known.has(account))
  const erased = (await inParts(open, (erasure) => eraseOne(ledger, erasure))).flatMap((one) => one ?? [])
  await ledger.keys.destroy(erased.map(({ account }) => account))
  const position = erased.reduce((last, one) => (one.position > last ? one.position : last), 0n)
  return { count: erased.filter(({ isNew }) => isNew).length, position }
}

/**
 * Returns whether the register in DATA_DIR has accounts of a log that the read tables do not have as erased. It does
 * not ask the log.
 */
export const lackErasures = async (
  { config, reader }: Pick<Erasing, 'config' | 'reader'>,
  logId: string,
): Promise<boolean> => {
  const own = (await readErasures(registerIn(config.DATA_DIR))).filter(({ log }) => log === logId)
  if (own.length === 0) return false
  try {
    const erased = new Set(await erasedAccounts(reader))
    return own.some(({ account }) => !erased.has(account))
  } catch (error) {
    if (error instanceof NotReady) return true
    throw error
  }
}

/** Applies the register in DATA_DIR. Called at every start, before anything is served. */
export const applyRegister = async (ledger: Erasing): Promise<Erased> =>
  applyErasures(ledger, await readErasures(registerIn(ledger.config.DATA_DIR)))

/**
 * Notes in DATA_DIR, durably, that accounts are erased; those that are in the register already are left out. Call it
 * before the erasure.
 */
export const registerErasures = async (
  ledger: Pick<Erasing, 'config' | 'store'>,
  ids: readonly number[],
): Promise<void> => appendErasures(ledger.config.DATA_DIR, (await compareWithRegister(ledger, ids)).others)

/** Returns every known erasure, of the log and of DATA_DIR: what a backup has to carry. */
export const allErasures = async (
  ledger: Pick<Erasing, 'config' | 'db' | 'store' | 'reader'>,
): Promise<readonly Erasure[]> => {
  const { noted, others } = await compareWithRegister(ledger, await knownErased(ledger))
  return [...noted, ...others]
}

/**
 * Returns a function that destroys the keys of erased accounts and notes the erasures, whichever process made them. It
 * does so once for each account, so that it can be called with all of them at every change of an account.
 */
export const createFollowUp = (
  ledger: Pick<Erasing, 'config' | 'store' | 'keys'>,
  told: { readonly failed: (error: unknown) => void; readonly worked: () => void },
) => {
  const done = new Set<number>()
  return async (ids: readonly number[]): Promise<void> => {
    const others = ids.filter((id) => !done.has(id))
    if (others.length === 0) return
    await ledger.keys.destroy(others)
    // without an entry they are noted at the next change; the erasure itself holds
    try {
      await registerErasures(ledger, others)
      others.forEach((id) => done.add(id))
      told.worked()
    } catch (error) {
      told.failed(error)
    }
  }
}
