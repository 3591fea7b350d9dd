import type { QrFields } from '../../events/qr/qr.ts'
import { contrast, luminance } from '../../qr/color.ts'
import { payloadLimit } from '../../qr/payload.ts'
import { refuse } from '../decider.ts'

type Colors = Pick<QrFields, 'foreground' | 'background'>

/**
 * Contrast ratios (WCAG 2.2). Below the first, common scanners no longer find a code; from the second on, they read it
 * well.
 */
const minimumContrast = 3
const goodContrast = 4.5

/** Rounded down, so that a refused ratio is never shown as the one that is required. */
const shown = (ratio: number) => (Math.floor(ratio * 100) / 100).toFixed(2)

/**
 * Throws `Refused` for a code that no scanner could read: too much data, or colors too similar. Colors of an earlier
 * release that an update keeps (`before`) are not refused, so that the data of such a code can still be changed.
 */
export const requireScannable = ({ foreground, background }: Colors, payload: string, before?: Colors): void => {
  const bytes = Buffer.byteLength(payload)
  if (bytes > payloadLimit) refuse('too_long', { what: 'code', field: 'data', max: payloadLimit, bytes })
  if (foreground === before?.foreground && background === before.background) return
  const ratio = contrast(foreground, background)
  if (ratio < minimumContrast)
    refuse('low_contrast', { field: 'foreground', contrast: shown(ratio), min: minimumContrast })
}

/** Returns what the owner of a code should know about its colors: some scanners may not read it. */
export const scanWarnings = ({ foreground, background }: Colors): readonly string[] => {
  const ratio = contrast(foreground, background)
  return [
    ...(ratio < goodContrast
      ? [
          `The contrast of \`foreground\` and \`background\` is ${shown(ratio)}:1: some scanners need at least ${goodContrast}:1. Choose a darker and a lighter color.`,
        ]
      : []),
    ...(luminance(foreground) > luminance(background)
      ? [
          '`foreground` is lighter than `background`: many scanners read only dark codes on a light background. Swap the two colors.',
        ]
      : []),
  ]
}
