import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../support/client.ts'
import { ownPort } from '../support/ports.ts'
import { skip } from '../support/skip.ts'

const run = promisify(execFile)
const recipe = new URL('./kafka/pom.xml', import.meta.url).pathname
const cache = new URL('../../.cache', import.meta.url).pathname

/** Existing brokers as host:port, separated by commas; tests that kill a broker or rewrite its responses skip them. */
export const given = process.env['TEST_KAFKA_BROKERS'] || undefined

/** Set by `npm run test:kafka`: without a broker the tests fail. */
export const required = process.env['REQUIRE_KAFKA'] === '1'

/** Returns the folder of the broker's jars, which are fetched once. Throws without Java, Maven or Maven Central. */
export const fetchJars = async (): Promise<string> => {
  const version = /<kafka.version>(.+)</.exec(await readFile(recipe, 'utf8'))![1]!
  const libs = join(cache, `kafka-${version}`)
  await run('java', ['-version'])
  if (existsSync(libs)) return libs
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, 'fetching-'))
  await run('mvn', ['-q', '-B', '-f', recipe, `-Dlibs=${unfinished}`, 'package'], { timeout: 300_000 })
  // renamed when complete, because another run may fetch them at the same time
  await rename(unfinished, libs).catch(() => rm(unfinished, { recursive: true }))
  return libs
}

/** Skips where no broker is available; throws where one is required and cannot be installed. */
export const needsBroker = async (test: Mocha.Context) => {
  if (given !== undefined) return
  if (!required)
    return skip(
      test,
      'no Kafka broker',
      'set TEST_KAFKA_BROKERS, or use `npm run test:kafka`, which starts one (Java 17, Maven)',
    )
  try {
    await fetchJars()
  } catch (error) {
    throw new Error(
      `a Kafka broker cannot be installed (it needs Java 17, Maven and Maven Central): ${String(error)}`,
      {
        cause: error,
      },
    )
  }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

/** A listener besides the plain one. */
export interface Listener {
  readonly name: string
  readonly protocol: 'SSL' | 'SASL_SSL' | 'SASL_PLAINTEXT'
  readonly port: number
}
export interface BrokerExtras {
  readonly listeners: readonly Listener[]
  readonly properties: string
  /** arguments of `kafka-storage format` */
  readonly format: readonly string[]
}
const noExtras: BrokerExtras = { listeners: [], properties: '', format: [] }

interface Ports {
  readonly port: number
  readonly controller: number
  /** the port that clients connect to, the broker's or a proxy's */
  readonly advertised: number
}

/** One node that is broker and controller. */
const propertiesOf = (
  dir: string,
  { port, controller, advertised }: Ports,
  { listeners, properties }: BrokerExtras,
) => `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
listeners=${[`PLAINTEXT://127.0.0.1:${port}`, `CONTROLLER://127.0.0.1:${controller}`, ...addressesOf(listeners)].join()}
advertised.listeners=${[`PLAINTEXT://127.0.0.1:${advertised}`, ...addressesOf(listeners)].join()}
listener.security.protocol.map=${['PLAINTEXT:PLAINTEXT', 'CONTROLLER:PLAINTEXT', ...listeners.map(({ name, protocol }) => `${name}:${protocol}`)].join()}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs=${dir}/data
auto.create.topics.enable=true
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
num.network.threads=2
num.io.threads=2
background.threads=2
log.cleaner.dedupe.buffer.size=8388608
log.cleaner.threads=1
log.index.size.max.bytes=1048576
log.initial.task.delay.ms=1000
log.retention.check.interval.ms=1000
file.delete.delay.ms=1000
# a killed broker cannot register again before its old session has ended
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
${properties}
`
const addressesOf = (listeners: readonly Listener[]) => listeners.map(({ name, port }) => `${name}://127.0.0.1:${port}`)
const logging = `
log4j.rootLogger=WARN, C
log4j.appender.C=org.apache.log4j.ConsoleAppender
log4j.appender.C.layout=org.apache.log4j.PatternLayout
log4j.appender.C.layout.ConversionPattern=%d %p %c %m%n
log4j.logger.kafka.server=INFO
`

const none = async () => {}

/** Skips a test that kills or slows down its broker, where the broker is shared with others. */
export const needsOwnBroker = (test: Mocha.Context) => {
  if (given !== undefined) skip(test, 'it needs a broker of its own', 'unset TEST_KAFKA_BROKERS')
}

export interface Broker {
  readonly port: number
  /** the address for clients: the broker's, or the proxy's */
  readonly address: string
  /** Resolves when the broker accepts connections. */
  readonly start: () => Promise<void>
  readonly kill: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Suspends the broker: it keeps its connections and does not respond. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** Stops the broker and removes its data. */
  readonly clear: () => Promise<void>
}

/** Starts a real Kafka broker; several can run at once. */
export const startBroker = async (advertised?: number, extras = noExtras): Promise<Broker> => {
  if (given !== undefined)
    return { port: 0, address: given, start: none, kill: none, stop: none, freeze: none, thaw: none, clear: none }
  const libs = await fetchJars()
  const dir = await mkdtemp(join(process.env['LINKLEDGER_TEST_DIR'] ?? tmpdir(), 'kafka-'))
  const [port, controller] = [await ownPort(), await ownPort()]
  const conf = join(dir, 'server.properties')
  await writeFile(conf, propertiesOf(dir, { port, controller, advertised: advertised ?? port }, extras))
  await writeFile(join(dir, 'log4j.properties'), logging)
  const java = [
    ...['-Xms128m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true'],
    ...[`-Djava.io.tmpdir=${dir}`, `-Dlog4j.configuration=file:${dir}/log4j.properties`, '-cp', `${libs}/*`],
  ]
  const format = ['format', '-t', '4L6g3nShT-eMCtK--X86sw', '-c', conf, ...extras.format]
  await run('java', [...java, 'kafka.tools.StorageTool', ...format])

  let child: ChildProcess | undefined
  let output = ''
  const start = async () => {
    output = ''
    const started = spawn('java', [...java, 'kafka.Kafka', conf], { stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (text: Buffer) => (output = (output + text.toString()).slice(-20_000)))
    const up = await until(
      async () => started.exitCode !== null || (output.includes('Kafka Server started') && (await answers(port))),
      Boolean,
      60_000,
    )
    if (!up || started.exitCode !== null) throw new Error(`the broker does not start:\n${output}`)
  }
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  await start()
  return {
    port,
    address: `127.0.0.1:${advertised ?? port}`,
    start,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    freeze: async () => void child?.kill('SIGSTOP'),
    thaw: async () => void child?.kill('SIGCONT'),
    clear: async () => {
      await end('SIGKILL')
      await rm(dir, { recursive: true, force: true })
    },
  }
}
