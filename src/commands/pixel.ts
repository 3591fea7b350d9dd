import type { PixelFields } from '../events/pixel.ts'
import { owned } from './owned.ts'

const initial: PixelFields = { type: 'gtmpixel', name: '', tag: '' }

export const pixel = owned(
  { created: 'PixelCreated', updated: 'PixelUpdated', deleted: 'PixelDeleted' },
  { kind: 'pixel', version: 1, label: 'Pixel', initial },
)
