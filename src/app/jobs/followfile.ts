import { readFile, stat } from 'node:fs/promises'
import { OperatorError } from '../../lib/operatorerror.ts'
import { repeat } from './repeat.ts'

export interface FollowedFile {
  /** the setting that names the file */
  readonly setting: string
  readonly path: string
  /** A larger file is rejected: it would fill the memory of every process. */
  readonly maxMiB: number
  /** Uses the content of the file and the time of its last change. Throws for an invalid file. */
  readonly use: (bytes: Buffer, changed: Date) => Promise<void> | void
  /** Called once each time the file becomes unreadable or unusable: the last content stays in use. */
  readonly onProblem: (error: unknown) => void
  /** ms between checks of the file */
  readonly every?: number | undefined
}

const versionOf = async (path: string, maxMiB: number) => {
  const found = await stat(path)
  const { mtime, mtimeMs, size, ino } = found
  // a pipe has no end: reading it would block a thread of the process forever
  if (!found.isFile() && !found.isDirectory()) throw new OperatorError(`${path} is not a file`)
  if (size > maxMiB * 2 ** 20) throw new OperatorError(`${path} is larger than ${maxMiB} MiB`)
  return { name: `${mtimeMs} ${size} ${ino}`, changed: mtime }
}

/**
 * Reads a file, and reads it again whenever it changes. Throws an `OperatorError` when the first read or use fails.
 * Returns a function that stops it.
 */
export const followFile = async ({ setting, path, maxMiB, use, onProblem, every = 1000 }: FollowedFile) => {
  let version = ''
  let failed = false
  let isStarted = false
  const read = async () => {
    const now = await versionOf(path, maxMiB)
    if (now.name !== version) {
      const bytes = await readFile(path)
      version = now.name
      try {
        await use(bytes, now.changed)
      } catch (error) {
        if (!isStarted) throw error
        onProblem(error)
      }
    }
    failed = false
  }
  try {
    await read()
  } catch (error) {
    throw new OperatorError(`${setting} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  isStarted = true
  return repeat(read, every, (error) => {
    if (!failed) onProblem(error)
    failed = true
    // a file that comes back is read again, even with the same date
    version = ''
  })
}
