import { expect } from 'chai'
import kafkajs from 'kafkajs'
import { explainFailure } from '../../../src/clicks/kafka/failure.ts'
import { TopicReplaced } from '../../../src/clicks/partition.ts'

describe('the reason why Kafka refuses a connection', () => {
  const tls = { ssl: {} }
  const login = { sasl: { mechanism: 'plain', username: 'ann', password: 'word' } } as const
  const failureOf = (message: string, security: Parameters<typeof explainFailure>[0]) =>
    explainFailure(security, Promise.reject(new kafkajs.KafkaJSError(message))).catch(
      (error: unknown) => (error as Error).message,
    )

  it('names the setting to check', async () => {
    for (const [message, security, cure] of [
      ['SASL PLAIN authentication failed: Invalid username or password', login, 'KAFKA_SASL_PASSWORD'],
      ['Connection error: self-signed certificate in certificate chain', tls, 'KAFKA_SSL_CA'],
      ['Connection error: unable to get local issuer certificate', tls, 'KAFKA_SSL_CA'],
      [`Connection error: IP: 127.0.0.1 is not in the cert's list: Hostname/IP does not match`, tls, 'KAFKA_BROKERS'],
      ['Connection error: wrong version number', tls, 'unset KAFKA_SSL'],
      ['Connection error: sslv3 alert bad certificate', tls, 'KAFKA_SSL_CERT'],
      ['Closed connection', tls, 'KAFKA_SASL_MECHANISM, which is not set'],
      ['Closed connection', {}, 'KAFKA_SSL and KAFKA_SASL_MECHANISM, which are not set'],
    ] as const)
      expect(await failureOf(message, security)).to.satisfy(
        (text: string) => text.startsWith(`${message}: `) && text.includes(cure),
        message,
      )
  })

  it('is passed on as it is when the settings are not to blame', async () => {
    expect(await failureOf('Closed connection', { ...tls, ...login })).to.equal('Closed connection')
    expect(await failureOf('This server is not the leader', {})).to.equal('This server is not the leader')
    const replaced = new TopicReplaced('the certificate topic')
    const passed = await explainFailure({}, Promise.reject(replaced)).catch((error: unknown) => error)
    expect(passed).to.equal(replaced)
  })
})
