import { z } from 'zod'
import { databaseProblem, isPort } from './addresses.ts'
import { integer, oneOf, problemOf, whole } from './parsers.ts'

/**
 * Options in the query of an EventStoreDB address. For any other the client prints the whole address, including the
 * password.
 */
const storeOptions = [
  'tls',
  'tlsCAFile',
  'userCertFile',
  'userKeyFile',
  'connectionName',
  'nodePreference',
  'discoveryInterval',
  'gossipTimeout',
  'maxDiscoverAttempts',
  'keepAliveInterval',
  'keepAliveTimeout',
]
const numbers = ['discoveryInterval', 'gossipTimeout', 'maxDiscoverAttempts', 'keepAliveInterval', 'keepAliveTimeout']
const nodes = ['leader', 'follower', 'random', 'read_only_replica']
/** Returns what is wrong with the address of an EventStoreDB and what would be right, or undefined for a valid one. */
export const eventStoreProblem = (text: string) => {
  const [, scheme, login, hosts = '', query] =
    /^([a-z+]+):\/\/(?:([^@/?]*)@)?([^@/?#,\s]+(?:,[^@/?#,\s]+)*)\/?(?:\?(\S*))?$/.exec(text) ?? []
  if (scheme?.startsWith('k')) return 'must begin with esdb://, also for KurrentDB: write esdb instead of kurrentdb'
  if (scheme !== 'esdb' && scheme !== 'esdb+discover')
    return 'must be an address like esdb://host:2113?tls=false or esdb://user:password@host:2113'
  const ports = hosts.split(',').map((host) => /:([^:\]]*)$/.exec(host)?.[1])
  if (ports.some((port) => port !== undefined && !isPort(port))) return 'must have ports from 1 to 65535'
  const options = new URLSearchParams(query)
  const unknown = [...options.keys()].find((name) => !storeOptions.includes(name))
  if (unknown !== undefined) return `does not support the option ${unknown}; it supports ${storeOptions.join(', ')}`
  const words = numbers.find((name) => !/^\d{1,9}$/.test(options.get(name) ?? '0'))
  if (words !== undefined) return `must set ${words} to a whole number`
  const node = options.get('nodePreference')
  if (node !== null && !nodes.includes(node)) return `must set nodePreference to one of ${nodes.join(', ')}`
  const tls = options.get('tls') ?? 'true'
  if (tls !== 'true' && tls !== 'false') return 'must set tls to true or false'
  if (tls === 'true' && !/^[^:]+:[^:]+$/.test(login ?? ''))
    return 'must have user:password@ before the host (write : as %3A and @ as %40 in them), or end with ?tls=false for a server without TLS'
  return undefined
}

/** Returns what is missing, by setting. */
export const missingStorageSettings = ({
  EVENTSTORE_URL,
  EVENTSTORE_PREFIX,
}: Readonly<Partial<Record<'EVENTSTORE_URL' | 'EVENTSTORE_PREFIX', string | undefined>>>) =>
  EVENTSTORE_PREFIX !== undefined && EVENTSTORE_URL === undefined
    ? ([['EVENTSTORE_URL', 'must be set to the address of EventStoreDB when EVENTSTORE_PREFIX is set']] as const)
    : []

const prefix = /^[a-z0-9]{1,32}$/
/** Returns what is wrong with the prefix of the streams of a log, or undefined for a valid one. */
export const prefixProblem = (text: string) =>
  prefix.test(text) ? undefined : 'must have 1 to 32 lower-case letters and digits'

/** Where the log, the read tables and the keys are. */
export const storageSettings = {
  DATA_DIR: z
    .string()
    .default('./data')
    .describe('folder of the embedded database, the click spool and the generated SECRET'),
  DRAIN_TIMEOUT_SECONDS: whole(0, 3600, 20).describe(
    'seconds that a process which is stopped waits for its clicks to leave the spool; the rest stays in DATA_DIR/spool',
  ),
  EMBEDDED_BUFFERS_MB: whole(16, 65_536, 64).describe(
    'memory in which the embedded database keeps pages, in MB; with 300,000 links or more, a quarter of the memory that is free',
  ),
  DATABASE_URL: z
    .string()
    .superRefine(problemOf(databaseProblem))
    .optional()
    .describe('PostgreSQL 14 or newer to use instead of the embedded one'),
  EVENTSTORE_URL: z
    .string()
    .superRefine(problemOf(eventStoreProblem))
    .optional()
    .describe('EventStoreDB to keep the log in, instead of PostgreSQL: `esdb://host:2113?tls=false`'),
  EVENTSTORE_PREFIX: z
    .string()
    .superRefine(problemOf(prefixProblem))
    .optional()
    .describe(
      'begins the names of the streams in EventStoreDB, with a dot (`acme.link-7`), so that several services and other programs can share one; it is chosen once, before the first start',
    ),
  CLICK_RETENTION_MONTHS: integer(2, 1200)
    .optional()
    .describe(
      'months before the present one whose clicks are kept one by one in the read tables; older ones stay in all totals; not set: all are kept',
    ),
  ANSWER_RETENTION_MONTHS: integer(1, 1200)
    .optional()
    .describe(
      'months after which answers to overlays, and what visitors wrote in reports that are closed, are erased for good; not set: they are kept',
    ),
  KEEP_PAST: oneOf(['on', 'off'], 'on').describe(
    'whether the read tables keep how every resource was before, so that `at` can ask for it; `off` drops that, and `on` fills it again from the log',
  ),
  CHECKPOINT_SECONDS: whole(1, 86_400, 60).describe(
    'seconds between two signed checkpoints of the log at least; one is signed when the log has grown',
  ),
  SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('encrypts the keys in the database; when not set, it is generated once and kept in DATA_DIR/secret'),
} as const
