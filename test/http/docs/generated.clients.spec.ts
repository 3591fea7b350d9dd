import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Context } from 'mocha'
import { routes } from '../../../src/http/routes.ts'
import { openApi } from '../../../src/http/docs/openapi.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { skip } from '../../support/skip.ts'

const root = join(import.meta.dirname, '../../..')
const programs = join(import.meta.dirname, 'generated')
const execute = promisify(execFile)

/** Runs a program in a folder; when it fails, the error has all that it has printed. */
const run = async (cwd: string, file: string, ...args: string[]) => {
  const { stdout } = await execute(file, args, { cwd, maxBuffer: 1 << 26 }).catch(
    (error: Error & { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${[file, ...args].join(' ')} failed\n${error.stdout}${error.stderr}`, { cause: error })
    },
  )
  return stdout
}

/** Set by `.ci/long`: without a tool, the tests fail. */
const required = process.env['REQUIRE_CLIENTS'] === '1'

const needsTool = async (context: Context, tool: string, ...args: string[]) => {
  try {
    await execute(tool, args)
  } catch (error) {
    if (required) throw new Error(`${tool} is required`, { cause: error })
    skip(context, `there is no ${tool} here`, `install ${tool}`)
  }
}

const version = '7.25.0'
const jarName = `openapi-generator-cli-${version}.jar`
const cache = join(root, '.cache')

/** Returns the path of the generator, which is fetched once. */
const fetchGenerator = async () => {
  const jar = join(cache, jarName)
  if (existsSync(jar)) return jar
  await mkdir(cache, { recursive: true })
  const unfinished = await mkdtemp(join(cache, 'fetching-'))
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${version}`
  await run(unfinished, 'mvn', '-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${unfinished}`)
  // renamed when complete, because another run may fetch it at the same time
  await rename(join(unfinished, jarName), jar)
  await rm(unfinished, { recursive: true })
  return jar
}

describe('the clients that openapi-generator makes', function () {
  this.timeout(600_000)
  let dir: string
  let generate: (language: string, ...options: string[]) => Promise<string>
  let app: TestApp
  before(async function () {
    await needsTool(this, 'java', '-version')
    await needsTool(this, 'mvn', '-version')
    const jar = await fetchGenerator()
    app = await startTestApp()
    dir = await mkdtemp(join(tmpdir(), 'linkledger-clients-'))
    await writeFile(join(dir, 'openapi.json'), JSON.stringify(openApi({ routes, version: '0.1.0' })))
    generate = async (language, ...options) => {
      const input = ['-i', 'openapi.json', '-g', language, '-o', language, ...options]
      await run(dir, 'java', '-jar', jar, 'generate', ...input)
      return join(dir, language)
    }
  })
  after(async () => {
    await app?.close()
    if (dir !== undefined) await rm(dir, { recursive: true })
  })

  /** Expects what a program in this language has printed about the answers that its client decoded. */
  const expectDecoded = (printed: string, language: string) =>
    expect(JSON.parse(printed)).to.deep.equal({
      alias: language,
      tags: ['made'],
      before: [0, 0],
      visited: 302,
      after: [1, { Unknown: '1' }],
      listed: [`https://example.com/${language}`],
      revoked: null,
      deleted: 'POST',
      gone: ['not_found', 'Link not found.'],
    })

  it('can be imported in Python, and decode responses of the service', async function () {
    await needsTool(this, 'python3', '-c', 'import ensurepip, venv')
    const folder = await generate('python')
    await run(folder, 'python3', '-m', 'venv', 'venv')
    const python = join(folder, 'venv/bin/python')
    await run(folder, python, '-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt')
    await run(folder, python, '-m', 'compileall', '-q', 'openapi_client')
    const modules = "pkgutil.walk_packages(openapi_client.__path__, 'openapi_client.')"
    const imports = `import importlib, openapi_client, pkgutil; print(len([importlib.import_module(m.name) for m in ${modules}]))`
    expect(Number(await run(folder, python, '-c', imports))).to.be.above(300)
    await copyFile(join(programs, 'links.py'), join(folder, 'links.py'))
    expectDecoded(await run(folder, python, 'links.py', app.address), 'python')
  })

  it('compile in Go, and decode responses of the service', async function () {
    await needsTool(this, 'go', 'version')
    const folder = await generate('go', '--git-host=example.com', '--git-user-id=linkledger', '--git-repo-id=client')
    await mkdir(join(folder, 'links'))
    await copyFile(join(programs, 'links.go'), join(folder, 'links/main.go'))
    await run(folder, 'go', 'mod', 'tidy')
    await run(folder, 'go', 'build', './...')
    expectDecoded(await run(folder, 'go', 'run', './links', app.address), 'go')
  })

  it('compile in Java', async function () {
    await needsTool(this, 'javac', '-version')
    const folder = await generate('java')
    await run(folder, 'mvn', '-q', '-B', 'compile')
    expect(existsSync(join(folder, 'target/classes/org/openapitools/client/model/LinkDetails.class'))).to.equal(true)
  })

  it('compile in TypeScript, with axios', async () => {
    const folder = await generate('typescript-axios')
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await run(folder, 'npm', 'install', '--silent', '--no-audit', '--no-fund', 'axios@1')
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext']
    await run(folder, process.execPath, join(root, 'node_modules/typescript/bin/tsc'), ...options, 'index.ts')
  })
})
