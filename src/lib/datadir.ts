import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { OperatorError } from './operatorerror.ts'

/**
 * Creates the data folder if necessary, and makes it accessible to its owner only. Throws an `OperatorError` when this
 * process cannot use it.
 */
export const createDataDir = (dir: string): void => {
  try {
    create(dir)
  } catch (error) {
    throw new OperatorError(`DATA_DIR: ${dir} cannot be created (${codeOf(error)}): ${otherFolder}`, { cause: error })
  }
  if (!statSync(dir).isDirectory()) throw new OperatorError(`DATA_DIR: ${dir} is a file: set it to a folder`)
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
    closeToOthers(dir)
  } catch (error) {
    throw inDataDir(dir, error)
  }
}

/** what only a folder of this service contains */
const ours = ['secret', 'spool', 'postgres']

/** Releases up to 0.1.0, and operators with `mkdir`, made the folder readable by every user of the machine. */
const closeToOthers = (dir: string): void => {
  const { mode, uid } = statSync(dir)
  const isOpen = (mode & 0o077) !== 0 && uid === process.geteuid?.()
  if (isOpen && ours.some((name) => exists(join(dir, name)))) chmodSync(dir, 0o700)
}

/**
 * Returns an error about the rights to a file below the data folder as one that names the setting and the cure, and any
 * other error as it is.
 */
export const inDataDir = (dir: string, error: unknown): unknown => {
  const { path = '' } = error as { path?: unknown }
  if (typeof path !== 'string' || !`${path}/`.startsWith(join(dir, '/'))) return error
  const code = codeOf(error)
  if (code === 'EROFS') return new OperatorError(`DATA_DIR: ${path} is read-only: ${otherFolder}`, { cause: error })
  if (code !== 'EACCES' && code !== 'EPERM') return error
  return new OperatorError(foreignOwner(dir, path), { cause: error })
}

/** Returns what to do about a file below the data folder that belongs to another user. */
export const foreignOwner = (dir: string, path: string): string => {
  const [owner, own] = [ownerOf(path), process.geteuid?.()]
  return own === undefined || owner === own
    ? `DATA_DIR: the mode of ${path} does not let this process use it: run chmod -R u+rwX ${dir}`
    : `DATA_DIR: ${path} belongs to user ${owner ?? 'unknown'}, and this process runs as user ${own}: ` +
        `start it as that user, or give the folder to this one: chown -R ${own} ${dir}`
}

/** Whether an error says that a disk has no room, also when PostgreSQL has said it. */
export const isFullDisk = (error: unknown): boolean =>
  error instanceof Error &&
  (/ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i.test(`${codeOf(error)} ${error.message}`) ||
    isFullDisk(error.cause))

const otherFolder = 'set it to a folder that this user can write'

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error)

/** Not `recursive`: below /proc, where nothing can be created, Node.js would try forever. */
const create = (dir: string): void => {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (codeOf(error) !== 'ENOENT' || exists(dirname(dir))) throw error
    create(dirname(dir))
    mkdirSync(dir, { mode: 0o700 })
  }
}

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined

/** The owner of a file that may not be visible to us: then that of the nearest folder above it. */
const ownerOf = (path: string): number | undefined => {
  try {
    return statSync(path).uid
  } catch {
    return path === dirname(path) ? undefined : ownerOf(dirname(path))
  }
}
