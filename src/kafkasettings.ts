export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

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

/** Returns what is missing, by setting: with part of them, the connection would be less safe than the operator believes. */
export const missingKafkaSettings = (
  given: Readonly<Partial<Record<Setting, unknown>>>,
): ReadonlyMap<Setting, string> =>
  new Map(
    pairs
      .filter(([name, needed]) => given[name] && !given[needed])
      .map(([name, needed, how]) => [needed, `must be set ${how} when ${name} is set`]),
  )
