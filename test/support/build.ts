import { chmod, cp, mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'

const root = new URL('../../', import.meta.url).pathname
/** Returns the file from which the processes of mocha read the result of the build. */
const outcome = () => join(process.env['LINKLEDGER_TEST_DIR']!, 'build.json')

/**
 * Builds the program for the specs that run it in separate processes. Bundled with its libraries, it starts in half the
 * time of what `npm run build` makes.
 */
export const startBuild = async () => {
  await mkdir(join(root, '.cache'), { recursive: true })
  const dir = await mkdtemp(join(root, '.cache', 'test-build-'))
  // one spec runs what is built as another user
  await chmod(dir, 0o755)
  const built = bundle(dir).then(
    () => ({ main: join(dir, 'main.js') }),
    (error: unknown) => ({ problem: String(error) }),
  )
  const reported = built.then((result) => writeFile(outcome(), JSON.stringify(result)))
  return async () => {
    await reported
    await rm(dir, { recursive: true, force: true })
  }
}

/** Libraries that knex and pg load only for other databases. They are not installed. */
const notInstalled = [
  ...'better-sqlite3 mariadb mysql mysql2 oracledb pg-native pg-query-stream sqlite3 tedious'.split(' '),
]

const bundle = async (dir: string) => {
  await build({
    // threads are started by their file names, next to the program
    entryPoints: {
      main: join(root, 'src/main.ts'),
      run: join(root, 'src/app/engine/run.ts'),
      worker: join(root, 'src/qr/worker.ts'),
      'start-embedded': join(root, 'test/postgres/start-embedded.ts'),
    },
    outdir: dir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: notInstalled,
    // libraries in CommonJS load Node's own modules with `require`
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'silent',
  })
  await cp(join(root, 'src/postgres/migrations'), join(dir, 'migrations'), { recursive: true })
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
