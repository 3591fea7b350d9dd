import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'
import { ownedSchemas } from '../owned.ts'
import { Personal } from '../../security/seal.ts'

/** The kinds of content of a QR code. Scans are counted for type `link` only. */
export const QrType = z.enum(['text', 'vcard', 'link', 'email', 'phone', 'sms', 'wifi'])
export type QrType = z.infer<typeof QrType>

const fields = {
  type: openEnum(QrType),
  alias: z.string(),
  /** `#rrggbb` */
  foreground: z.string(),
  background: z.string(),
  /**
   * in events of 0.1.0: a PNG of at most 256 x 256 pixels, encoded by this service, as base64; null: none, or see
   * `logoHash`
   */
  logo: z.string().nullable(),
  /** hash of such a PNG among the images of the account, which are stored outside of the log; null: none */
  logoHash: z.string().nullable().optional(),
}
/** `data` is JSON: a string, or an object of strings. Both fields may identify a person or a network. */
const personal = { name: Personal, data: Personal }
export type QrPersonal = z.infer<z.ZodObject<typeof personal>>
export type QrFields = z.infer<z.ZodObject<typeof fields>>

const { created, updated, deleted, restored } = ownedSchemas(fields, personal)
export const qrEvents = { QrCreated: created, QrUpdated: updated, QrDeleted: deleted, QrRestored: restored }
export type QrEvent = EventOf<typeof qrEvents>
