import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'

// what DEBUG asks of knex and @eventstore/db-client holds statements and passwords; they read it when they are loaded, so this file comes first
delete process.env['DEBUG']

const whole = (min: number, max: number, otherwise: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(otherwise)
const list = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .default([])
const broker = /^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i
const oneOf = <const T extends readonly [string, ...string[]]>(values: T, otherwise: T[number]) =>
  z.enum(values, `must be one of ${values.join(', ')}`).default(otherwise as z.util.NoUndefined<T[number]>)
/** URL.canParse is not to be used: Node 20 answers wrongly once it is optimised. */
const origin = (text: string) => {
  try {
    const { protocol, pathname, search, hash, username } = new URL(text)
    return /^https?:$/.test(protocol) && pathname === '/' && !search && !hash && !username
  } catch {
    return false
  }
}

/** What may stand behind the ? of an EventStoreDB address; the client writes the whole address, password and all, to the console for any other. */
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
/** What is wrong with the address of an EventStoreDB, and what would be right; undefined: nothing. */
export const eventStoreProblem = (text: string) => {
  const [, scheme, login, , query] =
    /^([a-z+]+):\/\/(?:([^@/?]*)@)?([^@/?#,\s]+(?:,[^@/?#,\s]+)*)\/?(?:\?(\S*))?$/.exec(text) ?? []
  if (scheme?.startsWith('k')) return 'must begin with esdb:// also for a KurrentDB: write esdb in place of kurrentdb'
  if (scheme !== 'esdb' && scheme !== 'esdb+discover')
    return 'must be an address like esdb://host:2113?tls=false or esdb://user:password@host:2113'
  const options = new URLSearchParams(query)
  const unknown = [...options.keys()].find((name) => !storeOptions.includes(name))
  if (unknown !== undefined) return `must have no option ${unknown}; there are ${storeOptions.join(', ')}`
  const tls = options.get('tls') ?? 'true'
  if (tls !== 'true' && tls !== 'false') return 'must say tls=true or tls=false'
  if (tls === 'true' && !/^[^:]+:[^:]+$/.test(login ?? ''))
    return 'must hold user:password@ before the host (a : in them as %3A, a @ as %40), or end with ?tls=false for a server without TLS'
  return undefined
}

const roles = ['http', 'projector', 'relay', 'recorder'] as const
export type Role = (typeof roles)[number]

/** Every setting, by the name of its environment variable; `describe` is what the README says of it. */
export const settings = {
  PORT: whole(0, 65_535, 3000).describe('port to listen on; 0 takes a free one'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on; `0.0.0.0` for all'),
  BASE_URL: z
    .string()
    .refine(origin, 'must be an address like https://go.example.com, without a path')
    .transform((text) => text.replace(/\/$/, ''))
    .optional()
    .describe('the address short links start with; default `http://localhost:PORT`'),
  DATA_DIR: z
    .string()
    .default('./data')
    .describe('folder of the embedded database, the click spool and the generated SECRET'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be an address like postgres://user:password@host:5432/database')
    .optional()
    .describe('PostgreSQL 14 or newer to use in place of the embedded one'),
  EVENTSTORE_URL: z
    .string()
    .superRefine((text, context) => {
      const message = eventStoreProblem(text)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .optional()
    .describe('EventStoreDB to keep the log in, in place of PostgreSQL: `esdb://host:2113?tls=false`'),
  KAFKA_BROKERS: list
    .refine((all) => all.every((one) => broker.test(one)), 'must be host:port, several separated by commas')
    .describe('brokers of Kafka that carries the clicks: `host:port`, separated by commas'),
  KAFKA_TOPIC: z
    .string()
    .regex(/^(?!\.{1,2}$)[\w.-]{1,200}$/, 'must have 1 to 200 letters, digits and . _ -')
    .refine((name) => name !== 'local', 'may not be local: that is the click log without Kafka')
    .default('linkledger.clicks')
    .describe('the topic of the clicks; another name begins another click log'),
  KAFKA_PARTITIONS: whole(1, 500, 6).describe('partitions of the topic, for ever; the topic is made at its first use'),
  REGISTRATION: oneOf(['open', 'closed'], 'open').describe(
    '`closed`: accounts are made by `linkledger account add` only',
  ),
  RATE_LIMIT_PER_MINUTE: whole(0, 1_000_000, 30).describe('requests a minute for each API key; 0 = unlimited'),
  TRUST_PROXY: whole(0, 16, 0).describe('number of reverse proxies in front, whose `X-Forwarded-For` is believed'),
  DOMAIN_TARGETS: list.describe('names and addresses that branded domains must point to, separated by commas'),
  DOMAIN_CHECK: z
    .enum(['off', 'dns'], 'must be one of off, dns')
    .optional()
    .describe('`dns`: look a new branded domain up; default `dns` when DOMAIN_TARGETS is set, else `off`'),
  SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe('opens the keys kept in the database; made once and kept in DATA_DIR/secret when not given'),
  ROLES: z
    .string()
    .transform((text) => new Set(text.split(',').map((part) => part.trim())))
    .refine((given): given is Set<Role> => [...given].every((role) => roles.some((one) => one === role)), {
      message: `must be some of ${roles.join(', ')}, separated by commas`,
    })
    .default(new Set(roles))
    .describe(
      'what this process does, some of `http`, `projector`, `relay`, `recorder`, separated by commas; all when not set',
    ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').describe(
    'how much is logged',
  ),
} as const

const Environment = z.object(settings).superRefine(({ ROLES, KAFKA_BROKERS, DATABASE_URL }, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['ROLES'], message })
  if (ROLES.has('http') && !ROLES.has('relay'))
    refuse('must name relay where it names http: nobody else takes the clicks of this process on')
  if (!ROLES.has('projector') && DATABASE_URL === undefined)
    refuse('must name projector unless DATABASE_URL is set: nobody else works on an embedded database')
  if (ROLES.size === 1 && ROLES.has('recorder') && KAFKA_BROKERS.length === 0)
    refuse('recorder has nothing to do without KAFKA_BROKERS: there the relay records')
})
export type Config = Readonly<
  Omit<z.output<typeof Environment>, 'BASE_URL' | 'DOMAIN_CHECK' | 'SECRET'> & {
    /** undefined: http://localhost and the port that is listened on */
    BASE_URL: string | undefined
    DOMAIN_CHECK: 'off' | 'dns'
    SECRET: string
  }
>

/** The environment is not one to start with; the message names every setting that is wrong, and what would be right. */
export class BadConfig extends Error {}

/** Settings from the environment, an empty one counting as none. Throws `BadConfig`, which names all problems at once. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>> = process.env): Config => {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success)
    throw new BadConfig(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n'))
  const { BASE_URL, DOMAIN_CHECK, SECRET, ...rest } = parsed.data
  const DATA_DIR = resolve(rest.DATA_DIR)
  return Object.freeze({
    ...rest,
    DATA_DIR,
    BASE_URL,
    DOMAIN_CHECK: DOMAIN_CHECK ?? (rest.DOMAIN_TARGETS.length > 0 ? 'dns' : 'off'),
    SECRET: SECRET ?? keptSecret(DATA_DIR),
  })
}

const shortest = 16

/** Written beside, whole, and then given its name: of two processes that start together one makes it, and neither reads half of it. */
const keptSecret = (dir: string) => {
  const file = join(dir, 'secret')
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true })
    const beside = `${file}.${randomBytes(6).toString('hex')}`
    writeFileSync(beside, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    try {
      linkSync(beside, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(beside)
    }
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < shortest) throw new BadConfig(`${file} is damaged: restore it from a backup, or set SECRET`)
  return secret
}
