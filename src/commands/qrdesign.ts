import type { QrFields } from '../events/qr.ts'
import { contrast } from '../qr/color.ts'
import { payloadLimit } from '../qr/payload.ts'
import { refuse } from './decider.ts'

/** The lowest contrast (WCAG 2.2) at which scanners still find a code; from 4.5:1 on they read it well. */
const minimumContrast = 2

/** Throws `Refused` (`invalid`) for a code that no scanner could read: too much data, or colors too similar. */
export const requireScannable = (
  { foreground, background }: Pick<QrFields, 'foreground' | 'background'>,
  payload: string,
): void => {
  const bytes = Buffer.byteLength(payload)
  if (bytes > payloadLimit)
    refuse('invalid', `\`data\` must be at most ${payloadLimit} bytes long in the code; it is ${bytes}.`)
  const ratio = contrast(foreground, background)
  if (ratio < minimumContrast)
    refuse(
      'invalid',
      `\`foreground\` must differ more from \`background\`: their contrast is ${ratio.toFixed(1)}:1 and must be at least ${minimumContrast}:1.`,
    )
}
