import { resolve } from 'node:path'
import { z } from 'zod'
import { safeTargetUrl } from '../../lib/url.ts'

const isWebAddress = (text: string) => {
  const safe = safeTargetUrl(text)
  return safe.ok && safe.entered === text
}

/** What links must not lead to. */
export const abuseSettings = {
  BLOCKLIST_FILE: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe('file with hosts and patterns that links must not lead to, one a line; read again when it changes'),
  BLOCKLIST_URL: z
    .string()
    .refine(isWebAddress, 'must be an http or https address of a list of hosts')
    .optional()
    .describe('address of a public list of harmful hosts, in the format of a hosts file; fetched every six hours'),
} as const
