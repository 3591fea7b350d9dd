import { z } from 'zod'
import type { TrustedProxies } from '../../lib/address.ts'
import { inNetworks, isNetwork } from '../../lib/networks.ts'
import { normalHost } from '../../lib/url.ts'
import { integer, list, listening, oneOf, origin, path, whole } from './parsers.ts'

const roles = ['http', 'projector', 'relay', 'recorder'] as const
export type Role = (typeof roles)[number]

const isHops = (given: readonly string[]) => given.length === 1 && /^\d+$/.test(given[0]!) && Number(given[0]) <= 16
const proxiesMessage =
  'must be the addresses of the reverse proxies, for example 127.0.0.1, 10.0.0.0/8, or their number, from 0 to 16'

/** What this process does and where it listens. */
export const serviceSettings = {
  PORT: whole(0, 65_535, 3000).describe('port to listen on; 0 picks a free one'),
  HOST: listening.describe('address to listen on; `0.0.0.0` for all interfaces'),
  OPERATOR_PORT: integer(0, 65_535)
    .optional()
    .describe(
      'port for `/metrics` and the details of `/readyz`; 0 picks a free one; default 9464, or a free one when that is in use or PORT is 0',
    ),
  OPERATOR_HOST: listening.describe(
    'address of OPERATOR_PORT, which the public must not reach; `0.0.0.0` for all interfaces',
  ),
  OPERATOR_HOSTS: list
    .transform((given) => given.map(normalHost))
    .refine((given) => given.every(Boolean), 'must be names of hosts, separated by commas')
    .describe(
      'names with a dot by which programs reach OPERATOR_PORT, separated by commas; IP addresses, `localhost` and names without a dot need none',
    ),
  BASE_URL: z
    .string()
    .refine(origin, 'must be an address without a path, for example https://go.example.com')
    .transform((text) => text.replace(/\/$/, ''))
    .optional()
    .describe('address that short links start with; default `http://localhost:PORT`'),
  TRUST_PROXY: list
    .superRefine((given, context) => {
      if (!isHops(given) && !given.every(isNetwork)) context.addIssue({ code: 'custom', message: proxiesMessage })
    })
    .transform((given): TrustedProxies => (isHops(given) ? Number(given[0]) : inNetworks(given)))
    .default(0)
    .describe(
      'reverse proxies in front, which set `X-Forwarded-For`: their addresses and networks, separated by commas (`127.0.0.1, 10.0.0.0/8`), or how many there are when their addresses are unknown',
    ),
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
  GEOIP_FILE: path.describe(
    'database of countries or cities in the format of MaxMind (.mmdb), instead of the table that is installed; read again when it changes',
  ),
  READY_MAX_LAG_SECONDS: whole(1, 31_536_000, 10).describe(
    'seconds that changes may need to become visible; while it is more, `/readyz?of=api` returns 503',
  ),
  FRAME_CHECK: oneOf(['on', 'off'], 'on').describe(
    '`off`: do not ask the destinations of framed links whether they can be framed; those that refuse are then shown empty',
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
