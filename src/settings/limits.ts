import { oneOf, whole } from './parsers.ts'

/** Who may register, and how much each may ask for. */
export const limitSettings = {
  REGISTRATION: oneOf(['open', 'closed'], 'open').describe('`closed`: only `linkledger account add` creates accounts'),
  RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 30).describe('requests per minute for each API key; 0 = unlimited'),
  REGISTRATIONS_PER_ADDRESS: whole(0, 1_000_000, 30).describe(
    'registrations per hour from one IPv4 address or IPv6 /64; 0 = unlimited',
  ),
  REGISTRATIONS_PER_HOUR: whole(0, 1_000_000, 1000).describe(
    'registrations per hour from all addresses together; 0 = unlimited',
  ),
  CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000, 1000).describe(
    'open connections of one IPv4 address or IPv6 /64, unless it is a proxy in TRUST_PROXY; 0 = unlimited',
  ),
} as const
