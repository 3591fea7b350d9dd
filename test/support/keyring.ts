import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../src/security/seal.ts'

/** Returns a key ring in memory. `destroy` removes a key, as erasing an account does. */
export const memoryKeyring = () => {
  const keys = new Map<number, Buffer>()
  const keyring: Keyring = {
    forSealing: async (account) => {
      if (!keys.has(account)) keys.set(account, randomBytes(32))
      return keys.get(account)
    },
    forOpening: async () => keys,
  }
  return { ...keyring, destroy: (account: number) => keys.delete(account) }
}
