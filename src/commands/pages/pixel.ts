import type { PixelFields } from '../../events/pages/pixel.ts'
import { owned } from '../owned/owned.ts'

const initial: PixelFields = { type: 'gtmpixel', name: '', tag: '' }

export const pixel = owned(
  { created: 'PixelCreated', updated: 'PixelUpdated', deleted: 'PixelDeleted', restored: 'PixelRestored' },
  { kind: 'pixel', version: 3, initial },
)
