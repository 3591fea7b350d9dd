import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** ms that a file may be younger than its row */
const arrivingMs = 3_600_000

/**
 * Removes files of imports that no account has any more, because it was erased or the upload was broken off. `knownOf`
 * returns those of their names that are imports.
 */
export const removeLeftFiles = async (
  folder: string,
  knownOf: (names: readonly string[]) => Promise<ReadonlySet<string>>,
  now: number = Date.now(),
): Promise<void> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const known = await knownOf(names)
  for (const name of names.filter((one) => !known.has(one))) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && now - found.mtimeMs > arrivingMs) await rm(path, { force: true })
  }
}
