import { createHmac, timingSafeEqual } from 'node:crypto'

/** Seals the service's statements about its checkpoints: without SECRET, they cannot be forged. */
export interface Seals {
  readonly seal: (...parts: readonly (string | number)[]) => string
  readonly isSealed: (seal: string, ...parts: readonly (string | number)[]) => boolean
}

/** Returns the seals of a log, given the 32 secret bytes of the key that signs its checkpoints. */
export const checkpointSeals = (seed: Buffer): Seals => {
  const key = createHmac('sha256', seed).update('linkledger numbers of checkpoints 1').digest()
  const sealOf = (parts: readonly (string | number)[]) =>
    createHmac('sha256', key).update(parts.join(' ')).digest('base64url')
  return {
    seal: (...parts) => sealOf(parts),
    isSealed: (seal, ...parts) => {
      const [given, right] = [Buffer.from(seal), Buffer.from(sealOf(parts))]
      return given.length === right.length && timingSafeEqual(given, right)
    },
  }
}
