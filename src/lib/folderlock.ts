import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, realpath, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDataDir } from './datadir.ts'
import { OperatorError } from './operatorerror.ts'

export interface FolderLock {
  readonly release: () => Promise<void>
}

/** The folder is locked by another process, whose id is in the message if it could be asked. */
export class FolderInUse extends OperatorError {
  override readonly name = 'FolderInUse'
}

/** Creates the data folder if necessary and locks it for this service. Throws `FolderInUse`. */
export const lockDataDir = async (dir: string): Promise<FolderLock> => {
  const folder = resolve(dir)
  createDataDir(folder)
  return lockFolder(folder, 'service', folder)
}

/**
 * Takes the lock `name` of a folder, which ends with this process at the latest. Throws `FolderInUse`, with `what` as
 * its subject.
 *
 * The lock is a listening UNIX socket in the folder. The kernel closes it with the process, so there is no process id
 * that could have been reused, and it works across pid namespaces. Every contender listens under a name of its own
 * before it looks for others. Of two contenders, at least one therefore sees the other; and the socket of a dead one
 * can be removed, because its name is never used again.
 */
export const lockFolder = async (folder: string, name: string, what: string): Promise<FolderLock> => {
  const own = `.${name}-${randomBytes(8).toString('hex')}.lock`
  const { place, close } = await socketPlace(folder, own)
  let state: State = 'waiting'
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(`${state} ${process.pid}`)
    socket.unref()
  })
  const release = async () => {
    server.close() // removes the socket at once, without waiting for connected contenders
    await close()
  }

  try {
    await listen(server, join(place, own))
    for (;;) {
      const found = await contenders(place, name, own)
      if (found === 'removed') break
      const first = found.find((other) => other.state === 'holding' || other.file < own)
      if (first) {
        const by = `${what} is in use by another linkledger (pid ${first.pid})`
        throw new FolderInUse(`${by}: stop it, or set DATA_DIR to another folder`)
      }
      if (found.length === 0) {
        state = 'holding'
        return { release }
      }
      await sleep(10) // for a contender with a later name: it gives way, or it has not seen us and now holds the lock
    }
  } catch (error) {
    await release()
    throw error
  }
  await release()
  return lockFolder(folder, name, what)
}

type State = 'waiting' | 'holding'

interface Contender {
  /** name of its socket */
  readonly file: string
  readonly state: State
  readonly pid: string
}

const listen = async (server: Server, path: string) => {
  await new Promise<void>((done, failed) => {
    // every user who may enter the folder may connect, so that root and others can take turns
    server.on('error', failed).listen({ path, readableAll: true, writableAll: true }, done)
  })
  server.unref()
}

/**
 * The other living contenders for a lock; the sockets of dead ones are removed. Returns `removed` when our own socket
 * is missing: another contender took us for dead between bind and listen.
 */
const contenders = async (place: string, name: string, own: string): Promise<readonly Contender[] | 'removed'> => {
  const files = (await readdir(place)).filter((file) => file.startsWith(`.${name}-`) && file.endsWith('.lock'))
  if (!files.includes(own)) return 'removed'
  const others = await Promise.all(
    files.filter((file) => file !== own).map(async (file) => ({ file, answer: await ask(join(place, file)) })),
  )
  await Promise.all(
    others.filter(({ answer }) => answer === 'dead').map(({ file }) => rm(join(place, file), { force: true })),
  )
  return others.flatMap(({ file, answer }) => (answer === 'dead' ? [] : [{ file, ...answer }]))
}

/**
 * Asks a contender for its state. One that does not answer within 1.5 s counts as the holder: it may be stopped or
 * busy.
 */
const ask = (path: string): Promise<'dead' | Omit<Contender, 'file'>> =>
  new Promise((resolved) => {
    let answer = ''
    const socket = connect(path)
    socket.setEncoding('utf8').setTimeout(1500, () => socket.destroy())
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].includes(error.code ?? '')) resolved('dead')
    })
    socket.on('close', () => {
      const [state, pid] = answer.split(' ')
      resolved({ state: state === 'waiting' ? 'waiting' : 'holding', pid: pid ?? 'unknown' })
    })
  })

/** A path of the folder that leaves room for a socket name: the kernel allows 107 bytes, macOS 103. */
const socketPlace = async (folder: string, file: string): Promise<{ place: string; close: () => Promise<void> }> => {
  if (process.platform === 'linux') {
    const handle = await open(folder, 'r')
    return { place: `/proc/self/fd/${handle.fd}`, close: () => handle.close() }
  }
  if (Buffer.byteLength(join(folder, file)) <= 103) return { place: folder, close: async () => {} }
  const digest = createHash('sha256').update(await realpath(folder))
  const place = join(tmpdir(), `linkledger-${digest.digest('hex').slice(0, 12)}`)
  await mkdir(place, { recursive: true, mode: 0o700 })
  return { place, close: async () => {} }
}
