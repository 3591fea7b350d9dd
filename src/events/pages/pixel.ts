import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

/** The advertising networks whose tracking pixel a link can load. */
export const PixelType = z.enum([
  'gtmpixel',
  'gapixel',
  'fbpixel',
  'adwordspixel',
  'linkedinpixel',
  'twitterpixel',
  'adrollpixel',
  'quorapixel',
  'pinterest',
  'bing',
  'snapchat',
  'reddit',
  'tiktok',
])
export type PixelType = z.infer<typeof PixelType>

const fields = { type: openEnum(PixelType), name: z.string(), tag: z.string() }
export type PixelFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields)
export const pixelEvents = {
  PixelCreated: created,
  PixelUpdated: updated,
  PixelDeleted: deleted,
  PixelRestored: restored,
}
export const pixelTexts = sealedTexts('Pixel', { name: '', tag: '' })
export type PixelEvent = EventOf<typeof pixelEvents>
