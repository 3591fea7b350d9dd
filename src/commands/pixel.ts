import type { PixelFields } from '../events/pixel.ts'
import { owned } from './owned.ts'

export const pixel = owned<'Pixel', PixelFields>('Pixel', {
  label: 'Pixel',
  initial: { type: 'gtmpixel', name: '', tag: '' },
})
