import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { Personal } from '../../security/seal.ts'

export const answerEvents = {
  /**
   * A visitor submitted the form of an overlay. `fields` is a JSON object of strings, sealed under a key of its own, in
   * older events under the key of the overlay's owner. `link` is the link the overlay was shown on, 0 when unknown.
   */
  AnswerGiven: z.object({ overlay: z.int(), account: z.int(), link: z.int(), fields: Personal }),
  /**
   * The owner, or the end of the time that answers are kept, erased what the visitor had entered: its key is destroyed.
   */
  AnswerErased: z.object({ overlay: z.int(), account: z.int() }),
}
export type AnswerEvent = EventOf<typeof answerEvents>
