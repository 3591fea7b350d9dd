import { z } from 'zod'
import { count, time } from '../../api/contract.ts'

export const lostVisits = z
  .array(
    z.object({
      from: time,
      to: time,
      visits: count,
      of: z.enum(['account', 'service']).describe('`service`: it is not known whose they were'),
    }),
  )
  .optional()
  .describe(
    'visits that were redirected between two moments and could not be recorded because a disk was full, the newest hundred; only where there are some, and without `link`, `campaign`, `channel`, `qr` and `bio`: it is not known which links were visited',
  )
export const headRequests = count
  .optional()
  .describe(
    'HEAD requests for your links and pages in the quarters of an hour of the period, which are no visits: of the last 90 days, only where there are some, and neither with `link`, `campaign`, `channel`, `qr` and `bio` nor with `at`',
  )
