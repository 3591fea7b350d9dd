import { z } from 'zod'

export const projectionEvents = {
  /**
   * An operator decided that a projection skips an event that it cannot apply. Every replay obeys, on every engine: the
   * event is named by its own id, since positions differ between engines.
   */
  EventParked: z.object({
    projection: z.string(),
    event: z.uuid(),
    type: z.string(),
    stream: z.string(),
    revision: z.int(),
    reason: z.string(),
  }),
}
