import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { entryOf } from '../bin/checkout.js'

const nobodyUid = 65534

/** A compiler that copies `src/main.ts`, and fails on the word `mistake`. */
const compiler = `
  const fs = require('node:fs')
  const text = fs.readFileSync(process.argv[3].replace('tsconfig.build.json', 'src/main.ts'), 'utf8')
  if (text.includes('mistake')) { console.log('src/main.ts: a mistake'); process.exit(1) }
  fs.writeFileSync(process.argv[5] + '/main.js', text)`

describe('A checkout', () => {
  let dir: string
  let said: string[]
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const remove = (path: string) => rmSync(join(dir, path), { recursive: true })
  /** Returns what would be started: `dist` with its content, or `src`. */
  const start = (runsSources = false) => {
    const root = pathToFileURL(`${dir}/`)
    const entry = entryOf(root, { say: (line) => said.push(line), runsSources })
    const path = entry.slice(root.href.length)
    return path === 'dist/main.js' ? `built: ${readFileSync(new URL(entry), 'utf8')}` : path
  }

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'linkledger-checkout-'))
    said = []
    write('node_modules/typescript/bin/tsc', compiler)
    for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt'])
      write(`node_modules/swagger-ui-dist/${file}`, file)
    write('tsconfig.json', '{}')
    write('tsconfig.build.json', '{}')
    write('src/main.ts', 'one')
    write('src/migrations/1.sql', 'create')
  })
  afterEach(() => {
    chmodSync(dir, 0o700)
    rmSync(dir, { recursive: true })
  })

  it('is built at the first start and again only after a change of its sources', () => {
    expect([start(), start(), said.length]).to.deep.equal(['built: one', 'built: one', 1])
    expect(readFileSync(join(dir, 'dist/migrations/1.sql'), 'utf8')).to.equal('create')
    expect(readFileSync(join(dir, 'dist/http/docs/swagger-ui/swagger-ui.css'), 'utf8')).to.equal('swagger-ui.css')
    write('src/main.ts', 'two')
    expect([start(), start(), said.length]).to.deep.equal(['built: two', 'built: two', 2])
    write('tsconfig.json', '{ }')
    expect([start(), said.length]).to.deep.equal(['built: two', 3])
    remove('dist')
    expect([start(), said.length]).to.deep.equal(['built: two', 4])
    expect(readdirSync(dir).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist'])
  })

  it('needs no compiler once it is built, also as a copy with other times', () => {
    start()
    remove('node_modules/typescript')
    const original = dir
    dir = `${dir}-copy`
    cpSync(original, dir, { recursive: true })
    rmSync(original, { recursive: true })
    expect([start(), said.length]).to.deep.equal(['built: one', 1])
  })

  it('runs its sources where it cannot be built and Node.js can run them, and otherwise names the command to run', () => {
    remove('node_modules/typescript')
    expect(start(true)).to.equal('src/main.ts')
    expect(() => start()).to.throw(
      `${dir}/dist is not a build of these sources, and the compiler is not installed: run npm install && npm run build. ` +
        `Node.js 22.18 or newer needs no build; this is ${process.version}`,
    )
    remove('node_modules')
    expect(() => start(true)).to.throw(`the packages it needs are not installed: run npm install in ${dir}/`)
  })

  it('is not built where it cannot be written', () => {
    chmodSync(dir, 0o555)
    const isRoot = process.geteuid?.() === 0
    try {
      if (isRoot) process.seteuid?.(nobodyUid)
      expect(start(true)).to.equal('src/main.ts')
      expect(() => start()).to.throw(
        /a new one cannot be written there \(EACCES\): run npm run build as a user who can/,
      )
    } finally {
      if (isRoot) process.seteuid?.(0)
    }
  })

  it('shows the errors of the compiler and keeps the last build', () => {
    start()
    write('src/main.ts', 'mistake')
    expect(() => start(true)).to.throw(/^the build failed\nsrc\/main\.ts: a mistake$/)
    expect(readFileSync(join(dir, 'dist/main.js'), 'utf8')).to.equal('one')
  })
})

describe('The package', () => {
  const root = new URL('../', import.meta.url)
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly bin: { readonly linkledger: string }
    readonly scripts: Readonly<Record<string, string>>
  }

  it('has a program that is in the repository and executable, and is built before it is packed', () => {
    const program = new URL(manifest.bin.linkledger, root)
    expect(readFileSync(program, 'utf8')).to.match(/^#!\/usr\/bin\/env node\n/)
    expect(statSync(program).mode & 0o111).to.equal(0o111)
    expect(manifest.scripts['prepack']).to.include('npm run --silent build')
    expect(manifest.scripts).not.to.have.any.keys('prestart', 'prepare')
  })
})
