import { Worker, type WorkerOptions } from 'node:worker_threads'

/** tsx does not register itself in worker threads (privatenumber/tsx#354), so the worker does it for a Node.js that cannot run the source. */
const viaTsx = (file: string, options: WorkerOptions) =>
  new Worker(`import('tsx/esm/api').then((tsx) => (tsx.register(), import('${file}')))`, { ...options, eval: true })
const runsSources = 'typescript' in process.features && Boolean(process.features.typescript)

/** Starts a thread that runs a module, given by its address: of the build or of the sources, as this process itself. */
export const startThread = (file: string, options: WorkerOptions): Worker =>
  file.endsWith('.ts') && !runsSources ? viaTsx(file, options) : new Worker(new URL(file), options)
