import type { Database } from '../postgres/database.ts'
import { dropSnapshots, findSnapshot, type StoredSnapshot, storeSnapshot } from '../postgres/snapshots.ts'
import { BrokenSeal, type Keyring, sealBytes, unsealBytes } from './seal.ts'

/** The state of a stream after one of its events. */
export interface Snapshot {
  /** of that event */
  readonly revision: bigint
  /** id of that event, by which a reader recognises that the log still has it */
  readonly event: string
  readonly state: Buffer
}

/** Where a snapshot belongs: to a stream, and to one version of the rules that fold it. */
export interface SnapshotPlace {
  readonly stream: string
  readonly version: number
}

/** States of long streams. All of them can be discarded: without a snapshot, a state is folded from the log. */
export interface SnapshotStore {
  /**
   * Returns the newest snapshot, or the newest one up to a revision; undefined when there is none, or when it cannot be
   * decrypted with its account's key.
   */
  readonly find: (place: SnapshotPlace, upTo?: bigint) => Promise<Snapshot | undefined>
  /** Stores a snapshot under the account's key; makes and stores none when the account has no key. */
  readonly save: (account: number, place: SnapshotPlace, make: () => Snapshot) => Promise<void>
  /** Deletes all snapshots of a stream. */
  readonly drop: (stream: string) => Promise<void>
}

/** Stores nothing. */
export const noSnapshots: SnapshotStore = { find: async () => undefined, save: async () => {}, drop: async () => {} }

const context = ({ account, stream, version, revision, event }: Omit<StoredSnapshot, 'sealed'>) =>
  `${account}/snapshot/${stream}/${version}/${revision}/${event}`

export const openSnapshotStore = (db: Database, keyring: Pick<Keyring, 'forOpening'>): SnapshotStore => ({
  find: async ({ stream, version }, upTo) => {
    const stored = await findSnapshot(db, stream, version, upTo)
    const key = stored && (await keyring.forOpening([stored.account])).get(stored.account)
    if (!stored || !key) return undefined
    try {
      return { ...stored, state: unsealBytes(key, context(stored), stored.sealed) }
    } catch (error) {
      if (error instanceof BrokenSeal) return undefined
      throw error
    }
  },
  save: async (account, place, make) => {
    const key = (await keyring.forOpening([account])).get(account)
    if (!key) return
    const { revision, event, state } = make()
    const unsealed = { ...place, account, revision, event }
    const sealed = sealBytes(key, context(unsealed), state)
    await storeSnapshot(db, { ...unsealed, sealed })
  },
  drop: async (stream) => dropSnapshots(db, stream),
})
