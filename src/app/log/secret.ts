import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { BadConfig, type Config } from '../../config.ts'
import { createDataDir } from '../../lib/datadir.ts'
import { WrongSecret } from '../../security/wrapping.ts'
import type { Use } from './postgres.ts'

const minLength = 16

/**
 * Returns SECRET, or the one in `DATA_DIR/secret`. When there is none, the service creates it; a command would only
 * create one that opens nothing. Throws `BadConfig` when it is missing or damaged.
 */
export const loadSecret = ({ DATA_DIR, SECRET }: Pick<Config, 'DATA_DIR' | 'SECRET'>, use: Use): string => {
  if (SECRET !== undefined) return SECRET
  const file = join(DATA_DIR, 'secret')
  if (!existsSync(file) && use === 'command')
    throw new BadConfig(
      `there is no ${file}: run the command in the folder in which the service was started, or set its DATA_DIR or SECRET`,
    )
  if (!existsSync(file)) create(DATA_DIR, file)
  return readSecret(file)
}

const readSecret = (file: string): string => {
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < minLength)
    throw new BadConfig(`${file} is damaged: restore it from a backup, or set SECRET to the original secret`)
  return secret
}

/** the secret of a rotation that is not known to be committed */
const nextFile = (dir: string) => join(dir, 'secret.new')

export const newSecret = (): string => randomBytes(32).toString('base64url')

const syncFolder = (dir: string) => {
  const folder = openSync(dir, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Stores the secret of a rotation next to the one that still counts. When it returns, a power failure does not lose it.
 */
export const storeNextSecret = (dir: string, secret: string): void => {
  writeFileSync(nextFile(dir), `${secret}\n`, { mode: 0o600, flush: true })
  syncFolder(dir)
}

/** Makes the secret of a rotation the one that counts. */
export const replaceSecret = (dir: string, secret: string): void => {
  const file = join(dir, 'secret')
  try {
    renameSync(nextFile(dir), file)
  } catch (error) {
    // a process that started after the commit has done it
    if (readSecret(file) !== secret) throw error
  }
  syncFolder(dir)
}

/**
 * Opens something with the secret. If it is a wrong one because a rotation has committed meanwhile, or was interrupted
 * after its commit, the new one is used and the rotation completed.
 */
export const withSecret = async <T>(
  config: Pick<Config, 'DATA_DIR' | 'SECRET'>,
  use: Use,
  open: (secret: string) => Promise<T>,
): Promise<T> => {
  try {
    return await open(loadSecret(config, use))
  } catch (error) {
    const { DATA_DIR, SECRET } = config
    if (!(error instanceof WrongSecret) || SECRET !== undefined) throw error
    const isInterrupted = existsSync(nextFile(DATA_DIR))
    const secret = isInterrupted ? readSecret(nextFile(DATA_DIR)) : loadSecret(config, use)
    const opened = await open(secret)
    if (isInterrupted) replaceSecret(DATA_DIR, secret)
    return opened
  }
}

/**
 * Links a complete file to its name, so that of two processes that start together one creates it and neither reads half
 * of it.
 */
const create = (dir: string, file: string) => {
  createDataDir(dir)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${newSecret()}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}
