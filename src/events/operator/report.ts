import { z } from 'zod'
import { Personal } from '../../security/seal.ts'
import type { EventOf } from '../event.ts'
import { openEnum } from '../openenum.ts'

/** What a visitor says is wrong with a link. `unblock`: it is blocked and should not be. */
export const ReportReason = z.enum(['phishing', 'malware', 'spam', 'illegal', 'other', 'unblock'])
/** What was reported, by the kind of its stream. */
export const ReportedKind = z.enum(['link', 'bio', 'qr', 'campaign'])

const id = z.string()

export const reportEvents = {
  /**
   * A visitor reported a public address. `id` is the reference that the visitor gets. `subject` is the id of the link,
   * bio page, QR code or campaign, and `account` owns it: what the visitor wrote is sealed under a key of its own,
   * like answers to overlays, in older events under the key of the account.
   */
  ReportSent: z.object({
    id,
    account: z.int(),
    kind: openEnum(ReportedKind),
    subject: z.int(),
    address: z.string(),
    reason: openEnum(ReportReason),
    message: Personal,
    email: Personal,
  }),
  /** The operator has dealt with it. */
  ReportClosed: z.object({ id }),
  /**
   * The operator, or the end of the time that reports are kept, erased what the visitor had written: its key is
   * destroyed.
   */
  ReportErased: z.object({ id }),
}
export type ReportEvent = EventOf<typeof reportEvents>
