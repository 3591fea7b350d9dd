import { isIP } from 'node:net'
import { z } from 'zod'
import { host, list } from './parsers.ts'

/** How branded domains are verified. */
export const domainSettings = {
  DOMAIN_TARGETS: list
    .refine((all) => all.every((one) => isIP(one) > 0 || host.test(one)), {
      message: 'must be host names or IP addresses, for example go.example.com, 203.0.113.7',
    })
    .describe('host names and addresses that branded domains must point to, separated by commas'),
  DOMAIN_CHECK: z
    .enum(['off', 'dns'], 'must be one of off, dns')
    .optional()
    .describe('`dns`: look up new branded domains; default `dns` when DOMAIN_TARGETS is set, else `off`'),
} as const
