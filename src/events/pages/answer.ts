import { z } from 'zod'
import type { EventOf } from '../event.ts'
import { Personal } from '../../security/seal.ts'

export const answerEvents = {
  /**
   * A visitor submitted the form of an overlay. `fields` is a JSON object of strings, sealed under the key of the
   * overlay's owner. `link` is the link the overlay was shown on, 0 when unknown.
   */
  AnswerGiven: z.object({ overlay: z.int(), account: z.int(), link: z.int(), fields: Personal }),
}
export type AnswerEvent = EventOf<typeof answerEvents>
