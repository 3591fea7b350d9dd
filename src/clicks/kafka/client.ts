import type { LogEntry, SASLOptions } from 'kafkajs'
import { setMaxListeners } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Unavailable } from '../../lib/unavailable.ts'
import type { Log } from '../report.ts'
import { library } from './library.ts'

/** Contents of PEM files. Without `ca`, the CAs that Node.js trusts; `cert` and `key` identify this client. */
export interface TlsOptions {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

export interface KafkaOptions {
  /** host:port of some of the brokers */
  readonly brokers: readonly string[]
  /** undefined: without TLS */
  readonly ssl?: TlsOptions | undefined
  /** undefined: without a login */
  readonly sasl?: SASLOptions | undefined
  /** names the topic, and the click log */
  readonly topic: string
  /** how many copies of each message are promised; undefined: three, or as many as there are brokers */
  readonly replication?: number | undefined
  readonly log: Log
  /** Receives what the topic keeps less than promised, whenever it was checked. */
  readonly onTopicChecked?: ((weaknesses: readonly string[]) => void) | undefined
}

/** Error lines of kafkajs about problems that it retries by itself, or that reject a promise of our caller. */
const harmless =
  /connect|authenticat|timed? ?out|rebalanc|coordinator|re-join|leader|Failed to send|Crash:|Restarting|metadata|does not host|response/i

/**
 * Creates a client. Use one for each producer, consumer and admin: consumers of one client share what they know of
 * offsets, also after a restart. When `abandoned` aborts, its sockets are destroyed, so that pending requests fail at
 * once.
 */
export const createKafkaClient = (
  { brokers, ssl, sasl, log }: Pick<KafkaOptions, 'brokers' | 'ssl' | 'sasl' | 'log'>,
  abandoned?: AbortSignal,
) => {
  if (abandoned) setMaxListeners(0, abandoned)
  return new (library().Kafka)({
    clientId: 'linkledger',
    brokers: [...brokers],
    ...(sasl ? { sasl } : {}),
    connectionTimeout: 3000,
    authenticationTimeout: 5000,
    requestTimeout: 10_000,
    // few retries: our own loops retry with a new client, and report the problem
    retry: { retries: 2, initialRetryTime: 200, maxRetryTime: 1000, restartOnFailure: async () => false },
    socketFactory: ({ host, port, onConnect }) => {
      const servername = isIP(host) ? {} : { servername: host }
      const socket = ssl
        ? connectTls({ host, port, ...servername, ...ssl }, onConnect)
        : connect({ host, port }, onConnect)
      socket.setKeepAlive(true)
      const end = () => socket.destroy(new Error('the client is closed'))
      if (abandoned?.aborted) setImmediate(end)
      abandoned?.addEventListener('abort', end)
      socket.on('close', () => abandoned?.removeEventListener('abort', end))
      return socket
    },
    logLevel: library().logLevel.WARN,
    logCreator: () => (line) => log(levelOf(line), `Kafka: ${line.log.message}`, detailsOf(line)),
  })
}

const levelOf = ({ level, log }: LogEntry) =>
  level === library().logLevel.ERROR && !harmless.test(log.message) ? 'warn' : 'debug'

const detailsOf = ({ namespace, log }: LogEntry) => {
  const { broker, groupId, topic, partition } = log as Readonly<Record<string, unknown>>
  return { namespace, broker, groupId, topic, partition, error: String(log['error'] ?? '') || undefined }
}

/** A request that kafkajs may leave unanswered for ever. */
class NoAnswer extends Unavailable {
  override readonly name = 'NoAnswer'
  override readonly part = 'Kafka'
}
export const noAnswer = (ms: number) => () => new NoAnswer(`Kafka did not answer within ${ms / 1000} s`)
