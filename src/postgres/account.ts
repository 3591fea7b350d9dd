import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { foreignOwner } from '../lib/datadir.ts'
import { OperatorError } from '../lib/operatorerror.ts'
import type { Account } from './binaries.ts'

/**
 * Returns the user to run PostgreSQL as when this process is root: the owner of an existing cluster, otherwise an
 * unprivileged user. Throws when the cluster in `home` belongs to a user as whom this process cannot run it.
 */
export const accountFor = async (home: string): Promise<Account | undefined> => {
  const data = join(home, 'data')
  const owner = await stat(data).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })
  const own = process.geteuid?.()
  if (own !== 0) {
    if (owner && own !== undefined && owner.uid !== own) throw new OperatorError(foreignOwner(dirname(home), data))
    return undefined
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of ['postgres', '_postgres', 'nobody']) {
    const [, , uid, gid] = users.find(([user]) => user === wanted) ?? []
    if (!uid || !gid) continue
    if (owner)
      throw new OperatorError(
        `DATA_DIR: ${data} belongs to root, and PostgreSQL does not run as root: run chown -R ${wanted} ${data} ${join(home, 'socket')}`,
      )
    return { uid: Number(uid), gid: Number(gid) }
  }
  throw new OperatorError(
    'PostgreSQL does not run as root, and there is no user `postgres` or `nobody`: start as another user, or set DATABASE_URL',
  )
}
