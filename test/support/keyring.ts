import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../src/security/seal.ts'

/** A key ring in memory. `destroy` does what erasing an account does. */
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
