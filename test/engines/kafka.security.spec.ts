import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kafkaSettings } from '../../src/app/log/kafka.ts'
import { startTopicRecorder } from '../../src/clicks/kafka/consumer.ts'
import { createTopicProducer } from '../../src/clicks/kafka/producer.ts'
import { kafkaSink } from '../../src/clicks/kafka/sink.ts'
import { openClickRecord } from '../../src/clicks/record.ts'
import { readConfig } from '../../src/config.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { note, openStage, randomFrom, seed } from '../support/faults.ts'
import { makeLinks, visitsTo } from '../support/load.ts'
import { ownPort } from '../support/ports.ts'
import { linksOf, numbers } from '../support/spool.ts'
import { eventsOf, newMemoryStore } from '../support/writer.ts'
import { type Broker, needsBroker, needsOwnBroker, startBroker } from './broker.ts'
import { createCa, createCertificate } from './certificates.ts'
import { expectOnce } from './clicks.ts'
import { clicks } from './topic.ts'

const password = 'pass-word-of-ann'

describe('the connection to Kafka with TLS and a login', function () {
  this.timeout(300_000)
  const stage = openStage()
  let dir: string
  let broker: Broker
  /** Addresses of the listeners: TLS, TLS with a client certificate, TLS with a login, and a login without TLS. */
  let at: Readonly<Record<'TLS' | 'MUTUAL' | 'LOGIN' | 'PLAINLOGIN', string>>
  const file = (name: string) => join(dir, name)

  before(async function () {
    this.timeout(400_000)
    needsOwnBroker(this)
    await needsBroker(this)
    dir = await mkdtemp(join(process.env['LINKLEDGER_TEST_DIR'] ?? tmpdir(), 'tls-'))
    const ca = await createCa(dir, 'ca')
    await createCa(dir, 'other')
    const server = await createCertificate(dir, 'server', ca, 'IP:127.0.0.1')
    await createCertificate(dir, 'client', ca, 'DNS:client')
    const protocols = { TLS: 'SSL', MUTUAL: 'SSL', LOGIN: 'SASL_SSL', PLAINLOGIN: 'SASL_PLAINTEXT' } as const
    const listeners = await Promise.all(
      Object.entries(protocols).map(async ([name, protocol]) => ({ name, protocol, port: await ownPort() })),
    )
    const logins = ['login', 'plainlogin'].flatMap((name) => [
      `listener.name.${name}.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_ann="${password}";`,
      ...['256', '512'].map(
        (bits) =>
          `listener.name.${name}.scram-sha-${bits}.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;`,
      ),
    ])
    const properties = [
      ...['ssl.keystore.type=PEM', `ssl.keystore.location=${server.both}`],
      ...[
        'ssl.truststore.type=PEM',
        `ssl.truststore.location=${ca.cert}`,
        'listener.name.mutual.ssl.client.auth=required',
      ],
      ...['sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512', ...logins],
    ].join('\n')
    const format = ['256', '512'].flatMap((bits) => [
      '--add-scram',
      `SCRAM-SHA-${bits}=[name=ann,password=${password}]`,
    ])
    broker = await startBroker(undefined, { listeners, properties, format })
    at = Object.fromEntries(listeners.map(({ name, port }) => [name, `127.0.0.1:${port}`])) as typeof at
  })
  after(async () => {
    await stage.clear()
    await broker?.clear()
    if (dir) await rm(dir, { recursive: true })
  })

  const withLogin = (mechanism: string, over: Readonly<Record<string, string>> = {}) => ({
    KAFKA_BROKERS: at.LOGIN,
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: file('ca.pem'),
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: 'ann',
    KAFKA_SASL_PASSWORD: password,
    ...over,
  })

  /** Opens a sink and a recorder with these settings, as the service does, and collects what they log. */
  const open = async (settings: Readonly<Record<string, string>>) => {
    const topic = `t-${randomUUID()}`
    const { partitions, ...kafka } = kafkaSettings(readConfig({ ...settings, KAFKA_TOPIC: topic }))!
    const store = await newMemoryStore()
    const record = openClickRecord({ store, log: topic, partitions })
    const logged: unknown[] = []
    const log = (...line: unknown[]) => void logged.push(line)
    const createProducer = () => createTopicProducer({ ...kafka, record, log })
    const sink = kafkaSink({ topic, record, createProducer })
    const recorder = startTopicRecorder({
      ...kafka,
      record,
      log,
      onProblem: (error) => void logged.push(String(error)),
    })
    return {
      sink,
      recorder,
      logged: () => JSON.stringify(logged),
      links: async () => linksOf(await eventsOf(store, `clicks-${topic}-0`)),
      close: () => Promise.all([sink.close(), recorder.stop()]),
    }
  }

  const expectRecorded = async (settings: Readonly<Record<string, string>>) => {
    const { sink, links, logged, close } = await open(settings)
    try {
      await until(
        () =>
          sink.deliver({ 0: clicks(1, 10) }).then(
            () => true,
            () => false,
          ),
        Boolean,
        30_000,
      )
      expect(await until(links, ({ length }) => length === 10, 30_000), logged()).to.deep.equal(numbers(1, 10))
      expect(logged()).not.to.include(password)
    } finally {
      await close()
    }
  }

  /** Returns the problem that sink and recorder report, and how long that took. */
  const problemsWith = async (settings: Readonly<Record<string, string>>) => {
    const began = performance.now()
    const { sink, recorder, logged, close } = await open(settings)
    try {
      const sent = await sink.deliver({ 0: clicks(1, 1) }).then(() => 'delivered', String)
      const problem = await until(async () => recorder.state().problem, Boolean, 30_000)
      note(`${problem} (after ${Math.round(performance.now() - began)} ms)`)
      expect(sent).to.include(problem)
      expect(logged() + sent).not.to.include(settings['KAFKA_SASL_PASSWORD'] ?? password)
      return problem
    } finally {
      await close()
    }
  }

  for (const mechanism of ['plain', 'scram-sha-256', 'SCRAM-SHA-512'])
    it(`carries clicks with TLS and ${mechanism}`, () => expectRecorded(withLogin(mechanism)))

  it('carries clicks with TLS alone, with a client certificate, and with a login alone', async () => {
    const tls = { KAFKA_SSL: 'true', KAFKA_SSL_CA: file('ca.pem') }
    await expectRecorded({ ...tls, KAFKA_BROKERS: at.TLS })
    const client = { KAFKA_SSL_CERT: file('client.pem'), KAFKA_SSL_KEY: file('client.key') }
    await expectRecorded({ ...tls, ...client, KAFKA_BROKERS: at.MUTUAL })
    const { KAFKA_SSL: _, KAFKA_SSL_CA: __, ...login } = withLogin('scram-sha-512', { KAFKA_BROKERS: at.PLAINLOGIN })
    await expectRecorded(login)
  })

  it('reports a wrong password or user within seconds, with the settings to check and without the password', async () => {
    for (const mechanism of ['plain', 'scram-sha-256'])
      for (const over of [{ KAFKA_SASL_PASSWORD: 'wrong-secret' }, { KAFKA_SASL_USERNAME: 'eve' }])
        expect(await problemsWith(withLogin(mechanism, over))).to.match(
          /authentication failed.*: check KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD$/i,
        )
  })

  it('refuses brokers that no trusted CA has signed, with the setting to change', async () => {
    const KAFKA_SSL_CA = file('other.pem')
    expect(await problemsWith(withLogin('plain', { KAFKA_SSL_CA }))).to.include('set KAFKA_SSL_CA to')
    const { KAFKA_SSL_CA: _, ...unknown } = withLogin('plain')
    expect(await problemsWith(unknown)).to.include('set KAFKA_SSL_CA to')
  })

  it('names the setting that does not fit the port of the broker', async () => {
    const { KAFKA_BROKERS, KAFKA_SSL, KAFKA_SSL_CA, ...login } = withLogin('plain')
    expect(await problemsWith({ KAFKA_SSL, KAFKA_SSL_CA, KAFKA_BROKERS: broker.address })).to.include('unset KAFKA_SSL')
    expect(await problemsWith({ KAFKA_BROKERS: at.TLS })).to.include('KAFKA_SSL')
    expect(await problemsWith({ ...login, KAFKA_BROKERS })).to.include('KAFKA_SSL')
    expect(await problemsWith({ KAFKA_SSL, KAFKA_SSL_CA, KAFKA_BROKERS })).to.include('KAFKA_SASL_MECHANISM')
    const mutual = { KAFKA_SSL, KAFKA_SSL_CA, KAFKA_BROKERS: at.MUTUAL }
    expect(await problemsWith(mutual)).to.include('KAFKA_SSL_CERT')
  })

  it('carries the clicks of the whole service, and its output never has the password', async () => {
    const database = await freshDatabase()
    const settings = {
      DATA_DIR: await stage.dir(),
      DATABASE_URL: urlOf(database),
      SECRET: 'a secret for tests only',
      LOG_LEVEL: 'trace',
      ...withLogin('scram-sha-256'),
    }
    const service = await stage.start(settings)
    const { key } = await service.register()
    const load = stage.load(service, 5, visitsTo(await makeLinks(service, key, 2), randomFrom(seed)))
    await load.answers(200)
    await expectOnce(service, key, database, await load.stop())
    expect(service.output()).not.to.include(password)
  })
})
