import { z } from 'zod'
import { integer, oneOf, origin, whole } from './parsers.ts'

const roles = ['http', 'projector', 'relay', 'recorder'] as const
export type Role = (typeof roles)[number]

/** What this process does and where it listens. */
export const serviceSettings = {
  PORT: whole(0, 65_535, 3000).describe('port to listen on; 0 picks a free one'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on; `0.0.0.0` for all interfaces'),
  OPERATOR_PORT: integer(0, 65_535)
    .optional()
    .describe(
      'port for `/metrics` and the details of `/readyz`; 0 picks a free one; default 9464, or a free one when that is in use or PORT is 0',
    ),
  OPERATOR_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('address of OPERATOR_PORT, which the public must not reach; `0.0.0.0` for all interfaces'),
  BASE_URL: z
    .string()
    .refine(origin, 'must be an address without a path, for example https://go.example.com')
    .transform((text) => text.replace(/\/$/, ''))
    .optional()
    .describe('address that short links start with; default `http://localhost:PORT`'),
  TRUST_PROXY: whole(0, 16, 0).describe('number of trusted reverse proxies in front, which set `X-Forwarded-For`'),
  ROLES: z
    .string()
    .transform((text) => new Set(text.split(',').map((part) => part.trim())))
    .refine((given): given is Set<Role> => [...given].every((role) => roles.some((one) => one === role)), {
      message: `must be one or more of ${roles.join(', ')}, separated by commas`,
    })
    .default(new Set(roles))
    .describe(
      'what this process does: one or more of `http`, `projector`, `relay`, `recorder`, separated by commas; default all',
    ),
  READY_MAX_LAG_SECONDS: whole(1, 31_536_000, 10).describe(
    'seconds that changes may need to become visible; while it is more, `/readyz` returns 503',
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').describe(
    'minimum level of log lines',
  ),
  NEW_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('the next SECRET, for `linkledger secret rotate` only'),
  OPERATOR: z
    .string()
    .max(200, 'must have at most 200 characters')
    .optional()
    .describe('who runs commands, as the log records it; default the user and host of the system'),
} as const
