import type { Context } from 'mocha'

/** Skips a test, or from a `before` hook all tests of its suite, and prints why and what would make them run. */
export const skip = (context: Context, why: string, remedy: string): never => {
  process.stdout.write(`      (skipped: ${why}; ${remedy})\n`)
  return context.skip()
}

const asRoot = 'run the tests as root'

/** Skips a test that runs or reads as another user, unless the tests run as root. */
export const needsRoot = (context: Context) => {
  if (process.getuid?.() !== 0) skip(context, 'it acts as another user', asRoot)
}

/** Skips a test that needs `/proc` or `/dev/full`, except on Linux. */
export const needsLinux = (context: Context) => {
  if (process.platform !== 'linux') skip(context, 'it needs Linux', 'run the tests on Linux')
}

/** Skips a test that could not mount a small file system, which only root in a privileged container may do. */
export const skipWithoutMount = (context: Context, problem: string) =>
  skip(context, `no tmpfs can be mounted (${problem.trim()})`, `${asRoot} with the right to mount`)
