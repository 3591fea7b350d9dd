// How a checkout is started and built. JavaScript for any supported Node.js: it runs before anything is compiled.
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program cannot be started. The message says what would help, so it is shown without a stack. */
class CannotStart extends Error {
  /** @override */
  name = 'CannotStart'
}
/** There is no compiler, or no place for what it writes. */
class CannotBuild extends CannotStart {}

/**
 * @typedef {object} Options
 * @property {(line: string) => void} say shows a line to the user
 * @property {boolean} [runsSources] whether this Node.js runs TypeScript
 */

/**
 * Returns the address of the module to run: the build, which is made when it is missing or the sources have changed
 * since. Where none can be made it is the sources, if this Node.js runs TypeScript. Throws `CannotStart`.
 * @param {URL} root the folder of the checkout, with a slash at the end
 * @param {Options} options
 */
export const entryOf = (
  root,
  { say, runsSources = 'typescript' in process.features && !!process.features.typescript },
) => {
  const folder = fileURLToPath(root)
  if (!existsSync(join(folder, 'node_modules')))
    throw new CannotStart(`the packages it needs are not installed: run npm install in ${folder}`)
  try {
    if (!isBuilt(folder)) build(root, say)
    return new URL('dist/main.js', root).href
  } catch (error) {
    if (!(error instanceof CannotBuild)) throw error
    if (runsSources) return new URL('src/main.ts', root).href
    throw new CannotStart(`${error.message}. Node.js 22.18 or newer needs no build; this is ${process.version}`)
  }
}

/**
 * Builds `dist`. Programs that start meanwhile find the old build or the new one, never a part. Throws `CannotStart`.
 * @param {URL} root
 * @param {(line: string) => void} say
 */
export const build = (root, say = () => {}) => {
  const folder = fileURLToPath(root)
  if (!existsSync(compilerOf(folder)))
    throw new CannotBuild(
      `${folder}dist is not a build of these sources, and the compiler is not installed: run npm install && npm run build`,
    )
  const digest = digestOf(folder)
  const draft = emptyFolder(folder)
  try {
    say('building dist from src, as always after a change …')
    compile(folder, draft)
    writeFileSync(join(draft, mark), digest)
    replace(join(folder, 'dist'), draft)
  } catch (error) {
    // another process that started at the same time was faster
    if (error instanceof CannotStart || !isBuilt(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/**
 * Compiles the sources into an existing folder. Throws `CannotStart` with what the compiler has found.
 * @param {string} folder
 * @param {string} out
 */
export const compile = (folder, out) => {
  const args = [compilerOf(folder), '-p', join(folder, 'tsconfig.build.json'), '--outDir', out]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new CannotStart(`the build failed\n${stdout}${stderr}`.trimEnd())
  const web = join(folder, 'src/web')
  cpSync(join(folder, 'src'), out, { recursive: true, filter: (path) => !path.endsWith('.ts') && path !== web })
  // the page at /docs: what runs then does not depend on the package
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt'])
    cpSync(join(folder, 'node_modules/swagger-ui-dist', file), join(out, 'http/docs/swagger-ui', file))
  if (existsSync(web)) writeFileSync(join(out, 'web/sizes.txt'), bundle('web.js', folder, join(out, 'web')))
  if (existsSync(join(out, 'cli/run.js'))) bundle('server.js', out)
}

/**
 * Runs a bundler, in a process of its own: this file has no promises. Returns its output. Throws `CannotStart` with
 * what it has found.
 * @param {string} script
 * @param {readonly string[]} args
 */
const bundle = (script, ...args) => {
  const path = join(import.meta.dirname, script)
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new CannotStart(`${script} failed\n${stdout}${stderr}`.trimEnd())
  return stdout
}

/** @param {string} folder */
const compilerOf = (folder) => join(folder, 'node_modules/typescript/bin/tsc')

/** The file of a build that says of which sources it is. */
const mark = 'sources.sha256'

/**
 * Returns whether `dist` is a build of the sources in a folder.
 * @param {string} folder
 */
export const isBuilt = (folder) => {
  const file = join(folder, 'dist', mark)
  return existsSync(file) && readFileSync(file, 'utf8') === digestOf(folder)
}

/**
 * Returns a digest of all that a build depends on. The content counts and not the time: a copy has another one.
 * @param {string} folder
 */
const digestOf = (folder) => {
  const sources = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of [...sources.sort(), join(folder, 'tsconfig.json'), join(folder, 'tsconfig.build.json')])
    hash
      .update(`${file.slice(folder.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

/** @param {string} folder */
const emptyFolder = (folder) => {
  const draft = join(folder, `dist.new-${randomBytes(4).toString('hex')}`)
  try {
    mkdirSync(draft)
    return draft
  } catch (error) {
    throw new CannotBuild(
      `${folder}dist is not a build of these sources, and a new one cannot be written there (${/** @type {NodeJS.ErrnoException} */ (error).code}): run npm run build as a user who can write it`,
    )
  }
}

/**
 * @param {string} dist
 * @param {string} draft
 */
const replace = (dist, draft) => {
  const old = `${draft}.old`
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(draft, dist)
  rmSync(old, { recursive: true, force: true })
}
