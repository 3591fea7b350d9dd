import { execFile } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { withTimeout } from '../../src/lib/async/timeout.ts'
import { client, until } from '../support/client.ts'
import { ownPort } from '../support/ports.ts'
import { skip } from '../support/skip.ts'
import { fetchJars } from './broker.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const services = ['app', 'eventstore', 'kafka', 'postgres'] as const
type Name = (typeof services)[number]

/** Returns the functions of a compose project of our own: `docker compose`, or the older program `docker-compose`. */
const openProject = async (variables: Readonly<Record<string, string>>) => {
  const options = { cwd: root, env: { ...process.env, ...variables }, maxBuffer: 1 << 26 }
  const hasPlugin = await run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  )
  const [program, ...first] = hasPlugin ? (['docker', 'compose'] as const) : (['docker-compose'] as const)
  const files = ['-p', 'linkledger-test', '-f', 'docker-compose.yml', '-f', 'test/engines/standins.yml']
  const compose = async (...args: string[]) =>
    (await run(program, [...first, ...files, ...args], options)).stdout.trim()
  const docker = async (...args: string[]) => (await run('docker', args, options)).stdout.trim()
  const idOf = (name: Name) => compose('ps', '--all', '-q', name)
  return {
    up: () => compose('up', '--build', '--detach'),
    down: () => compose('down', '--volumes'),
    logs: () => compose('logs', '--tail', '50'),
    kill: async (name: Name) => docker('kill', await idOf(name)),
    start: async (name: Name) => docker('start', await idOf(name)),
    health: async (name: Name) => docker('inspect', '--format', '{{.State.Health.Status}}', await idOf(name)),
    inside: (name: Name, ...command: string[]) => compose('exec', '-T', name, ...command),
    /** Returns the size in MB of the image, and of the one that it is built on. */
    sizes: async () => {
      const image = await docker('inspect', '--format', '{{.Image}}', await idOf('app'))
      const sizes = await docker('image', 'inspect', '--format', '{{.Size}}', image, 'node:24-slim')
      return sizes.split('\n').map((size) => Math.round(Number(size) / 1e6)) as [number, number]
    },
  }
}

describe('docker-compose.yml on a Docker engine', function () {
  this.timeout(900_000)
  let project: Awaited<ReturnType<typeof openProject>>
  let service: ReturnType<typeof client>
  let key: string
  let clicks = 0
  before(async function () {
    if (process.env['REQUIRE_DOCKER'] !== '1')
      skip(this, 'it builds images', '`npm run test:compose` runs it, with Docker, Java 17 and Maven')
    const port = await ownPort()
    project = await openProject({
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
      KAFKA_JARS: await fetchJars(),
      NODE_MODULES: await realpath(`${root}node_modules`),
    })
    service = client(`http://127.0.0.1:${port}`)
    await project.up()
    await ready()
  })
  after(async function () {
    if (project === undefined) return
    if (this.test?.parent?.tests.some(({ state }) => state === 'failed')) process.stdout.write(await project.logs())
    await project.down()
  })

  const ready = async () => {
    // Docker's proxy accepts connections before the app does, and some of those are never answered
    const asked = () => withTimeout(5000, service.get('/readyz?of=api')).catch(() => ({ status: 0, text: 'no answer' }))
    const { status, text } = await until(asked, (answer) => answer.status === 200, 240_000)
    expect(status, text).to.equal(200)
  }
  const details = async () =>
    (await service.get('/api/url/1', { key })).json as { details: object; data: { clicks: number } }
  /** Follows the link; when the app is not running, nothing is answered or counted. */
  const follow = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const { status, headers } = await service.visit('/hello')
      expect([status, headers.get('Location')]).to.deep.equal([302, 'https://example.com/a'])
      clicks++
    }
  }
  const counted = async () => {
    const answer = await until(details, ({ data }) => data?.clicks >= clicks, 120_000)
    expect(answer.data.clicks).to.equal(clicks)
    return answer.details
  }

  it('runs the app as a user of its own, on a root file system of which only /tmp can be written', async () => {
    expect(await project.inside('app', 'id', '-un')).to.equal('node')
    const wrote = await project.inside(
      'app',
      'sh',
      '-c',
      'for f in / /app /tmp; do touch $f/x 2>/dev/null && echo $f; done; true',
    )
    expect(wrote).to.equal('/tmp')
    const [size, base] = await project.sizes()
    process.stdout.write(`      (image: ${size} MB, of which ${base} MB are node:24-slim)\n`)
    expect(size - base).to.be.below(60)
  })

  it('makes, follows and counts a link', async () => {
    key = (await service.register()).key
    const { json, text } = await service.post('/api/url/add', {
      key,
      body: { url: 'https://example.com/a', custom: 'hello' },
    })
    expect(json['error'], text).to.equal(0)
    await follow(20)
    await counted()
  })

  for (const name of services)
    it(`loses nothing when ${name} is killed and started again`, async () => {
      const before = await counted()
      await project.kill(name)
      if (name !== 'app') await follow(5)
      await project.start(name)
      const health = await until(
        () => project.health(name),
        (now) => now === 'healthy',
        180_000,
      )
      expect(health).to.equal('healthy')
      await ready()
      await follow(5)
      expect(await counted()).to.deep.equal(before)
    })
})
