import { z } from 'zod'
import type { EventOf } from './event.ts'
import { Personal } from '../security/seal.ts'

export const answerEvents = {
  /**
   * What a visitor wrote into the form of an overlay: `fields` is a JSON object of texts, sealed under the key of the overlay's owner. `link` is
   * what it was shown on, 0 when that is not known.
   */
  AnswerGiven: z.object({ overlay: z.int(), account: z.int(), link: z.int(), fields: Personal }),
}
export type AnswerEvent = EventOf<typeof answerEvents>
