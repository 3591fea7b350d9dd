import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../src/security/seal.ts'

/** Returns a key ring in memory. `destroy` removes a key, as erasing an account does, `destroyStream` a stream's. */
export const memoryKeyring = () => {
  const keys = new Map<number, Buffer>()
  const streams = new Map<string, Buffer | null>()
  const keyring: Keyring = {
    forSealing: async (account) => {
      if (!keys.has(account)) keys.set(account, randomBytes(32))
      return keys.get(account)
    },
    forOpening: async () => keys,
    ofStreams: {
      forSealing: async ({ stream, account }) => {
        if (!(await keyring.forSealing(account)) || streams.get(stream) === null) return undefined
        const key = streams.get(stream) ?? randomBytes(32)
        streams.set(stream, key)
        return key
      },
      forOpening: async (of) =>
        new Map(
          of.flatMap(({ stream, account }) => {
            const key = streams.get(stream)
            return key === null || (key && keys.has(account)) ? [[stream, key] as const] : []
          }),
        ),
    },
  }
  return {
    ...keyring,
    destroy: (account: number) => keys.delete(account),
    destroyStream: (stream: string) => streams.set(stream, null),
  }
}
