import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { openStage } from '../support/faults.ts'
import { skip } from '../support/skip.ts'

const root = join(import.meta.dirname, '../..')
const checkout = ['bin', 'src', 'package.json', 'tsconfig.json', 'tsconfig.build.json']

/** Returns the code blocks of a language in a chapter of a page. */
const blocksOf = (page: string, chapter: string, language: string): readonly string[] => {
  const text = readFileSync(join(root, page), 'utf8').split(`\n## ${chapter}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...text.matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, name, block]) => (name === language ? [block!] : []))
}
/** Returns the commands of a block, without comments; a command may have several lines. */
const commandsOf = (block = ''): readonly string[] =>
  block
    .replaceAll('\\\n', '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s+)# .*$/, ''))
    .filter((line) => line !== '')

/** Returns what matches a text in which `…` is what differs each time, within a line. */
const shown = (text: string) =>
  new RegExp(
    `^${text
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )

/** What the last command of the tour responds. */
interface Details {
  readonly details: object
  readonly data: { readonly clicks: number }
}

describe('the commands of the documentation', function () {
  this.timeout(300_000)
  const stage = openStage()
  let home: string
  let address = ''
  let environment: Readonly<Record<string, string>> = {}
  before(async () => {
    home = await stage.dir()
    for (const name of checkout) cpSync(join(root, name), join(home, name), { recursive: true })
    // `npm run types` checks the types, which takes most of the time of a build
    const build = readFileSync(join(root, 'tsconfig.build.json'), 'utf8')
    writeFileSync(
      join(home, 'tsconfig.build.json'),
      build.replace('"noEmit": false', '"noEmit": false, "noCheck": true'),
    )
    // what npm would fetch is there already
    symlinkSync(realpathSync(join(root, 'node_modules')), join(home, 'node_modules'))
    // the embedded server runs as another user
    chmodSync(home, 0o755)
  })
  after(stage.clear)

  const settings = () => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PORT: '0',
    OPERATOR_PORT: '0',
    npm_config_offline: 'true',
    ...environment,
  })
  const adapted = (line: string) => line.replaceAll('localhost:3000', address)

  /** Starts the service with a line of the documentation, and returns how to press Ctrl-C. */
  const start = async (line: string) => {
    const child = spawn('sh', ['-c', line], { cwd: home, env: settings(), detached: true })
    const exited = once(child, 'exit')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
    const end = async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT')
      await exited
    }
    stage.later(end)
    const found = async () => /listens on http:\/\/127\.0\.0\.1(:\d+)/.exec(output)?.[1]
    address = (await until(found, (at) => at !== undefined || child.exitCode !== null, 90_000)) ?? ''
    expect(address, output).not.to.equal('')
    address = `localhost${address}`
    await until(
      () => fetch(`http://${address}/readyz?of=api`),
      ({ status }) => status === 200,
    )
    return end
  }
  const run = async (line: string) =>
    (await promisify(execFile)('sh', ['-c', adapted(line)], { cwd: home, env: settings() })).stdout

  it('install and start the service, create and follow a link, and move the log to another engine', async () => {
    const [install, tour] = blocksOf('README.md', 'Quick start', 'sh')
    const [fetchAndStart = ''] = commandsOf(install)
    expect(fetchAndStart).to.match(/^npm install && /)
    let stop = await start(fetchAndStart.replace('npm install && ', ''))

    const commands = commandsOf(tour)
    const printed: string[] = []
    for (const command of commands)
      if (command.startsWith('KEY='))
        environment = { KEY: String((JSON.parse(printed.at(-1)!) as { api_key: string }).api_key) }
      else printed.push(await run(command))
    const read = async () => JSON.parse(await run(commands.at(-1)!)) as Details
    const last = await until(read, ({ data }) => data.clicks === 1)
    const shown = JSON.parse(
      blocksOf('README.md', 'Quick start', 'json')[0]!.replaceAll('localhost:3000', address),
    ) as Details
    expect(last.details).to.include(shown.details)
    expect(last.data).to.deep.include(shown.data)
    await stop()

    const place = `'${urlOf(await freshDatabase())}'`
    const [copy = '', startThere = ''] = commandsOf(
      blocksOf('docs/operations.md', 'Moving to another engine', 'sh')[0],
    ).map((line) => line.replace(/postgres:\/\/\S+/, place))
    expect(await run(copy)).to.include('are copied and verified')
    stop = await start(startThere)
    expect((await read()).data.clicks).to.equal(1)
    expect(await run(commands.find((command) => command.endsWith('/hello'))!)).to.match(/^HTTP\/1.1 302/)
    await stop()
  })

  it('answer the questions of an auditor, with the output that the page shows', async function () {
    await promisify(execFile)('python3', ['--version']).catch(() =>
      skip(this, 'python3 is not installed', 'install it'),
    )
    cpSync(join(root, 'docs'), join(home, 'docs'), { recursive: true })
    const page = readFileSync(join(root, 'docs/audit.md'), 'utf8')
    const blocks = [...page.matchAll(/^```(sh|text)\n(.*?)^```/gms)].map(([, kind, text]) => ({ kind, text: text! }))
    const [first, ...others] = blocks
    environment = {}
    const stop = await start(first!.text.trim().replace('npm install && ', ''))
    // one shell for all of them, as for a reader; each block of commands ends with a line of its own
    const mark = '-- end of a block --'
    const script = others.map(({ kind, text }) => (kind === 'sh' ? `${text}echo '${mark}'\n` : '')).join('')
    const printed = (await run(`set -e\n${script}`)).split(`${mark}\n`)
    await stop()
    let at = -1
    for (const { kind, text } of others)
      if (kind === 'sh') at++
      else expect(printed[at], `after ${others.filter((block) => block.kind === 'sh')[at]!.text}`).to.match(shown(text))
    expect(at).to.be.above(10)
  })
})
