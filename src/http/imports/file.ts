import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import { isFullDisk } from '../../lib/datadir.ts'
import { fail } from '../api/errors.ts'

/** Where the files of imports are. */
export interface ImportFolder {
  readonly folder: string
  /** the largest file, in MiB; 0: none is taken */
  readonly mib: number
}

/** Returns the folder of the files of imports in a data folder. */
export const importFolder = (dataDir: string): string => join(dataDir, 'imports')

/** A file that a request has brought, under a name for the time being. */
export class Received {
  readonly path: string
  readonly size: number
  private readonly sha256: string
  constructor(path: string, size: number, sha256: string) {
    this.path = path
    this.size = size
    this.sha256 = sha256
  }
  remove = () => rm(this.path, { force: true })
  /** What is compared when a request is sent again with its Idempotency-Key. */
  toJSON() {
    return { size: this.size, sha256: this.sha256 }
  }
}

/** Stores the body of a request, which is never as a whole in memory. Fails with 413, 415 or 503. */
export const receiveFile = async (ctx: Context, { folder, mib }: ImportFolder): Promise<Received> => {
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  if (encoding && encoding !== 'identity') fail(415, 'wrong_content_type', { what: 'encoding' })
  const most = mib * 1024 * 1024
  const tooLarge = () => {
    ctx.req.resume() // otherwise the unread rest of the body blocks the connection
    return fail(413, 'body_too_large', { what: 'mib', mib })
  }
  if ((ctx.request.length || 0) > most) tooLarge()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${randomUUID()}.part`)
  const hash = createHash('sha256')
  let size = 0
  const measure = new Transform({
    transform: (chunk: Buffer, _, done) => {
      size += chunk.length
      hash.update(chunk)
      done(size > most ? new RangeError('too large') : null, chunk)
    },
  })
  try {
    // leaving the loop must not close the connection: a client that still sends would not get the answer
    const body = ctx.req.iterator({ destroyOnReturn: false })
    await pipeline(body, measure, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))
    return new Received(path, size, hash.digest('hex'))
  } catch (error) {
    await rm(path, { force: true })
    if (error instanceof RangeError) return tooLarge()
    if (isFullDisk(error)) return fail(503, 'busy', { what: 'disk' }, { 'Retry-After': '60' })
    if (ctx.req.destroyed) return fail(400, 'wrong_body', { what: 'end' })
    throw error
  }
}

/** The file of an import, by its id. */
export const fileOf = ({ folder }: Pick<ImportFolder, 'folder'>, id: string) => {
  const path = join(folder, id)
  return {
    path,
    keep: ({ path: received }: Received) => rename(received, path),
    isThere: () =>
      stat(path).then(
        () => true,
        () => false,
      ),
    remove: () => rm(path, { force: true }),
  }
}
