import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { ownedSchemas, sealedTexts } from '../owned.ts'

/** A page that is shown for some seconds before the redirect. */
const fields = {
  name: z.string(),
  title: z.string(),
  message: z.string(),
  /** URLs of images */
  logo: z.string(),
  banner: z.string(),
  /** a second destination */
  product: z.string(),
  /** of the buttons to the destination and to the product; empty: the page has a word for it */
  label: z.string().optional(),
  productLabel: z.string().optional(),
  /** `#rrggbb`; empty: none */
  color: z.string().optional(),
  /** seconds until the redirect */
  counter: z.int(),
}
export type SplashFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields)
export const splashEvents = {
  SplashCreated: created,
  SplashUpdated: updated,
  SplashDeleted: deleted,
  SplashRestored: restored,
}
/** The second destination stays open, like every destination. */
export const splashTexts = sealedTexts('Splash', {
  ...{ name: '', title: '', message: '', logo: '', banner: '' },
  ...{ label: '', productLabel: '' },
})
export type SplashEvent = EventOf<typeof splashEvents>
