import { z } from 'zod'
import { isHostAndPort } from './addresses.ts'
import { integer, whole } from './parsers.ts'

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

/** How clicks travel through Kafka. */
export const kafkaSettings = {
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    // one that is left out may be what was meant to be there
    .refine(
      (all) => all.every(isHostAndPort),
      'must be host:port, with a port from 1 to 65535; one comma between several',
    )
    .default([])
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
} as const

const toMechanism = `to one of ${saslMechanisms.join(', ')}`
/** Settings that need another one: when the first is set, the second must be set, and how. */
const pairs = [
  ['KAFKA_SSL_CA', 'KAFKA_SSL', 'to true'],
  ['KAFKA_SSL_CERT', 'KAFKA_SSL', 'to true'],
  ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY', 'to the file with its key'],
  ['KAFKA_SSL_KEY', 'KAFKA_SSL_CERT', 'to the file with its certificate'],
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'to the user name'],
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_PASSWORD', 'to the password'],
  ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_MECHANISM', toMechanism],
  ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_MECHANISM', toMechanism],
] as const
type Setting = (typeof pairs)[number][0 | 1]

/**
 * Returns what is missing, by setting: with part of them, the connection would be less safe than the operator believes.
 */
export const missingKafkaSettings = (
  given: Readonly<Partial<Record<Setting, unknown>>>,
): ReadonlyMap<Setting, string> =>
  new Map(
    pairs
      .filter(([name, needed]) => given[name] && !given[needed])
      .map(([name, needed, how]) => [needed, `must be set ${how} when ${name} is set`]),
  )
