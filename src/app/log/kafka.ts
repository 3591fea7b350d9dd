import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { KafkaOptions } from '../../clicks/kafka/client.ts'
import type { Config } from '../../config.ts'
import { OperatorError } from '../../lib/operatorerror.ts'

export interface KafkaSettings extends Pick<KafkaOptions, 'brokers' | 'topic' | 'replication' | 'ssl' | 'sasl'> {
  readonly partitions: number
}

type FileSetting = 'KAFKA_SSL_CA' | 'KAFKA_SSL_CERT' | 'KAFKA_SSL_KEY'

/**
 * Returns undefined when no brokers are set: clicks then go straight into the event log. Reads the files of the TLS
 * settings, and throws `OperatorError` for one that cannot be used.
 */
export const kafkaSettings = (config: Config): KafkaSettings | undefined =>
  config.KAFKA_BROKERS.length === 0
    ? undefined
    : {
        brokers: config.KAFKA_BROKERS,
        topic: config.KAFKA_TOPIC,
        partitions: config.KAFKA_PARTITIONS,
        replication: config.KAFKA_REPLICATION,
        ssl: config.KAFKA_SSL ? readTls(config) : undefined,
        sasl: saslOf(config),
      }

const saslOf = ({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_SASL_USERNAME: username = '',
  KAFKA_SASL_PASSWORD: password = '',
}: Config): KafkaOptions['sasl'] => mechanism && { mechanism, username, password }

const readTls = (config: Config): KafkaOptions['ssl'] => {
  const ca = readPem(config, 'KAFKA_SSL_CA', (pem) => new X509Certificate(pem))
  const cert = readPem(config, 'KAFKA_SSL_CERT', (pem) => new X509Certificate(pem))
  const key = readPem(config, 'KAFKA_SSL_KEY', createPrivateKey)
  const tls = { ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) }
  try {
    createSecureContext(tls)
  } catch (error) {
    throw new OperatorError(`KAFKA_SSL_KEY must be the key of KAFKA_SSL_CERT: ${messageOf(error)}`, { cause: error })
  }
  return tls
}

const readPem = (config: Config, name: FileSetting, parse: (pem: Buffer) => unknown): Buffer | undefined => {
  const path = config[name]
  if (path === undefined) return undefined
  try {
    const pem = readFileSync(path)
    parse(pem)
    return pem
  } catch (error) {
    const what = name === 'KAFKA_SSL_KEY' ? 'an unencrypted private key' : 'a certificate'
    throw new OperatorError(`${name} must be a PEM file with ${what}: ${messageOf(error)}`, { cause: error })
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
