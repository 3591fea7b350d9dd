import { z } from 'zod'

export const logEvents = {
  /** The first event of every log. Checkpoints store the log's id, so that tables are never continued from another log. */
  LogOpened: z.object({ logId: z.uuid() }),
}
