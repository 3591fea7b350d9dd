import { z } from 'zod'
import { openEnum } from './openenum.ts'

/** Identifies the service key: see `markOf`. */
const serviceKey = z.string()

export const logEvents = {
  /**
   * The first event of every log. Checkpoints store the log's id, so that tables are never continued from another log.
   * `serviceKey` is the mark of the service key that belongs to the log; logs of release 0.1.0 have it in
   * `ServiceKeyMarked` instead.
   */
  LogOpened: z.object({ logId: z.uuid(), serviceKey: serviceKey.optional() }),
  /** The first event of the stream `log-key`, in logs that were opened without a mark. */
  ServiceKeyMarked: z.object({ serviceKey }),
  /** In the stream `log-operations`: what an operator did. The actor in the metadata is the operator. */
  TablesRebuilt: z.object({ projections: z.array(z.string()) }),
  /** `clicks` is the number of clicks that were new. */
  SpoolImported: z.object({ folder: z.string(), clicks: z.int() }),
  /** Appended before the copy begins, so that the source and the copy have it. */
  LogCopyStarted: z.object({ to: openEnum(z.enum(['postgres', 'eventstoredb'])) }),
  /**
   * In the stream `log-checkpoints`: the signed checkpoints are counted from 1 again, after some were given up or a
   * backup was restored. `seal` is that of the service, over the series.
   */
  CheckpointCountRestarted: z.object({
    series: z.uuid(),
    why: openEnum(z.enum(['given_up', 'restored'])),
    seal: z.string(),
  }),
  /** All keys were wrapped under a new SECRET. */
  SecretRotated: z.object({ keys: z.int() }),
}
