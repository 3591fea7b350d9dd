import { Unavailable } from '../../lib/unavailable.ts'
import type { KafkaOptions } from './client.ts'
import { library } from './library.ts'

type Security = Pick<KafkaOptions, 'ssl' | 'sasl'>

/** Kafka cannot be reached with these settings; the message names the ones to check. */
export class ConnectionRefused extends Unavailable {
  override readonly name = 'ConnectionRefused'
  override readonly part = 'Kafka'
}

/** Rejects with the name of the setting to check when a wrong password or certificate is the cause. */
export const explainFailure = async <T>(security: Security, connecting: Promise<T>): Promise<T> => {
  try {
    return await connecting
  } catch (error) {
    if (!(error instanceof library().KafkaJSError)) throw error
    const cure = cureOf(error.message, security)
    if (cure === undefined) throw error
    throw new ConnectionRefused(`${error.message.trim()}: ${cure}`, { cause: error })
  }
}

/** Returns what to change, undefined when the settings are not to blame. */
const cureOf = (text: string, { ssl, sasl }: Security): string | undefined => {
  if (/SASL|authenticat/i.test(text)) return 'check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'
  if (/alert|certificate required/i.test(text) && ssl)
    return 'the broker wants a client certificate that it trusts: check KAFKA_SSL_CERT and KAFKA_SSL_KEY'
  if (/altnames|hostname/i.test(text))
    return 'KAFKA_BROKERS must have the names that are in the certificates of the brokers'
  if (/certificate|issuer|self.signed/i.test(text))
    return 'set KAFKA_SSL_CA to the file with the CA that signed the certificates of the brokers'
  if (/before secure TLS|wrong version number|packet length|SSL routines/i.test(text))
    return 'this port does not seem to use TLS: unset KAFKA_SSL, or set KAFKA_BROKERS to the port with TLS'
  if (/closed connection/i.test(text) && !(ssl && sasl)) return expectations({ ssl, sasl })
  return undefined
}

const expectations = ({ ssl, sasl }: Security) => {
  const missing = [...(ssl ? [] : ['KAFKA_SSL']), ...(sasl ? [] : ['KAFKA_SASL_MECHANISM'])]
  return `the broker may require ${missing.join(' and ')}, which ${missing.length > 1 ? 'are' : 'is'} not set`
}
