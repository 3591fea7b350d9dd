import { expect } from 'chai'
import { farewell, welcome } from '../../src/cli/welcome.ts'
import { readConfig } from '../../src/config.ts'

const servers = {
  DATA_DIR: '/data',
  DATABASE_URL: 'postgres://ann:word@db/linkledger',
  EVENTSTORE_URL: 'esdb://store:2113?tls=false',
  KAFKA_BROKERS: 'kafka:9092',
}
const shown = (variables: Readonly<Record<string, string>>, isNew: boolean, firstAccount?: string) =>
  welcome({
    config: readConfig({ DATA_DIR: '/data', ...variables }),
    address: 'http://127.0.0.1:3000',
    operatorAddress: 'http://127.0.0.1:9464',
    baseUrl: 'https://go.example.com',
    isNew,
    firstAccount,
  })

describe('the welcome of a service', () => {
  it('uses the address of BASE_URL in every command of the tour', () => {
    const commands = shown({}, true).match(/curl .*/g)
    expect(commands).to.have.length(4)
    for (const command of commands!) expect(command).to.match(/https:\/\/go\.example\.com\//)
  })

  it('creates the first account on the command line when registration is closed', () => {
    const text = shown({ REGISTRATION: 'closed' }, true)
    expect(text).to.include('linkledger account add ann@example.com').and.not.include('/register')
  })

  it('has a link that makes the first account, also when something is stored already', () => {
    const link = 'https://go.example.com/account/first?t=abc'
    for (const isNew of [true, false]) expect(shown({ REGISTRATION: 'closed' }, isNew, link)).to.include(link)
  })

  it('is one line once something is stored', () => {
    expect(shown({}, false)).to.equal(
      'Linkledger listens on http://127.0.0.1:3000 and its short links start with https://go.example.com (dashboard: https://go.example.com/dashboard; API: https://go.example.com/docs; data: /data; metrics: http://127.0.0.1:9464/metrics).',
    )
  })

  it('names the roles of a process that serves no links', () => {
    const text = shown({ ROLES: 'projector,relay', DATABASE_URL: servers.DATABASE_URL }, true)
    expect(text).to.equal(
      'Linkledger listens on http://127.0.0.1:3000 for probes and runs the roles projector, relay (metrics: http://127.0.0.1:9464/metrics).',
    )
  })
})

describe('the last line of a service', () => {
  it('names the folder of the data', () => {
    expect(farewell(readConfig({ DATA_DIR: '/data' }))).to.equal('Stopped. All data is kept in /data.')
  })

  it('names the settings of the servers that keep data too, without their addresses', () => {
    expect(farewell(readConfig(servers))).to.equal(
      'Stopped. All data is kept in the EventStoreDB of EVENTSTORE_URL, the database of DATABASE_URL, the Kafka topic linkledger.clicks, and /data.',
    )
  })
})
