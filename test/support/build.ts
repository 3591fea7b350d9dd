import { execFile } from 'node:child_process'
import { cp, mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const root = new URL('../../', import.meta.url).pathname
/** Returns the file from which the processes of mocha read the result of the build. */
const outcome = () => join(process.env['LINKLEDGER_TEST_DIR']!, 'build.json')

/** Builds the program for the specs that run it in separate processes: built, it starts in half the time. */
export const startBuild = async () => {
  await mkdir(join(root, '.cache'), { recursive: true })
  const dir = await mkdtemp(join(root, '.cache', 'test-build-'))
  const built = build(dir).then(
    () => ({ main: join(dir, 'main.js') }),
    (error: unknown) => ({ problem: String(error) }),
  )
  const reported = built.then((result) => writeFile(outcome(), JSON.stringify(result)))
  return async () => {
    await reported
    await rm(dir, { recursive: true, force: true })
  }
}

const build = async (dir: string) => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', dir])
  await cp(join(root, 'src'), dir, { recursive: true, filter: (path) => !path.endsWith('.ts') })
}

/** Resolves with the path of the built program. */
export const builtMain = async (): Promise<string> => {
  for (;;) {
    const text = await readFile(outcome(), 'utf8').catch(() => '')
    const { main, problem } = (text === '' ? {} : JSON.parse(text)) as { main?: string; problem?: string }
    if (problem !== undefined) throw new Error(`the program could not be built: ${problem}`)
    if (main !== undefined) return main
    await sleep(50)
  }
}
