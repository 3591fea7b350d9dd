import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { startTestApp, type TestApp } from '../support/app.ts'

const root = join(import.meta.dirname, '../..')
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const execute = promisify(execFile)

const examplesOf = (readme: string, language: string) =>
  [...readme.matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, name, code]) => (name === language ? [code!] : []))

describe('the package of the client, installed in an empty folder', function () {
  this.timeout(300_000)
  let app: TestApp
  let dir: string
  let key: string
  let examples: (language: string) => string
  before(async () => {
    app = await startTestApp()
    key = (await app.register()).key
    dir = await mkdtemp(join(tmpdir(), 'linkledger-client-'))
    await execute('npm', ['pack', '--silent', '--pack-destination', dir], { cwd: join(root, 'sdk') })
    const [tarball] = await readdir(dir)
    await writeFile(join(dir, 'package.json'), '{ "type": "module" }')
    await execute('npm', ['install', '--silent', '--no-audit', '--no-fund', `./${tarball}`], { cwd: dir })
    const readme = await readFile(join(dir, 'node_modules/linkledger-client/README.md'), 'utf8')
    examples = (language) =>
      examplesOf(readme, language)
        .join('')
        .replaceAll('http://localhost:3000', app.address)
        .replaceAll('YOUR_API_KEY', key)
  })
  after(async () => {
    await app.close()
    await rm(dir, { recursive: true })
  })

  /** Compiles a file by the strictest rules. Returns what the compiler has found, empty when it is right. */
  const compile = async (name: string) => {
    const options = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2023']
    const result = await execute(process.execPath, [compiler, ...options, name], { cwd: dir }).catch(
      (error: unknown) => error,
    )
    return (result as { readonly stdout: string }).stdout
  }
  const run = async (name: string) => (await execute(process.execPath, [name], { cwd: dir })).stdout.trim()

  it('has its licence, its code and its types only', async () => {
    const folder = join(dir, 'node_modules/linkledger-client')
    const files = await readdir(folder, { recursive: true })
    expect(files).to.have.members(
      'LICENSE README.md dist dist/index.d.ts dist/index.js openapi.d.ts package.json'.split(' '),
    )
    expect(existsSync(join(dir, 'node_modules/openapi-fetch'))).to.equal(true)
  })

  it('runs the JavaScript of its README, and then the TypeScript', async () => {
    await writeFile(join(dir, 'example.mjs'), examples('js'))
    expect(await run('example.mjs')).to.match(/^http/)
    await writeFile(join(dir, 'example.ts'), examples('ts'))
    expect(await compile('example.ts')).to.equal('')
    expect(await run('example.js')).to.equal("[ 'Spring' ]")
  })

  it('lets the compiler find a field that does not exist, in a request and in an answer', async () => {
    await mkdir(join(dir, 'wrong'))
    const start = `import { linkledger } from 'linkledger-client'\nconst api = linkledger('', '')\n`
    const wrong = [
      `await api.POST('/api/url/add', { body: { address: 'https://example.com' } })`,
      `const { data } = await api.GET('/api/account')\ndata?.data.mail`,
      `await api.GET('/api/links')`,
    ]
    for (const [index, line] of wrong.entries()) {
      await writeFile(join(dir, `wrong/${index}.ts`), `${start}${line}\n`)
      expect(await compile(`wrong/${index}.ts`), line).to.match(/error TS/)
    }
  })
})
