import { createRequire } from 'node:module'
import { constants, getPriority, setPriority } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type * as Esbuild from 'esbuild'

const runsSources = 'typescript' in process.features && Boolean(process.features.typescript)

const scripts = new Map<string, string>()
/**
 * Returns a module of the sources and what it imports as one script: a thread that loads them with tsx takes seven
 * times as long to start.
 */
const scriptOf = (file: string): string => {
  const known = scripts.get(file)
  if (known !== undefined) return known
  // installed for development only
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof Esbuild
  const entryPoints = [fileURLToPath(file)]
  const { outputFiles } = buildSync({ entryPoints, bundle: true, platform: 'node', target: 'node20', write: false })
  const [{ text } = { text: '' }] = outputFiles
  scripts.set(file, text)
  return text
}

/** Starts a thread that runs a module, given by its address: of the build or of the sources, as this process itself. */
export const startThread = (file: string, options: WorkerOptions): Worker =>
  file.endsWith('.ts') && !runsSources
    ? new Worker(scriptOf(file), { ...options, eval: true })
    : new Worker(new URL(file), options)

/** Returns a script that loads a module of the sources as it is, with the files beside it. */
const loaderOf = (file: string): string => {
  // installed for development only
  const folder = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'))
  const tsx = new URL('dist/esm/api/index.mjs', folder).href
  return `import('${tsx}').then(({ register }) => { register(); return import('${file}') })`
}

/** The same for a module that looks for files beside it, or beside what it imports. */
export const startProgram = (file: string, options: WorkerOptions): Worker =>
  file.endsWith('.ts') && !runsSources
    ? new Worker(loaderOf(file), { ...options, eval: true })
    : new Worker(new URL(file), options)

/** How much lower the priority of PostgreSQL, and of the thread that fills its tables, is: requests go first. */
export const background = 5

/**
 * Lets a process, or by default the caller, have a priority that is lower than that of the caller by a nice value. On
 * Linux it is that of the calling thread alone. A system that refuses it is no reason to fail: then nothing changes.
 */
export const lowerPriority = (by: number, pid = 0): void => {
  try {
    setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + by))
  } catch {
    // the process has ended in the meantime, or may not do that
  }
}
