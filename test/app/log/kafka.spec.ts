import { expect } from 'chai'
import { join } from 'node:path'
import { kafkaSettings } from '../../../src/app/log/kafka.ts'
import { readConfig } from '../../../src/config.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'

describe('the connection settings of Kafka', () => {
  const settingsOf = (over: Readonly<Record<string, string>>) =>
    kafkaSettings(readConfig({ KAFKA_BROKERS: 'k:9092', ...over }))
  const noPem = join(import.meta.dirname, 'kafka.spec.ts')

  it('are undefined without brokers, and have neither TLS nor a login by default', () => {
    expect(kafkaSettings(readConfig({ KAFKA_SSL: 'true' }))).to.equal(undefined)
    expect(settingsOf({})).to.include({ ssl: undefined, sasl: undefined, replication: undefined })
    expect(settingsOf({ KAFKA_SSL: 'false' })).to.include({ ssl: undefined })
  })

  it('turn on TLS with the trusted CAs of Node.js when no file is given', () => {
    expect(settingsOf({ KAFKA_SSL: 'true' })?.ssl).to.deep.equal({})
  })

  it('are refused when a file is missing or is no PEM file, with the name of the setting', () => {
    const KAFKA_SSL = 'true'
    expect(() => settingsOf({ KAFKA_SSL, KAFKA_SSL_CA: '/missing.pem' })).to.throw(
      OperatorError,
      /^KAFKA_SSL_CA .*ENOENT/,
    )
    expect(() => settingsOf({ KAFKA_SSL, KAFKA_SSL_CA: noPem })).to.throw(
      OperatorError,
      'KAFKA_SSL_CA must be a PEM file with a certificate',
    )
    const client = { KAFKA_SSL_CERT: noPem, KAFKA_SSL_KEY: noPem }
    expect(() => settingsOf({ KAFKA_SSL, ...client })).to.throw(OperatorError, /^KAFKA_SSL_CERT must be a PEM file/)
  })

  it('carry the login', () => {
    const login = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'ann', KAFKA_SASL_PASSWORD: 'word' }
    expect(settingsOf(login)?.sasl).to.deep.equal({ mechanism: 'plain', username: 'ann', password: 'word' })
  })
})
