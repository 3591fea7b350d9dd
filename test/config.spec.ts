import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { BadConfig, readConfig, settings } from '../src/config.ts'

const SECRET = 'a secret for tests only'

describe('settings', () => {
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

  it('have defaults, so that none is required', () => {
    expect(read()).to.deep.equal({
      PORT: 3000,
      HOST: '127.0.0.1',
      OPERATOR_HOST: '127.0.0.1',
      OPERATOR_HOSTS: [],
      BASE_URL: undefined,
      DATA_DIR: resolve('./data'),
      KAFKA_BROKERS: [],
      KAFKA_TOPIC: 'linkledger.clicks',
      KAFKA_PARTITIONS: 6,
      READY_MAX_LAG_SECONDS: 10,
      DRAIN_TIMEOUT_SECONDS: 20,
      EMBEDDED_BUFFERS_MB: 64,
      REGISTRATION: 'open',
      RATE_LIMIT_PER_MINUTE: 30,
      SESSION_RATE_LIMIT_PER_MINUTE: 600,
      SESSION_DAYS: 30,
      TRUST_PROXY: 0,
      REGISTRATIONS_PER_ADDRESS: 100,
      REGISTRATIONS_PER_HOUR: 1000,
      FRAME_CHECK: 'on',
      PIXEL_CONSENT: 'notice',
      CHECKPOINT_SECONDS: 60,
      CONNECTIONS_PER_ADDRESS: 1000,
      KEEP_ALIVE_SECONDS: 10,
      ERASURE_DELAY_DAYS: 7,
      QUOTA_LINKS: 1_000_000,
      QUOTA_QR_CODES: 100_000,
      QUOTA_IMAGE_MB: 1000,
      IMPORT_MAX_MB: 1024,
      QUOTA_DOMAINS: 1000,
      QUOTA_CAMPAIGNS: 10_000,
      QUOTA_CHANNELS: 10_000,
      QUOTA_OVERLAYS: 10_000,
      QUOTA_PIXELS: 10_000,
      QUOTA_SPLASH_PAGES: 10_000,
      QUOTA_WEBHOOKS: 20,
      KEEP_PAST: 'on',
      STREAMS: 2000,
      STREAMS_PER_ACCOUNT: 10,
      QUOTA_BIO_PAGES: 10_000,
      DOMAIN_TARGETS: [],
      DOMAIN_CHECK: 'off',
      OWN_HOSTS: [],
      ALLOWED_SCHEMES: [],
      NEW_SECRET: undefined,
      OIDC_SCOPES: 'openid email profile',
      OIDC_REGISTRATION: 'on',
      OIDC_LINK_VERIFIED_EMAIL: 'off',
      OIDC_EMAIL_CLAIM: 'email',
      OIDC_EMAIL_VERIFIED_CLAIM: 'email_verified',
      OIDC_NAME_CLAIM: 'name',
      OIDC_GROUPS_CLAIM: 'groups',
      OIDC_ROLES: [],
      OIDC_OPERATORS: [],
      OIDC_SCIM_CLAIM: 'sub',
      OIDC_LOGOUT: 'off',
      AUTH_PROXY_NETWORKS: [],
      AUTH_PROXY_NAME: 'single sign-on',
      AUTH_PROXY_REGISTRATION: 'on',
      PASSWORD_SIGN_IN: 'on',
      OPERATOR: undefined,
      OPERATOR_NAME: 'Linkledger',
      SECRET,
      ROLES: new Set(['http', 'projector', 'relay', 'recorder']),
      LOG_LEVEL: 'info',
    })
  })

  it('are read from the environment, where an empty one counts as not set', () => {
    const given = {
      PORT: '0',
      HOST: '0.0.0.0',
      BASE_URL: 'https://go.example.com/',
      DATA_DIR: '/srv/links',
      DATABASE_URL: 'postgresql://user:word@host:5433/db?sslmode=require',
      EVENTSTORE_URL: 'esdb://user:word@host:2114?tlsCAFile=/etc/ca.pem',
      EVENTSTORE_PREFIX: 'acme2',
      KAFKA_BROKERS: 'a.example:9092, [::1]:9093',
      KAFKA_TOPIC: 'clicks-2',
      KAFKA_PARTITIONS: '12',
      READY_MAX_LAG_SECONDS: '30',
      DRAIN_TIMEOUT_SECONDS: '5',
      EMBEDDED_BUFFERS_MB: '256',
      KAFKA_REPLICATION: '2',
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA: '/etc/ca.pem',
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_SASL_USERNAME: 'ann',
      KAFKA_SASL_PASSWORD: 'word',
      REGISTRATION: 'closed',
      RATE_LIMIT_PER_MINUTE: '0',
      TRUST_PROXY: '2',
      OPERATOR_PORT: '9000',
      OPERATOR_HOST: '::',
      OPERATOR_HOSTS: 'Metrics.example, prometheus.example',
      DOMAIN_TARGETS: ' go.example.com, 203.0.113.7 ,',
      OWN_HOSTS: 'www.example.com, example.net',
      ALLOWED_SCHEMES: 'MyApp:, other-app',
      NEW_SECRET: 'another secret for tests',
      OPERATOR: 'ann@example.com',
      OPERATOR_NAME: 'Example Ltd',
      OPERATOR_EMAIL: 'help@example.com',
      SECURITY_CONTACT: 'https://example.com/security',
      IMPRINT_URL: 'https://example.com/imprint',
      PRIVACY_URL: 'https://example.com/privacy',
      ROLES: 'relay, http',
      LOG_LEVEL: 'debug',
    }
    expect(read(given)).to.deep.equal({
      ...given,
      PORT: 0,
      BASE_URL: 'https://go.example.com',
      RATE_LIMIT_PER_MINUTE: 0,
      SESSION_RATE_LIMIT_PER_MINUTE: 600,
      SESSION_DAYS: 30,
      TRUST_PROXY: 2,
      REGISTRATIONS_PER_ADDRESS: 100,
      REGISTRATIONS_PER_HOUR: 1000,
      FRAME_CHECK: 'on',
      PIXEL_CONSENT: 'notice',
      CHECKPOINT_SECONDS: 60,
      CONNECTIONS_PER_ADDRESS: 1000,
      KEEP_ALIVE_SECONDS: 10,
      ERASURE_DELAY_DAYS: 7,
      QUOTA_LINKS: 1_000_000,
      QUOTA_QR_CODES: 100_000,
      QUOTA_IMAGE_MB: 1000,
      IMPORT_MAX_MB: 1024,
      QUOTA_DOMAINS: 1000,
      QUOTA_CAMPAIGNS: 10_000,
      QUOTA_CHANNELS: 10_000,
      QUOTA_OVERLAYS: 10_000,
      QUOTA_PIXELS: 10_000,
      QUOTA_SPLASH_PAGES: 10_000,
      QUOTA_WEBHOOKS: 20,
      KEEP_PAST: 'on',
      STREAMS: 2000,
      STREAMS_PER_ACCOUNT: 10,
      OIDC_SCOPES: 'openid email profile',
      OIDC_REGISTRATION: 'on',
      OIDC_LINK_VERIFIED_EMAIL: 'off',
      OIDC_EMAIL_CLAIM: 'email',
      OIDC_EMAIL_VERIFIED_CLAIM: 'email_verified',
      OIDC_NAME_CLAIM: 'name',
      OIDC_GROUPS_CLAIM: 'groups',
      OIDC_ROLES: [],
      OIDC_OPERATORS: [],
      OIDC_SCIM_CLAIM: 'sub',
      OIDC_LOGOUT: 'off',
      AUTH_PROXY_NETWORKS: [],
      AUTH_PROXY_NAME: 'single sign-on',
      AUTH_PROXY_REGISTRATION: 'on',
      PASSWORD_SIGN_IN: 'on',
      QUOTA_BIO_PAGES: 10_000,
      OPERATOR_PORT: 9000,
      KAFKA_BROKERS: ['a.example:9092', '[::1]:9093'],
      READY_MAX_LAG_SECONDS: 30,
      DRAIN_TIMEOUT_SECONDS: 5,
      EMBEDDED_BUFFERS_MB: 256,
      KAFKA_PARTITIONS: 12,
      KAFKA_REPLICATION: 2,
      KAFKA_SSL: true,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      DOMAIN_TARGETS: ['go.example.com', '203.0.113.7'],
      OPERATOR_HOSTS: ['metrics.example', 'prometheus.example'],
      OWN_HOSTS: ['www.example.com', 'example.net'],
      ALLOWED_SCHEMES: ['myapp', 'other-app'],
      ROLES: new Set(['relay', 'http']),
      DOMAIN_CHECK: 'dns',
      SECRET,
    })
    const empty = Object.fromEntries(Object.keys(given).map((name) => [name, '']))
    expect(read(empty)).to.deep.equal(read())
    expect(read({ ...empty, UNKNOWN: 'x' })).to.deep.equal(read())
  })

  it('accept names and addresses of both families in DOMAIN_TARGETS', () => {
    const targets = ['go.example.com', 'xn--mller-kva.example.', 'lb', '203.0.113.7', '2001:db8::7']
    expect(read({ DOMAIN_TARGETS: targets.join(',') }).DOMAIN_TARGETS).to.deep.equal(targets)
  })

  it('check domains by DNS when DOMAIN_TARGETS is set, unless DOMAIN_CHECK is off', () => {
    expect(read({ DOMAIN_CHECK: 'dns', DOMAIN_TARGETS: 'a.example' }).DOMAIN_CHECK).to.equal('dns')
    expect(read({ DOMAIN_TARGETS: 'a.example', DOMAIN_CHECK: 'off' }).DOMAIN_CHECK).to.equal('off')
    expect(problems({ DOMAIN_CHECK: 'dns' })).to.deep.equal([
      'DOMAIN_CHECK must not be dns without DOMAIN_TARGETS: nothing says where domains have to point',
    ])
  })

  it('check domains by a TXT record as soon as BASE_URL is not on this machine', () => {
    const checkAt = (BASE_URL: string) => read({ BASE_URL }).DOMAIN_CHECK
    const local = ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080', 'http://app.localhost']
    expect(local.map(checkAt)).to.deep.equal(['off', 'off', 'off', 'off'])
    const elsewhere = [
      'https://go.example',
      'http://192.168.1.5',
      'http://localhost.example',
      'http://127.0.0.1.example',
    ]
    expect(elsewhere.map(checkAt)).to.deep.equal(['txt', 'txt', 'txt', 'txt'])
    expect(read({ BASE_URL: 'https://go.example', DOMAIN_TARGETS: 'a.example' }).DOMAIN_CHECK).to.equal('dns')
  })

  it('refuse DOMAIN_CHECK=off together with open registration, except on this machine', () => {
    const open = { BASE_URL: 'https://go.example', DOMAIN_CHECK: 'off' }
    expect(problems(open)).to.deep.equal([
      'DOMAIN_CHECK must not be off with open registration: anyone could take any host. Remove it, or set REGISTRATION=closed',
    ])
    expect(read({ ...open, REGISTRATION: 'closed' }).DOMAIN_CHECK).to.equal('off')
    expect(read({ ...open, BASE_URL: 'http://localhost:3000' }).DOMAIN_CHECK).to.equal('off')
    // what is no address has a problem of its own
    for (const BASE_URL of ['go.example.com', 'foo', 'http://'])
      expect(problems({ DOMAIN_CHECK: 'off', BASE_URL }).join('; '), BASE_URL).to.match(/^BASE_URL [^;]+$/)
  })

  it('need the address of EventStoreDB for a prefix of its streams', () => {
    expect(problems({ EVENTSTORE_PREFIX: 'acme' })).to.deep.equal([
      'EVENTSTORE_URL must be set to the address of EventStoreDB when EVENTSTORE_PREFIX is set',
    ])
  })

  it('are reported together when invalid, each with its name and a valid value', () => {
    const wrong = {
      PORT: 'http',
      BASE_URL: 'go.example.com',
      DATABASE_URL: 'mysql://host/db',
      EVENTSTORE_URL: 'http://host:2113',
      EVENTSTORE_PREFIX: 'Acme.',
      KAFKA_BROKERS: 'kafka',
      KAFKA_TOPIC: 'a topic',
      KAFKA_PARTITIONS: '0',
      READY_MAX_LAG_SECONDS: '0',
      KAFKA_REPLICATION: '0',
      KAFKA_SSL: 'yes',
      KAFKA_SASL_MECHANISM: 'gssapi',
      REGISTRATION: 'yes',
      RATE_LIMIT_PER_MINUTE: '-1',
      TRUST_PROXY: '99',
      DOMAIN_TARGETS: 'go.example.com, !!!',
      DOMAIN_CHECK: 'http',
      OWN_HOSTS: '203.0.113.7',
      ALLOWED_SCHEMES: 'myapp, JavaScript:',
      SECRET: 'short',
      ROLES: 'http,writer',
      LOG_LEVEL: 'loud',
    }
    const messages = problems(wrong)
    expect(messages).to.have.length(Object.keys(wrong).length + 1)
    expect(messages[0]).to.equal(`${messages.length - 1} settings are wrong:`)
    for (const name of Object.keys(wrong))
      expect(
        messages.filter((line) => line.startsWith(`${name} must `)),
        name,
      ).to.have.length(1)
    expect(messages).to.include.members([
      'PORT must be a whole number from 0 to 65535',
      'REGISTRATION must be one of open, closed',
      'SECRET must have at least 16 characters',
    ])
  })

  it('refuse roles that would leave work undone', () => {
    const DATABASE_URL = 'postgres://host/db'
    expect(problems({ DATABASE_URL, ROLES: 'http' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES must include relay with http/)
    expect(problems({ ROLES: 'http,relay' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES must include projector unless DATABASE_URL is set/)
    expect(problems({ DATABASE_URL, ROLES: 'recorder' }))
      .to.have.nested.property('[0]')
      .that.matches(/^ROLES must not be recorder alone without KAFKA_BROKERS/)
    for (const ROLES of ['http,relay', 'projector', 'relay', 'http,relay,projector'])
      expect(read({ DATABASE_URL, ROLES }).ROLES).to.deep.equal(new Set(ROLES.split(',')))
    expect(read({ DATABASE_URL, ROLES: 'recorder', KAFKA_BROKERS: 'k:9092' }).ROLES).to.deep.equal(
      new Set(['recorder']),
    )
  })

  it('of Kafka that need each other are refused together, each with the setting to change', () => {
    expect(
      problems({ KAFKA_SSL_CA: '/ca.pem', KAFKA_SSL_CERT: '/c.pem', KAFKA_SASL_PASSWORD: 'pass-word' }),
    ).to.have.members([
      '3 settings are wrong:',
      'KAFKA_SSL must be set to true when KAFKA_SSL_CERT is set',
      'KAFKA_SSL_KEY must be set to the file with its key when KAFKA_SSL_CERT is set',
      'KAFKA_SASL_MECHANISM must be set to one of plain, scram-sha-256, scram-sha-512 when KAFKA_SASL_PASSWORD is set',
    ])
    expect(problems({ KAFKA_SSL: 'false', KAFKA_SSL_CA: '/ca.pem' })).to.have.length(1)
    expect(problems({ KAFKA_SASL_MECHANISM: 'plain' })).to.have.length(3)
    const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'ann', KAFKA_SASL_PASSWORD: 'pass-word' }
    expect(read({ KAFKA_SSL: 'true', ...login })).to.include({ KAFKA_SSL: true, ...login })
  })

  it('are refused when their values are invalid', () => {
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
      TRUST_PROXY: [
        'true',
        '17',
        '1, 2',
        '10.0.0.0/33',
        '10.0.0',
        '10.0.0.0/8, proxy.example',
        '::ffff:10.0.0.0/104',
        '::/129',
      ],
      READY_MAX_LAG_SECONDS: ['0', '1.5', 'never'],
      REGISTRATION: ['OPEN', 'off'],
      DOMAIN_TARGETS: ['!!!', '203.0.113', 'https://go.example.com', 'a..example', '1.2.3.4:53'],
      LOG_LEVEL: ['INFO', 'verbose'],
      SECURITY_CONTACT: ['somebody', 'http://example.com/security'],
      BLOCKLIST_HEADER: ['a key', 'Auth-Key: ', 'Auth Key: 1', 'Auth-Key: 1\nHost: x', 'Auth-Key: 1'],
    }))
      for (const value of values) expect(problems({ [name]: value }), `${name}=${value}`).to.have.length(1)
  })

  it('take a header for the block list where it is asked over TLS alone', () => {
    const given = { BLOCKLIST_HEADER: 'Auth-Key: 12 34', BLOCKLIST_URL: 'https://lists.example/urls' }
    expect(read(given).BLOCKLIST_HEADER).to.deep.equal({ 'Auth-Key': '12 34' })
    expect(problems({ ...given, BLOCKLIST_URL: 'http://lists.example/urls' })).to.deep.equal([
      'BLOCKLIST_HEADER needs BLOCKLIST_URL with https: on http everybody on the way reads it',
    ])
  })

  it('name trusted proxies by their addresses and networks, or by their number', () => {
    const trusts = (TRUST_PROXY: string, ...addresses: readonly string[]) => {
      const trusted = read({ TRUST_PROXY }).TRUST_PROXY
      return addresses.map((address) => (typeof trusted === 'number' ? trusted : trusted(address)))
    }
    expect(trusts('2', '')).to.deep.equal([2])
    expect(
      trusts('127.0.0.1, 10.0.0.0/8', '127.0.0.1', '::ffff:10.200.3.4', '127.0.0.2', '11.0.0.1', '::1', ''),
    ).to.deep.equal([true, true, false, false, false, false])
    expect(trusts('2001:DB8::/32,::1', '2001:db8:1::5', '::1', '2001:db9::1', '1.2.3.4')).to.deep.equal([
      true,
      true,
      false,
      false,
    ])
  })

  it('explain how to write the address of an EventStoreDB', () => {
    const problem = (EVENTSTORE_URL: string) => problems({ EVENTSTORE_URL })[0]
    expect(problem('kurrentdb://host:2113?tls=false')).to.equal(
      'EVENTSTORE_URL must begin with esdb://, also for KurrentDB: write esdb instead of kurrentdb',
    )
    expect(problem('host:2113')).to.include('must be an address like esdb://host:2113?tls=false')
    expect(problem('esdb://host:2113')).to.include('must have user:password@ before the host')
    expect(problem('esdb://host?tls=no')).to.include('must set tls to true or false')
    expect(problem('esdb://host?tls=false&throwOnAppendFailure=false')).to.include(
      'does not support the option throwOnAppendFailure',
    )
    for (const good of [
      'esdb://host?tls=false',
      'esdb://admin:changeit@host:2113',
      'esdb://a%40b:c%3Ad@host:2113/?tls=true&keepAliveInterval=10000',
      'esdb://a:2113,b:2113,c:2113?tls=false&nodePreference=leader',
      'esdb+discover://user:word@cluster.example:2113',
    ])
      expect(read({ EVENTSTORE_URL: good }).EVENTSTORE_URL).to.equal(good)
  })

  it('name the error in the address of a database, a store or brokers, before the service connects to it', () => {
    const wrong: readonly (readonly [name: string, values: readonly string[], problem: RegExp])[] = [
      ['DATABASE_URL', ['host/db', 'http://h/d', 'postgres:/h/d'], /must be an address like postgres:/],
      ['DATABASE_URL', ['postgres:///db', 'postgres://u:w@/db', 'postgres://'], /must name a host/],
      ['DATABASE_URL', ['postgres://h:65536/d', 'postgres://h:port/d'], /with a port up to 65535/],
      ['DATABASE_URL', ['postgres://h:0/d', 'postgres://h/d?port=x', 'postgres://h/d?port=70000'], /from 1 to 65535/],
      ['DATABASE_URL', ['postgres://u:a b@h/d', 'postgres://h/d '], /without spaces/],
      [
        'DATABASE_URL',
        ['postgres://u:%zz@h/d', 'postgres://u:1/2@h/d', 'postgres://u:1#2@h/d', 'postgres://u:a?b@h/d'],
        /write : as %3A/,
      ],
      ['DATABASE_URL', ['postgres://a,b/d', 'postgres://a/d?host=a,b'], /must name one host/],
      ['DATABASE_URL', ['postgres://h/d?sslmod=require', 'postgres://h/d?SSL=true'], /has the option "(sslmod|SSL)"/],
      ['DATABASE_URL', ['postgres://h/d?sslmode=requier', 'postgres://h/d?sslmode='], /must set sslmode to one of/],
      ['DATABASE_URL', ['postgres://h/d?connect_timeout=soon'], /must set connect_timeout/],
      [
        'EVENTSTORE_URL',
        ['esdb://?tls=false', 'esdb://a:2113,?tls=false', 'esdb://a b?tls=false'],
        /must be an address/,
      ],
      [
        'EVENTSTORE_URL',
        ['esdb://h:0?tls=false', 'esdb://h:x?tls=false', 'esdb://a,h:65536?tls=false'],
        /must have ports/,
      ],
      ['EVENTSTORE_PREFIX', ['acme.', 'a-b', 'A', 'a'.repeat(33)], /must have 1 to 32 lower-case letters and digits/],
      ['EVENTSTORE_URL', ['esdb://h?tls=false&keepAliveInterval=often'], /keepAliveInterval to a whole number/],
      ['EVENTSTORE_URL', ['esdb://h?tls=false&nodePreference=master'], /nodePreference to one of leader/],
      [
        'KAFKA_BROKERS',
        ['k', 'k:0', 'k:65536', 'kafka://k:9092', 'k :9092', 'k:9092,', ',', '[k]:9092'],
        /must be host:port/,
      ],
      ['HOST', ['0.0.0.0:80', 'http://h', '*', '256.1.1.1'], /must be an IP address or a host name/],
      ['OPERATOR_HOST', ['a b', '::1]'], /must be an IP address or a host name/],
      ['DOMAIN_TARGETS', [',', ' '], /must have a value, or be empty/],
      ['SMTP_URL', ['smtp://%zz@h', 'smtp://h:65536', 'mail.example.com'], /must be an address like smtp:/],
    ]
    for (const [name, values, problem] of wrong)
      for (const value of values) {
        const [line = 'nothing', ...more] = problems({ [name]: value }).filter((one) => one.startsWith(name))
        expect([line, more], value).to.deep.equal([line, []])
        expect(line, value).to.match(problem)
      }
    for (const good of [
      'postgres://h',
      'postgresql://u:%40%2F@[::1]:5433/d?sslmode=require&channel_binding=require',
      'postgres://u:w@/d?host=/run/postgresql&port=5433',
      'postgres:///d?host=/run/postgresql',
      'postgres://u@%2Frun%2Fpostgresql/d',
    ])
      expect(read({ DATABASE_URL: good }).DATABASE_URL).to.equal(good)
    expect(read({ KAFKA_BROKERS: 'a:9092 , [::1]:9093' }).KAFKA_BROKERS).to.deep.equal(['a:9092', '[::1]:9093'])
  })

  it('need an issuer, its id of this service, and confirmed addresses to link accounts by them', () => {
    const OIDC_ISSUER = 'https://id.example.com/realms/main'
    const right = { OIDC_ISSUER, OIDC_CLIENT_ID: 'linkledger' }
    expect(problems({ OIDC_ISSUER }).join()).to.match(/^OIDC_CLIENT_ID must be set with OIDC_ISSUER/)
    expect(problems({ OIDC_CLIENT_ID: 'x' }).join()).to.match(/^OIDC_ISSUER must be set with OIDC_CLIENT_ID/)
    expect(problems({ PASSWORD_SIGN_IN: 'off' }).join()).to.match(
      /^PASSWORD_SIGN_IN must not be off without OIDC_ISSUER or AUTH_PROXY_HEADER/,
    )
    expect(problems({ ...right, OIDC_LINK_VERIFIED_EMAIL: 'on' }).join()).to.match(/without SMTP_URL/)
    expect(problems({ ...right, OIDC_LINK_VERIFIED_EMAIL: 'on', REGISTRATION: 'closed' }).join()).to.match(
      /without SMTP_URL/,
    )
    for (const issuer of ['http://id.example.com', 'https://id.example.com?x=1', 'https://u:p@id.example.com', 'id'])
      expect(problems({ ...right, OIDC_ISSUER: issuer }).join(), issuer).to.match(
        /^OIDC_ISSUER must be an https address/,
      )
    expect(read({ ...right, OIDC_ISSUER: 'http://localhost:9000' }).OIDC_ISSUER).to.equal('http://localhost:9000')
    expect(problems({ ...right, OIDC_SCOPES: 'email' }).join()).to.match(/^OIDC_SCOPES must contain openid/)
  })

  it('need the header of a proxy and its networks, and no issuer at the same time', () => {
    const [AUTH_PROXY_HEADER, AUTH_PROXY_NETWORKS] = ['X-Forwarded-Email', '10.0.0.7, 172.18.0.0/16']
    const right = { AUTH_PROXY_HEADER, AUTH_PROXY_NETWORKS }
    expect(problems({ AUTH_PROXY_HEADER }).join()).to.match(/^AUTH_PROXY_NETWORKS must be set with AUTH_PROXY_HEADER/)
    expect(problems({ AUTH_PROXY_NETWORKS }).join()).to.match(/^AUTH_PROXY_HEADER must be set with AUTH_PROXY_NETWORKS/)
    expect(problems({ ...right, OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'x' }).join()).to.match(
      /^AUTH_PROXY_HEADER must not be set with OIDC_ISSUER/,
    )
    for (const header of ['Host', 'X-Forwarded-For', 'Authorization', 'cookie', 'a b', 'x_y', ''])
      expect(problems({ ...right, AUTH_PROXY_HEADER: header }).join(), header).to.match(/^AUTH_PROXY_HEADER must be/)
    expect(problems({ ...right, AUTH_PROXY_NETWORKS: '10.0.0.0/33' }).join()).to.match(/^AUTH_PROXY_NETWORKS must be/)
    expect(read({ ...right, PASSWORD_SIGN_IN: 'off' })).to.deep.include({
      AUTH_PROXY_HEADER: 'x-forwarded-email',
      AUTH_PROXY_NETWORKS: ['10.0.0.7', '172.18.0.0/16'],
    })
  })

  it('give roles in accounts to groups, whose names may have commas, and refuse ambiguous values', () => {
    const OIDC_ROLES = 'editors=@acme:editor, /Team/Admins=@7:admin,cn=x,ou=y = @acme:owner'
    expect(read({ OIDC_ROLES }).OIDC_ROLES).to.deep.equal([
      { group: 'editors', account: { username: 'acme' }, role: 'editor' },
      { group: '/Team/Admins', account: { id: 7 }, role: 'admin' },
      { group: 'cn=x,ou=y', account: { username: 'acme' }, role: 'owner' },
    ])
    for (const wrong of ['x', 'x=@a', '=@a:editor', 'x=a:editor', 'x=@a:editor y', 'x=@a:e:r,y=@a:editor'])
      expect(problems({ OIDC_ROLES: wrong }).join(), wrong).to.match(/^OIDC_ROLES must be group=@account:role/)
  })

  it('name the groups that make operators, with commas after a backslash', () => {
    const { OIDC_OPERATORS } = read({ OIDC_OPERATORS: 'operators, cn=links\\,ou=it,,' })
    expect(OIDC_OPERATORS).to.deep.equal(['operators', 'cn=links,ou=it'])
  })

  it('never show a secret value in a message', () => {
    const messages = problems({
      SECRET: 'canary',
      DATABASE_URL: 'mysql://u:canary@h/d',
      EVENTSTORE_URL: 'esdb://u:canary@h?name=x',
      BASE_URL: 'https://u:canary@h',
    })
    expect(messages.join()).not.to.include('canary')
  })

  it('are frozen', () => {
    expect(Object.isFrozen(read())).to.equal(true)
  })

  it('all have a description', () => {
    for (const [name, setting] of Object.entries(settings))
      expect(setting.description, name).to.be.a('string').and.not.to.equal('')
  })

  it('are read without a side effect: no folder and no file is created', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'linkledger-config-'))
    const { SECRET: secret } = readConfig({ DATA_DIR: join(dir, 'data') })
    expect(secret).to.equal(undefined)
    expect(await readdir(dir)).to.deep.equal([])
    await rm(dir, { recursive: true })
  })

  it('needs a sender and an address for the links in mails, and never prints the password of the mail server', () => {
    const problem = (variables: Readonly<Record<string, string>>) => {
      try {
        readConfig(variables)
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    const [SMTP_URL, SMTP_FROM] = ['smtp://ann:secret-word@mail.example.com:587', 'Links <links@example.com>']
    const BASE_URL = 'https://go.example.com'
    expect(problem({ SMTP_URL })).to.include('SMTP_FROM must be set').and.include('BASE_URL must be set')
    expect(problem({ SMTP_URL: 'ann:secret-word@mail', SMTP_FROM, BASE_URL }))
      .to.match(/^SMTP_URL must be an address/)
      .and.not.include('secret-word')
    expect(problem({ SMTP_URL, SMTP_FROM: 'links', BASE_URL })).to.include('SMTP_FROM must be an e-mail address')
    expect(problem({ SMTP_URL, SMTP_FROM, BASE_URL })).to.equal('')
  })
})
