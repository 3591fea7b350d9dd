import { resolve } from 'node:path'
import { z } from 'zod'

/** What links must not lead to. */
export const abuseSettings = {
  BLOCKLIST_FILE: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe('file with hosts and patterns that links must not lead to, one a line; read again when it changes'),
} as const
