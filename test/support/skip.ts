import type { Context } from 'mocha'

/** Skips a test, or from a `before` hook all tests of its suite, and prints why and what would make them run. */
export const skip = (context: Context, why: string, remedy: string): never => {
  process.stdout.write(`      (skipped: ${why}; ${remedy})\n`)
  return context.skip()
}

const asRoot = 'run the tests as root'

/** The test changes to another user or reads as another user, which only root may do. */
export const needsRoot = (context: Context) => {
  if (process.getuid?.() !== 0) skip(context, 'it acts as another user', asRoot)
}

/** The test reads `/proc` or uses `/dev/full`. */
export const needsLinux = (context: Context) => {
  if (process.platform !== 'linux') skip(context, 'it needs Linux', 'run the tests on Linux')
}

/** Mounts a small file system on a folder, which only root in a privileged container may do. */
export const skipWithoutMount = (context: Context, problem: string) =>
  skip(context, `no tmpfs can be mounted (${problem.trim()})`, `${asRoot} with the right to mount`)
