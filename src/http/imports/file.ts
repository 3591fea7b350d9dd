import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import { isFullDisk } from '../../lib/datadir.ts'
import { withoutClock } from '../api/limits/clock.ts'
import { fail } from '../api/errors.ts'
import { renewed } from '../server/arrival.ts'
import { closingOf } from '../server/closing.ts'

/** Where the files of imports are. */
export interface ImportFolder {
  readonly folder: string
  /** the largest file, in MiB; 0: none is taken */
  readonly mib: number
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal
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

/**
 * Writes what comes of a request's body to a file, through `through`. Nothing of the request is closed when that fails:
 * a client that still sends would not get the answer.
 */
const writeBody = async (ctx: Context, through: Transform, path: string, signal: AbortSignal) => {
  const { req } = ctx
  const gone = () => {
    if (!req.readableEnded) through.destroy(new Error('the client is gone'))
  }
  req.once('close', gone)
  try {
    if (req.destroyed) gone()
    const written = pipeline(through, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }), { signal })
    if (!through.destroyed) req.pipe(through)
    await written
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    req.off('close', gone)
    req.unpipe(through)
  }
}

/** Stores the body of a request, which is never as a whole in memory. Fails with 408, 413, 415 or 503. */
const receiveFile = async (ctx: Context, { folder, mib, stopping }: ImportFolder): Promise<Received> => {
  const encoding = ctx.get('Content-Encoding').toLowerCase()
  if (encoding && encoding !== 'identity') fail(415, 'wrong_content_type', { what: 'encoding' })
  const most = mib * 1024 * 1024
  // otherwise the unread rest of the body blocks the connection
  const dropRest = () => ctx.req.resume()
  const tooLarge = () => {
    dropRest()
    return fail(413, 'body_too_large', { what: 'mib', mib })
  }
  if ((ctx.request.length || 0) > most) tooLarge()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${randomUUID()}.part`)
  const hash = createHash('sha256')
  const renew = renewed(ctx.req)
  let size = 0
  const measure = new Transform({
    transform: (chunk: Buffer, _, done) => {
      size += chunk.length
      renew(chunk.length)
      hash.update(chunk)
      done(size > most ? new RangeError('too large') : null, chunk)
    },
  })
  try {
    const signal = AbortSignal.any([stopping, closingOf(ctx)()])
    // a large file takes its time on a slow line: the server ends a connection on which nothing comes
    await withoutClock(ctx, () => writeBody(ctx, measure, path, signal))
    return new Received(path, size, hash.digest('hex'))
  } catch (error) {
    dropRest()
    if (error instanceof RangeError) return tooLarge()
    if (isFullDisk(error)) return fail(503, 'busy', { what: 'disk' }, { 'Retry-After': '60' })
    if (stopping.aborted) return fail(503, 'unavailable', { what: 'stopping' }, { 'Retry-After': '5' })
    if (ctx.req.destroyed) return fail(400, 'wrong_body', { what: 'end' })
    throw error
  }
}

/** files that an account may send at the same time: each may take hours, and the disk for its bytes */
const sentAtOnce = 5

/** Returns what receives the files of accounts. An account that sends too many at the same time is refused with 409. */
export const receiving = (services: ImportFolder) => {
  const sending = new Map<number | undefined, number>()
  const count = (account: number | undefined, more: number) => {
    const now = (sending.get(account) ?? 0) + more
    if (now === 0) sending.delete(account)
    else sending.set(account, now)
    return now
  }
  return async (ctx: Context, account: number | undefined): Promise<Received> => {
    try {
      if (count(account, 1) > sentAtOnce) fail(409, 'still_running', { what: 'import' }, { 'Retry-After': '10' })
      return await receiveFile(ctx, services)
    } finally {
      count(account, -1)
    }
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
