import { readFile, stat } from 'node:fs/promises'
import { OperatorError } from '../../lib/operatorerror.ts'
import { type ReadList, readBlockList } from '../../lib/readblocklist.ts'
import { repeat } from './repeat.ts'

export interface BlockListFile {
  /** the setting that names the file */
  readonly setting: string
  readonly path: string
  /** Called with each list that was read, and the moment of its last change. */
  readonly onRead: (read: ReadList, changed: Date) => void
  /** Called once for each time that the file cannot be read: the last list stays. */
  readonly onProblem: (error: unknown) => void
  /** ms between looks at the file */
  readonly every?: number
}

/** Larger files are refused: they would fill the memory of every process. */
const sizeLimit = 64 * 1024 * 1024

/** Says that a file is no list. A list may have some lines that are none. */
const noList = (path: string, { list, unread, first }: ReadList) =>
  unread > list.size
    ? new OperatorError(`most lines of ${path} are no host, address or pattern; the first is ${first}`)
    : undefined

const versionOf = async (path: string) => {
  const { mtime, mtimeMs, size, ino } = await stat(path)
  if (size > sizeLimit) throw new OperatorError(`${path} is larger than 64 MiB`)
  return { name: `${mtimeMs} ${size} ${ino}`, changed: mtime }
}

/**
 * Reads the file, and again whenever it changes. Throws an `OperatorError` when it cannot be read at first. Returns a
 * function that stops it.
 */
export const startBlockListFile = async ({ setting, path, onRead, onProblem, every = 1000 }: BlockListFile) => {
  let version = ''
  let failed = false
  let isStarted = false
  const read = async () => {
    const now = await versionOf(path)
    if (now.name !== version) {
      const found = await readBlockList(await readFile(path, 'utf8'), 'operators')
      version = now.name
      const problem = noList(path, found)
      if (problem && !isStarted) throw problem
      if (problem) onProblem(problem)
      else onRead(found, now.changed)
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
    // a file that comes back is read again, whatever its date
    version = ''
  })
}
