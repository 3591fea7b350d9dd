import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { transform } from 'esbuild'
import { until } from '../support/client.ts'
import { startProcess } from '../support/process.ts'

/** Compiles the two files that any Node.js loads, each on its own, and returns the path of the program. */
const compileStart = async (dir: string) => {
  for (const name of ['main', 'nodeversion']) {
    const source = await readFile(new URL(`../../src/${name}.ts`, import.meta.url), 'utf8')
    const { code } = await transform(source, { loader: 'ts' })
    await writeFile(join(dir, `${name}.mjs`), code.replaceAll('.ts"', '.mjs"'))
  }
  return join(dir, 'main.mjs')
}

describe('a Node.js that is too old', () => {
  let dir: string
  before(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-old-'))))
  after(() => rm(dir, { recursive: true, force: true }))

  it('makes the program print one line and exit with 1 before it imports anything else', async () => {
    // the process says that it is an older version, and fails on every import but that of the check
    const loader = `export const resolve = (name, context, next) => {
      if (context.parentURL && !name.endsWith('/nodeversion.mjs')) throw new Error('imported ' + name)
      return next(name, context)
    }`
    const preload = `import { register } from 'node:module'
      Object.defineProperty(process, 'version', { value: 'v18.20.0' })
      register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(loader)}`)})`
    // newer versions warn about module.register
    const args = [
      '--no-warnings',
      '--import',
      `data:text/javascript,${encodeURIComponent(preload)}`,
      await compileStart(dir),
      'start',
    ]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect(output).to.equal(
      'linkledger needs Node.js 20.19 or newer; this is v18.20.0. Install a current version from https://nodejs.org.\n',
    )
    expect(code).to.equal(1)
  })
})

describe('a service that is started by hand', function () {
  this.timeout(300_000)
  let dir: string
  before(async () => (dir = await mkdtemp(join(tmpdir(), 'linkledger-start-'))))
  after(() => rm(dir, { recursive: true, force: true }))

  it('shows a tour and no log lines until there is an account, and says where the data is when it stops', async () => {
    const settings = { DATA_DIR: dir, LOG_LEVEL: 'info' }
    const first = await startProcess(settings)
    const { port } = new URL(first.address)
    await until(
      () => first.operator.get('/readyz?of=api'),
      ({ status }) => status === 200,
    )
    const email = 'ann@example.com'
    expect((await first.post('/register', { body: { email, password: 'correct horse 1' } })).status).to.equal(200)
    expect(await first.end('SIGINT')).to.equal(0)
    const printed = first.output()
    expect(printed).to.include(`curl -X POST http://localhost:${port}/register`)
    expect(printed.match(/127\.0\.0\.1/g), 'the address and that of the metrics').to.have.length(2)
    expect(printed).to.include(`All data is kept in ${dir}.`)
    // on a slow machine, a turn of the event loop takes longer than it should
    const logged = printed.match(/"msg":"[^"]*"/g)?.filter((line) => !line.includes('a turn of the event loop'))
    expect(logged).to.deep.equal(['"msg":"stopping"'])
    expect(printed.endsWith(`Stopped. All data is kept in ${dir}.\n`)).to.equal(true)

    const second = await startProcess(settings)
    expect(await second.end('SIGINT')).to.equal(0)
    expect(second.output().split('\n')[0])
      .to.include(`Linkledger listens on ${second.address} and`)
      .and.include('/docs; data: ')
      .and.include(dir)
    expect(second.output()).not.to.include('curl')
  })
})
