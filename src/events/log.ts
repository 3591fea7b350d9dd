import { z } from 'zod'

export const logEvents = {
  /** The first event of every log. Checkpoints hold its id, so that tables are never continued from another log. */
  LogOpened: z.object({ logId: z.uuid() }),
}
