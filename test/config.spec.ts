import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { BadConfig, readConfig, settings } from '../src/config.ts'

const SECRET = 'a secret for tests only'

describe('the settings', () => {
  const read = (environment: Record<string, string | undefined> = {}) => readConfig({ SECRET, ...environment })
  const problems = (environment: Record<string, string>) => {
    try {
      read(environment)
    } catch (error) {
      expect(error).to.be.instanceOf(BadConfig)
      return (error as Error).message.split('\n')
    }
    throw new Error(`accepted ${JSON.stringify(environment)}`)
  }

  it('have defaults that need nothing', () => {
    expect(read()).to.deep.equal({
      PORT: 3000,
      HOST: '127.0.0.1',
      BASE_URL: undefined,
      DATA_DIR: resolve('./data'),
      KAFKA_BROKERS: [],
      KAFKA_TOPIC: 'linkledger.clicks',
      KAFKA_PARTITIONS: 6,
      REGISTRATION: 'open',
      RATE_LIMIT_PER_MINUTE: 30,
      TRUST_PROXY: 0,
      DOMAIN_TARGETS: [],
      DOMAIN_CHECK: 'off',
      SECRET,
      ROLES: new Set(['http', 'projector', 'relay', 'recorder']),
      LOG_LEVEL: 'info',
    })
  })

  it('are taken as they are given, an empty one as none', () => {
    const given = {
      PORT: '0',
      HOST: '0.0.0.0',
      BASE_URL: 'https://go.example.com/',
      DATA_DIR: '/srv/links',
      DATABASE_URL: 'postgresql://user:word@host:5433/db?sslmode=require',
      EVENTSTORE_URL: 'esdb://user:word@host:2114?tlsCAFile=/etc/ca.pem',
      KAFKA_BROKERS: 'a.example:9092, [::1]:9093',
      KAFKA_TOPIC: 'clicks-2',
      KAFKA_PARTITIONS: '12',
      REGISTRATION: 'closed',
      RATE_LIMIT_PER_MINUTE: '0',
      TRUST_PROXY: '2',
      DOMAIN_TARGETS: ' go.example.com, 203.0.113.7 ,',
      ROLES: 'relay, http',
      LOG_LEVEL: 'debug',
    }
    expect(read(given)).to.deep.equal({
      ...given,
      PORT: 0,
      BASE_URL: 'https://go.example.com',
      RATE_LIMIT_PER_MINUTE: 0,
      TRUST_PROXY: 2,
      KAFKA_BROKERS: ['a.example:9092', '[::1]:9093'],
      KAFKA_PARTITIONS: 12,
      DOMAIN_TARGETS: ['go.example.com', '203.0.113.7'],
      ROLES: new Set(['relay', 'http']),
      DOMAIN_CHECK: 'dns',
      SECRET,
    })
    const empty = Object.fromEntries(Object.keys(given).map((name) => [name, '']))
    expect(read(empty)).to.deep.equal(read())
    expect(read({ ...empty, UNKNOWN: 'x' })).to.deep.equal(read())
  })

  it('check domains by DNS as soon as there are targets, unless told not to', () => {
    expect(read({ DOMAIN_CHECK: 'dns' }).DOMAIN_CHECK).to.equal('dns')
    expect(read({ DOMAIN_TARGETS: 'a.example', DOMAIN_CHECK: 'off' }).DOMAIN_CHECK).to.equal('off')
  })

  it('that are wrong are all told at once, each by its name and with what would be right', () => {
    const wrong = {
      PORT: 'http',
      BASE_URL: 'go.example.com',
      DATABASE_URL: 'mysql://host/db',
      EVENTSTORE_URL: 'http://host:2113',
      KAFKA_BROKERS: 'kafka',
      KAFKA_TOPIC: 'a topic',
      KAFKA_PARTITIONS: '0',
      REGISTRATION: 'yes',
      RATE_LIMIT_PER_MINUTE: '-1',
      TRUST_PROXY: '99',
      DOMAIN_CHECK: 'http',
      SECRET: 'short',
      ROLES: 'http,writer',
      LOG_LEVEL: 'loud',
    }
    const told = problems(wrong)
    expect(told).to.have.length(Object.keys(wrong).length)
    for (const name of Object.keys(wrong))
      expect(
        told.filter((line) => line.startsWith(`${name} must `)),
        name,
      ).to.have.length(1)
    expect(told).to.include.members([
      'PORT must be a whole number from 0 to 65535',
      'REGISTRATION must be one of open, closed',
      'SECRET must have at least 16 characters',
    ])
  })

  it('let no process start whose roles would leave something undone', () => {
    const DATABASE_URL = 'postgres://host/db'
    expect(problems({ DATABASE_URL, ROLES: 'http' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES must name relay where it names http/)
    expect(problems({ ROLES: 'http,relay' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES must name projector unless DATABASE_URL is set/)
    expect(problems({ DATABASE_URL, ROLES: 'recorder' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES recorder has nothing to do without KAFKA_BROKERS/)
    for (const ROLES of ['http,relay', 'projector', 'relay', 'http,relay,projector'])
      expect(read({ DATABASE_URL, ROLES }).ROLES).to.deep.equal(new Set(ROLES.split(',')))
    expect(read({ DATABASE_URL, ROLES: 'recorder', KAFKA_BROKERS: 'k:9092' }).ROLES).to.deep.equal(
      new Set(['recorder']),
    )
  })

  it('are checked for what cannot work', () => {
    for (const [name, values] of Object.entries({
      PORT: ['65536', '1.5', '-1', '80a', ' '],
      BASE_URL: [
        'ftp://x.example',
        'https://x.example/path',
        'https://x.example?q',
        'https://x.example#f',
        'https://u:p@x.example',
        'https://',
        'x',
      ],
      RATE_LIMIT_PER_MINUTE: ['1000001', '1e3', 'none'],
      TRUST_PROXY: ['true', '17'],
      REGISTRATION: ['OPEN', 'off'],
      LOG_LEVEL: ['INFO', 'verbose'],
    }))
      for (const value of values) expect(problems({ [name]: value }), `${name}=${value}`).to.have.length(1)
  })

  it('say how the address of an EventStoreDB is written', () => {
    const told = (EVENTSTORE_URL: string) => problems({ EVENTSTORE_URL })[0]
    expect(told('kurrentdb://host:2113?tls=false')).to.equal(
      'EVENTSTORE_URL must begin with esdb:// also for a KurrentDB: write esdb in place of kurrentdb',
    )
    expect(told('host:2113')).to.include('must be an address like esdb://host:2113?tls=false')
    expect(told('esdb://host:2113')).to.include('must hold user:password@ before the host')
    expect(told('esdb://host?tls=no')).to.include('tls=true or tls=false')
    expect(told('esdb://host?tls=false&throwOnAppendFailure=false')).to.include('no option throwOnAppendFailure')
    for (const good of [
      'esdb://host?tls=false',
      'esdb://admin:changeit@host:2113',
      'esdb://a%40b:c%3Ad@host:2113/?tls=true&keepAliveInterval=10000',
      'esdb://a:2113,b:2113,c:2113?tls=false&nodePreference=leader',
      'esdb+discover://user:word@cluster.example:2113',
    ])
      expect(read({ EVENTSTORE_URL: good }).EVENTSTORE_URL).to.equal(good)
  })

  it('never show a value that is secret when they are told', () => {
    const told = problems({
      SECRET: 'canary',
      DATABASE_URL: 'mysql://u:canary@h/d',
      EVENTSTORE_URL: 'esdb://u:canary@h?name=x',
      BASE_URL: 'https://u:canary@h',
    })
    expect(told.join()).not.to.include('canary')
  })

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(read())).to.equal(true)
  })

  it('are described, each of them', () => {
    for (const [name, setting] of Object.entries(settings))
      expect(setting.description, name).to.be.a('string').and.not.to.equal('')
  })

  describe('without a SECRET', () => {
    let dir: string
    beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-config-'))))
    afterEach(() => rm(dir, { recursive: true, force: true }))
    const made = (DATA_DIR = join(dir, 'new', 'folder')) => readConfig({ DATA_DIR })

    it('make one, keep it for themselves, and find it again', async () => {
      const { SECRET, DATA_DIR } = made()
      expect(SECRET).to.match(/^[\w-]{43}$/)
      expect(made().SECRET).to.equal(SECRET)
      expect((await readFile(join(DATA_DIR, 'secret'), 'utf8')).trim()).to.equal(SECRET)
      expect((await stat(join(DATA_DIR, 'secret'))).mode & 0o777).to.equal(0o600)
    })

    it('make another for each folder', () => {
      expect(made(join(dir, 'one')).SECRET).not.to.equal(made(join(dir, 'two')).SECRET)
    })

    it('prefer the one that is given', () => {
      const { DATA_DIR } = made()
      expect(readConfig({ DATA_DIR, SECRET }).SECRET).to.equal(SECRET)
    })

    it('do not go on with a kept one that is damaged', async () => {
      const { DATA_DIR } = made()
      for (const damaged of ['', 'short\n']) {
        await writeFile(join(DATA_DIR, 'secret'), damaged)
        expect(() => made(), JSON.stringify(damaged)).to.throw(/secret/i)
      }
    })
  })
})
