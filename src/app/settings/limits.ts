import { kinds, type OwnedKind, ownedKinds } from '../../events/kinds.ts'
import { oneOf, whole } from './parsers.ts'

/** Reads how many an account may have of something; 0 = unlimited. */
const quota = (what: string, otherwise: number) =>
  whole(0, 1_000_000_000, otherwise).describe(`${what} of one account; 0 = unlimited`)

type QuotaSetting = (typeof kinds)[OwnedKind]['quota']['setting']
/** How many resources of each kind an account may have. */
const quotaSettings = Object.fromEntries(
  ownedKinds.map((kind) => {
    const { many, quota: of } = kinds[kind]
    return [of.setting, quota('of' in of ? of.of : many, of.otherwise)]
  }),
) as Readonly<Record<QuotaSetting, ReturnType<typeof quota>>>

/** Who may register, and how much each may ask for. */
export const limitSettings = {
  REGISTRATION: oneOf(['open', 'closed'], 'open').describe(
    '`closed`: only `linkledger account add` creates accounts, and a link for the first one that is printed at start; operators add team accounts',
  ),
  RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 30).describe(
    'requests per minute of an account, shared by its API keys; 0 = unlimited',
  ),
  SESSION_RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 600).describe(
    'requests per minute of an account by its sessions of the dashboard, which RATE_LIMIT_PER_MINUTE does not count; 0 = unlimited',
  ),
  SESSION_DAYS: whole(1, 400, 30).describe('days after a sign-in on the dashboard until it has to be repeated'),
  REGISTRATIONS_PER_ADDRESS: whole(0, 1_000_000, 100).describe(
    'registrations per hour from one IPv4 address or IPv6 /64, and four times as many from an IPv6 /48; 0 = unlimited',
  ),
  REGISTRATIONS_PER_HOUR: whole(0, 1_000_000, 1000).describe(
    'registrations per hour from all addresses together, a tenth of them for networks that have had none; 0 = unlimited',
  ),
  ERASURE_DELAY_DAYS: whole(0, 365, 7).describe(
    'days after which an account is erased whose owner wants it erased, and may still change their mind',
  ),
  STREAMS: whole(0, 1_000_000, 2000).describe(
    'streams of events and clicks (`GET /api/events`, `GET /api/clicks`) that are open in one process; 0 = unlimited',
  ),
  STREAMS_PER_ACCOUNT: whole(0, 1_000_000, 10).describe('such streams of one account; 0 = unlimited'),
  CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000, 1000).describe(
    'open connections of one IPv4 address or IPv6 /64, unless it is a proxy in TRUST_PROXY; 0 = unlimited',
  ),
  KEEP_ALIVE_SECONDS: whole(1, 3600, 10).describe(
    'seconds after which a connection without a request is closed; more than a load balancer keeps its own',
  ),
  ...quotaSettings,
  QUOTA_IMAGE_MB: quota('megabytes of images', 1000),
  IMPORT_MAX_MB: whole(1, 1_000_000, 1024).describe('megabytes of a file of links from another service'),
} as const
