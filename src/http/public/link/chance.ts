import { createHmac } from 'node:crypto'

/**
 * Returns a number above 0 and below 1 for a visitor and one of several places. It is the same each time and in every
 * process; without the key, it cannot be predicted or chosen.
 */
export const chanceOf = (key: Buffer, place: string, visitor: string): number => {
  const digest = createHmac('sha256', key).update(`variant ${place}\n${visitor}`).digest()
  return (digest.readUIntBE(0, 6) + 0.5) / 2 ** 48
}
