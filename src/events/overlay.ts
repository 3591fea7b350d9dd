import { z } from 'zod'
import type { EventOf } from './event.ts'
import { ownedSchemas } from './owned.ts'

export const OverlayType = z.enum(['message', 'contact', 'poll', 'newsletter', 'image', 'coupon'])
/** A corner of the page: bottom or top, left or right. */
export const OverlayPosition = z.enum(['bl', 'br', 'tl', 'tr'])

/** A call to action that is laid over a link's destination. */
const fields = {
  type: OverlayType,
  name: z.string(),
  message: z.string(),
  /** of its button, which leads to `link` or sends its form */
  label: z.string(),
  link: z.string(),
  /** address of an image */
  image: z.string(),
  /** `#rrggbb` */
  color: z.string(),
  position: OverlayPosition,
  /** of a poll, with the answers to choose from */
  question: z.string(),
  options: z.array(z.string()),
  /** the code that a visitor is given */
  coupon: z.string(),
}
export type OverlayFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted } = ownedSchemas(fields)
export const overlayEvents = { OverlayCreated: created, OverlayUpdated: updated, OverlayDeleted: deleted }
export type OverlayEvent = EventOf<typeof overlayEvents>
