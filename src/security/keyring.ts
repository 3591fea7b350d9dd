import { createHmac, randomBytes } from 'node:crypto'
import QuickLRU from 'quick-lru'
import { OperatorError } from '../lib/operatorerror.ts'
import { hasCheckpoint } from '../postgres/checkpoints.ts'
import type { Database } from '../postgres/database.ts'
import { destroyKeys, insertKey, shareKeys } from '../postgres/keys.ts'
import { eraseAnswers } from '../postgres/idempotency.ts'
import { eraseImports } from '../postgres/jobs/imports.ts'
import { eraseImages } from '../postgres/images.ts'
import { eraseMails } from '../postgres/mails.ts'
import { deleteLinksOf } from '../postgres/onetimelinks.ts'
import { eraseFromDirectory } from '../postgres/joined.ts'
import { deleteReads } from '../postgres/groupreads.ts'
import { deletePasskeysOf } from '../postgres/passkeys.ts'
import { deleteSessionsOf } from '../postgres/sessions.ts'
import { eraseSnapshots } from '../postgres/snapshots.ts'
import { eraseWebhooks } from '../postgres/webhooks.ts'
import type { Keyring as AccountKeyring } from './seal.ts'
import { openStreamKeys, type StreamKeyring } from './streamkeys.ts'
import { openWrapping, type Wrapping } from './wrapping.ts'

/** The keys of accounts, and access to the service key before it is known to belong to the log. */
export interface Keyring extends AccountKeyring {
  readonly ofStreams: StreamKeyring
  /** Makes no new key for an account while its texts could still be opened with the one that is missing. */
  readonly awaitLost: (isLost: (account: number) => Promise<boolean>) => void
  readonly findService: () => Promise<Buffer | undefined>
  /** Returns the service key and creates it when there is none yet. */
  readonly createService: () => Promise<Buffer>
  /**
   * Returns the 32 secret bytes of the key that signs the checkpoints of the log. It is created when nothing was signed
   * yet; throws `ProofKeyLost` when something was, and the key is missing.
   */
  readonly proofSeed: () => Promise<Buffer>
  /**
   * Destroys the keys of accounts, and with them everything that is sealed under them; deletes their images, too. They
   * are never made again.
   */
  readonly destroy: (accounts: readonly number[]) => Promise<void>
  /** Drops the keys of accounts from the cache, after another process has destroyed them. */
  readonly forget: (accounts: readonly number[]) => void
}

export interface Keys extends Keyring {
  /** 32 bytes for the service's keyed hashes and cookies */
  readonly service: Buffer
}

/** The key that has signed the checkpoints of the log is missing: under another one, nothing of them can be checked. */
export class ProofKeyLost extends OperatorError {
  override readonly name = 'ProofKeyLost'
  constructor() {
    super(
      'the key `proof`, which has signed the checkpoints of this log, is missing in state.keys: restore that row from a backup, with the SECRET of its time. Nothing is signed until then, unless `linkledger proof restart --new-key` gives up everything that was signed',
    )
  }
}

/** Returns a mark that identifies a service key and discloses nothing about it. */
export const markOf = (service: Buffer): string =>
  createHmac('sha256', service).update('linkledger mark of the service key 1').digest('base64url').slice(0, 16)

/** Returns how the key of an account is called in `state.keys`. */
export const nameOf = (account: number) => `account-${account}`

/** Opens the keys in `state.keys`, and creates the service key when there is none. Throws `WrongSecret`. */
export const openKeys = async (db: Database, secret: string): Promise<Keys> => {
  const keyring = await openKeyring(db, secret)
  return { ...keyring, service: await keyring.createService() }
}

/** Opens the keys of accounts, which are kept in memory for a minute. */
const openAccountKeys = (read: Wrapping['read'], create: (name: string) => Promise<Buffer | undefined>) => {
  let isLost = async (_: number) => false
  const cache = new QuickLRU<number, Buffer>({ maxSize: 10_000, maxAge: 60_000 })
  const forOpening = async (accounts: readonly number[]) => {
    const missing = accounts.filter((account) => !cache.has(account))
    const found = missing.length > 0 ? await read(missing.map(nameOf)) : new Map<string, Buffer>()
    for (const account of missing) {
      const key = found.get(nameOf(account))
      if (key) cache.set(account, key)
    }
    return new Map(
      accounts.flatMap((account) => {
        const key = cache.get(account)
        return key ? [[account, key] as const] : []
      }),
    )
  }
  return {
    forOpening,
    forSealing: async (account: number) => {
      const known = (await forOpening([account])).get(account)
      if (known) return known
      const created = (await isLost(account)) ? undefined : await create(nameOf(account))
      if (created) cache.set(account, created)
      return created
    },
    awaitLost: (check: typeof isLost) => void (isLost = check),
    forget: (accounts: readonly number[]) => accounts.forEach((account) => cache.delete(account)),
  }
}

/** Opens the keys in `state.keys`, each wrapped under SECRET. Changes nothing. Throws `WrongSecret`. */
export const openKeyring = async (db: Database, secret: string): Promise<Keyring> => {
  const { read, wrap } = await openWrapping(db, secret)

  // of two processes that create the same key, the first insert wins and both read it back
  const insert = (name: string, key: Buffer) =>
    db.transaction(async (tx) => {
      await shareKeys(tx)
      await read(['service'], tx) // SECRET may have been rotated since: a new key must be wrapped like the others
      await insertKey(tx, name, wrap(name, key))
    })
  const create = async (name: string) => {
    await insert(name, randomBytes(32))
    return (await read([name])).get(name)
  }
  const accounts = openAccountKeys(read, create)
  const find = async (name: string) => (await read([name])).get(name)
  const createService = async () => {
    const key = (await find('service')) ?? (await create('service'))
    if (!key) throw new Error('the service key could not be read back from state.keys')
    return key
  }
  // another process may have made the first key, and signed with it, since this one looked
  const proofSeed = async () => {
    const key = (await find('proof')) ?? ((await hasCheckpoint(db)) ? await find('proof') : await create('proof'))
    if (!key) throw new ProofKeyLost()
    return key
  }

  return {
    ...accounts,
    findService: () => find('service'),
    createService,
    proofSeed,
    ofStreams: openStreamKeys({ db, accounts, read, insert }),
    destroy: async (erased) => {
      if (erased.length === 0) return
      await destroyKeys(db, erased.map(nameOf))
      accounts.forget(erased)
      await eraseImages(db, erased)
      await eraseSnapshots(db, erased)
      await eraseAnswers(db, erased)
      await eraseImports(db, erased)
      await eraseMails(db, erased)
      await eraseWebhooks(db, erased)
      await deleteLinksOf(db, erased)
      await deleteSessionsOf(db, erased)
      await deleteReads(db, erased)
      await deletePasskeysOf(db, erased)
      await eraseFromDirectory(db, erased)
    },
  }
}
