import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BadConfig, type Config } from '../config.ts'
import { createDataDir } from '../lib/datadir.ts'
import type { Use } from './postgres.ts'

const minLength = 16

/**
 * Returns SECRET, or the one in `DATA_DIR/secret`. When there is none, the service creates it; a command would only create one that
 * opens nothing. Throws `BadConfig` when it is missing or damaged.
 */
export const loadSecret = ({ DATA_DIR, SECRET }: Pick<Config, 'DATA_DIR' | 'SECRET'>, use: Use): string => {
  if (SECRET !== undefined) return SECRET
  const file = join(DATA_DIR, 'secret')
  if (!existsSync(file) && use === 'command')
    throw new BadConfig(
      `there is no ${file}: run the command in the folder in which the service was started, or set its DATA_DIR or SECRET`,
    )
  if (!existsSync(file)) create(DATA_DIR, file)
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < minLength)
    throw new BadConfig(`${file} is damaged: restore it from a backup, or set SECRET to the original secret`)
  return secret
}

/** Links a complete file to its name, so that of two processes that start together one creates it and neither reads half of it. */
const create = (dir: string, file: string) => {
  createDataDir(dir)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}
