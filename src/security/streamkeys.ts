import { randomBytes } from 'node:crypto'
import type { Database } from '../postgres/database.ts'
import { destroyedKeys, destroyKeys } from '../postgres/keys.ts'
import { BrokenSeal, type KeyedStream, type Keyring, sealBytes, type StreamKeys, unsealBytes } from './seal.ts'
import type { Wrapping } from './wrapping.ts'

export interface StreamKeyring extends StreamKeys {
  /** Destroys keys for good. What was sealed under the key of the account is not read any more, either. */
  readonly destroy: (streams: readonly string[]) => Promise<void>
}

interface Parts extends Pick<Wrapping, 'read'> {
  readonly db: Database
  readonly accounts: Pick<Keyring, 'forSealing' | 'forOpening'>
  /** Stores a key, unless there is one, or it was destroyed before. */
  readonly insert: (name: string, key: Buffer) => Promise<void>
}

/** Returns the key that was sealed under the key of an account; undefined when the account has another one since. */
const opened = (key: Buffer, stream: string, sealed: Buffer) => {
  try {
    return unsealBytes(key, stream, sealed)
  } catch (error) {
    if (error instanceof BrokenSeal) return undefined
    throw error
  }
}

/**
 * Opens the keys of streams, which are in `state.keys` under the names of the streams, each sealed under the key of its
 * account. They are read each time, so that a destroyed one is in no memory.
 */
export const openStreamKeys = ({ db, accounts, read, insert }: Parts): StreamKeyring => {
  const open = async (of: readonly KeyedStream[]) => {
    const stored = await read(of.map(({ stream }) => stream))
    if (stored.size === 0) return new Map<string, Buffer>()
    const keys = await accounts.forOpening([...new Set(of.map(({ account }) => account))])
    return new Map(
      of.flatMap(({ stream, account }) => {
        const [key, sealed] = [keys.get(account), stored.get(stream)]
        const found = key && sealed && opened(key, stream, sealed)
        return found ? [[stream, found] as const] : []
      }),
    )
  }
  return {
    forSealing: async (of) => {
      const known = (await open([of])).get(of.stream)
      if (known) return known
      const key = await accounts.forSealing(of.account)
      if (!key) return undefined
      await insert(of.stream, sealBytes(key, of.stream, randomBytes(32)))
      return (await open([of])).get(of.stream)
    },
    forOpening: async (of) => {
      const destroyed = await destroyedKeys(
        db,
        of.map(({ stream }) => stream),
      )
      return new Map<string, Buffer | null>([
        ...(await open(of)),
        ...destroyed.map((stream) => [stream, null] as const),
      ])
    },
    destroy: (streams) => destroyKeys(db, streams),
  }
}
