import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { missingKafkaSettings, saslMechanisms } from './kafkasettings.ts'
import { OperatorError } from './lib/operatorerror.ts'

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
const whole = (min: number, max: number, otherwise: number) => integer(min, max).default(otherwise)
const list = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .default([])
/** The last label has a letter: an IP address with a mistake is no name. */
const host = /^([a-z\d_-]{1,63}\.)*(?=[\d_-]*[a-z])[a-z\d_-]{1,63}\.?$/i
const broker = /^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i
const oneOf = <const T extends readonly [string, ...string[]]>(values: T, otherwise: T[number]) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(otherwise as z.util.NoUndefined<T[number]>)
/** `URL.canParse` would be shorter, but Node 20 returns wrong results once it has optimised the call. */
const origin = (text: string) => {
  try {
    const { protocol, pathname, search, hash, username } = new URL(text)
    return /^https?:$/.test(protocol) && pathname === '/' && !search && !hash && !username
  } catch {
    return false
  }
}

/** Options in the query of an EventStoreDB address. For any other the client prints the whole address, including the password. */
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
/** Returns what is wrong with the address of an EventStoreDB and what would be right, or undefined for a valid one. */
export const eventStoreProblem = (text: string) => {
  const [, scheme, login, , query] =
    /^([a-z+]+):\/\/(?:([^@/?]*)@)?([^@/?#,\s]+(?:,[^@/?#,\s]+)*)\/?(?:\?(\S*))?$/.exec(text) ?? []
  if (scheme?.startsWith('k')) return 'must begin with esdb://, also for KurrentDB: write esdb instead of kurrentdb'
  if (scheme !== 'esdb' && scheme !== 'esdb+discover')
    return 'must be an address like esdb://host:2113?tls=false or esdb://user:password@host:2113'
  const options = new URLSearchParams(query)
  const unknown = [...options.keys()].find((name) => !storeOptions.includes(name))
  if (unknown !== undefined) return `does not support the option ${unknown}; it supports ${storeOptions.join(', ')}`
  const tls = options.get('tls') ?? 'true'
  if (tls !== 'true' && tls !== 'false') return 'must set tls to true or false'
  if (tls === 'true' && !/^[^:]+:[^:]+$/.test(login ?? ''))
    return 'must have user:password@ before the host (write : as %3A and @ as %40 in them), or end with ?tls=false for a server without TLS'
  return undefined
}

const roles = ['http', 'projector', 'relay', 'recorder'] as const
export type Role = (typeof roles)[number]

/** Every setting, by the name of its environment variable. `describe` is its row in the documentation. */
export const settings = {
  PORT: whole(0, 65_535, 3000).describe('port to listen on; 0 picks a free one'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on; `0.0.0.0` for all interfaces'),
  BASE_URL: z
    .string()
    .refine(origin, 'must be an address without a path, for example https://go.example.com')
    .transform((text) => text.replace(/\/$/, ''))
    .optional()
    .describe('address that short links start with; default `http://localhost:PORT`'),
  DATA_DIR: z
    .string()
    .default('./data')
    .describe('folder of the embedded database, the click spool and the generated SECRET'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be an address like postgres://user:password@host:5432/database')
    .optional()
    .describe('PostgreSQL 14 or newer to use instead of the embedded one'),
  EVENTSTORE_URL: z
    .string()
    .superRefine((text, context) => {
      const message = eventStoreProblem(text)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .optional()
    .describe('EventStoreDB to keep the log in, instead of PostgreSQL: `esdb://host:2113?tls=false`'),
  KAFKA_BROKERS: list
    .refine((all) => all.every((one) => broker.test(one)), 'must be host:port; separate several with commas')
    .describe('Kafka brokers that carry the clicks: `host:port`, separated by commas'),
  KAFKA_TOPIC: z
    .string()
    .regex(/^(?!\.{1,2}$)[\w.-]{1,200}$/, 'must consist of 1 to 200 letters, digits and . _ -')
    .refine((name) => name !== 'local', 'must not be `local`, which names the click log without Kafka')
    .default('linkledger.clicks')
    .describe('topic of the clicks; a different name starts a new click log'),
  KAFKA_PARTITIONS: whole(1, 500, 6).describe(
    'partitions of the topic; they can never change, and the topic is created on first use',
  ),
  KAFKA_REPLICATION: integer(1, 100)
    .optional()
    .describe('brokers that keep a copy of each click; default 3, or as many as there are'),
  KAFKA_SSL: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .optional()
    .describe('`true`: connect to the brokers with TLS'),
  KAFKA_SSL_CA: z
    .string()
    .optional()
    .describe('PEM file with the CA of the brokers; default the CAs that Node.js trusts'),
  KAFKA_SSL_CERT: z.string().optional().describe('PEM file with a client certificate, for brokers that require one'),
  KAFKA_SSL_KEY: z.string().optional().describe('PEM file with the key of KAFKA_SSL_CERT'),
  KAFKA_SASL_MECHANISM: z
    .string()
    .toLowerCase()
    .pipe(z.enum(saslMechanisms, `must be one of ${saslMechanisms.join(', ')}`))
    .optional()
    .describe('how to log in to the brokers: `plain`, `scram-sha-256` or `scram-sha-512`; default no login'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('user name for the brokers'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('password for the brokers'),
  DRAIN_TIMEOUT_SECONDS: whole(0, 3600, 20).describe(
    'seconds that a process which is stopped waits for its clicks to leave the spool; the rest stays in DATA_DIR/spool',
  ),
  REGISTRATION: oneOf(['open', 'closed'], 'open').describe('`closed`: only `linkledger account add` creates accounts'),
  RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 30).describe('requests per minute for each API key; 0 = unlimited'),
  TRUST_PROXY: whole(0, 16, 0).describe('number of trusted reverse proxies in front, which set `X-Forwarded-For`'),
  DOMAIN_TARGETS: list
    .refine((all) => all.every((one) => isIP(one) > 0 || host.test(one)), {
      message: 'must be host names or IP addresses, for example go.example.com, 203.0.113.7',
    })
    .describe('host names and addresses that branded domains must point to, separated by commas'),
  DOMAIN_CHECK: z
    .enum(['off', 'dns'], 'must be one of off, dns')
    .optional()
    .describe('`dns`: look up new branded domains; default `dns` when DOMAIN_TARGETS is set, else `off`'),
  SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('encrypts the keys in the database; when not set, it is generated once and kept in DATA_DIR/secret'),
  OPERATOR: z
    .string()
    .max(200, 'must have at most 200 characters')
    .optional()
    .describe('who runs commands, as the log records it; default the user and host of the system'),
  NEW_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('the next SECRET, for `linkledger secret rotate` only'),
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
} as const

const Environment = z.object(settings).superRefine((given, context) => {
  const { ROLES, KAFKA_BROKERS, DATABASE_URL } = given
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['ROLES'], message })
  if (ROLES.has('http') && !ROLES.has('relay'))
    refuse('must include relay with http: only this process can forward the clicks it records')
  if (!ROLES.has('projector') && DATABASE_URL === undefined)
    refuse('must include projector unless DATABASE_URL is set: no other process can use the embedded database')
  if (ROLES.size === 1 && ROLES.has('recorder') && KAFKA_BROKERS.length === 0)
    refuse('must not be recorder alone without KAFKA_BROKERS: the relay records the clicks then')
  for (const [name, message] of missingKafkaSettings(given)) context.addIssue({ code: 'custom', path: [name], message })
})
export type Config = Readonly<
  Omit<z.output<typeof Environment>, 'BASE_URL' | 'DOMAIN_CHECK' | 'NEW_SECRET' | 'OPERATOR' | 'SECRET'> & {
    /** undefined: http://localhost and the port of the server */
    BASE_URL: string | undefined
    DOMAIN_CHECK: 'off' | 'dns'
    NEW_SECRET: string | undefined
    /** undefined: see `operatorOf` */
    OPERATOR: string | undefined
    /** undefined: see `loadSecret` */
    SECRET: string | undefined
  }
>

/** Some settings are invalid. The message has a line for each of them, with what would be right; when there are several, after their number. */
export class BadConfig extends OperatorError {
  override readonly name = 'BadConfig'
}

export type Variables = Readonly<Record<string, string | undefined>>

const describeProblems = (issues: readonly z.core.$ZodIssue[]) => {
  const lines = issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  return lines.length === 1 ? lines[0] : [`${lines.length} settings are wrong:`, ...lines].join('\n')
}

/** Returns the settings in environment variables; an empty one counts as not set. Throws `BadConfig`. */
export const readConfig = (variables: Variables): Config => {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) throw new BadConfig(describeProblems(parsed.error.issues))
  const { BASE_URL, DOMAIN_CHECK, NEW_SECRET, OPERATOR, SECRET, ...rest } = parsed.data
  return Object.freeze({
    ...rest,
    DATA_DIR: resolve(rest.DATA_DIR),
    BASE_URL,
    DOMAIN_CHECK: DOMAIN_CHECK ?? (rest.DOMAIN_TARGETS.length > 0 ? 'dns' : 'off'),
    NEW_SECRET,
    OPERATOR,
    SECRET,
  })
}
