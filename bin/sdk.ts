// `npm run sdk`: makes the types of the client in `sdk` from the OpenAPI document. With `--check`, only says whether they are current.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { routes } from '../src/http/api/routes.ts'
import { openApi } from '../src/http/reference/openapi.ts'

// the generator needs TypeScript 5, so it runs in a folder of its own
const packages = ['openapi-typescript@7.13.0', 'typescript@5.9.3']
const target = new URL('../sdk/openapi.d.ts', import.meta.url)

const generate = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'linkledger-sdk-'))
  try {
    const [source, made] = [join(folder, 'openapi.json'), join(folder, 'openapi.d.ts')]
    // the version of the service changes nothing in the types
    writeFileSync(source, JSON.stringify(openApi({ routes, version: '' })))
    const args = ['exec', '--yes', ...packages.map((name) => `--package=${name}`), '--']
    const { status } = spawnSync('npm', [...args, 'openapi-typescript', source, '-o', made, '--alphabetize'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`${packages.join(' and ')} could not be run: they come from the npm registry`)
    return readFileSync(made, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const made = generate()
if (!process.argv.includes('--check')) writeFileSync(target, made)
else if (readFileSync(target, 'utf8') !== made) {
  console.error('sdk/openapi.d.ts is not current: run npm run sdk, and commit what it makes')
  process.exitCode = 1
}
