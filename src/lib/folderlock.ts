import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, realpath, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Hold {
  readonly release: () => Promise<void>
}

/** Makes the data folder if there is none, and takes it for this service: a second one is refused while we live. */
export const lockDataDir = async (dir: string): Promise<Hold> => {
  const folder = resolve(dir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return hold(folder, 'service', folder)
}

/**
 * One holder per folder and name, for as long as its process lives. A listening UNIX socket tells: the kernel closes it with
 * the process, so there is no number that somebody else could have by now, and it is seen across pid namespaces.
 *
 * Every contender listens under a name of its own, and only then looks for others. So of two, at least one sees the other;
 * and a dead one can be removed, because its name never comes back to life.
 */
export const hold = async (folder: string, name: string, what: string): Promise<Hold> => {
  const own = `.${name}-${randomBytes(8).toString('hex')}.lock`
  const { place, close } = await nearby(folder, own)
  let state: State = 'waiting'
  const server = createServer((socket) => {
    socket.on('error', () => {}).end(`${state} ${process.pid}`)
    socket.unref()
  })
  const release = async () => {
    server.close() // removes the socket at once; who is asking just now is not waited for
    await close()
  }

  try {
    await new Promise<void>((done, failed) => {
      // whoever may enter the folder may ask, so that root and others can take turns on it
      server.on('error', failed).listen({ path: join(place, own), readableAll: true, writableAll: true }, done)
    })
    server.unref()

    for (;;) {
      const names = (await readdir(place)).filter((file) => file.startsWith(`.${name}-`) && file.endsWith('.lock'))
      if (!names.includes(own)) break // taken for dead in the moment between bind and listen
      const others = await Promise.all(
        names.filter((file) => file !== own).map(async (file) => ({ file, answer: await ask(join(place, file)) })),
      )
      const alive = others.flatMap(({ file, answer }) => (answer === 'dead' ? [] : [{ file, ...answer }]))
      await Promise.all(
        others.filter(({ answer }) => answer === 'dead').map(({ file }) => rm(join(place, file), { force: true })),
      )

      const first = alive.find((other) => other.state === 'holding' || other.file < own)
      if (first) throw new Error(`${what} is in use by another linkledger (pid ${first.pid})`)
      if (alive.length === 0) {
        state = 'holding'
        return { release }
      }
      await sleep(10) // a later one in the alphabet: it gives way, or it has not seen us and holds
    }
  } catch (error) {
    await release()
    throw error
  }
  await release()
  return hold(folder, name, what)
}

type State = 'waiting' | 'holding'

/** No answer in time is the answer of a live one: it may be stopped, or busy. */
const ask = (path: string): Promise<'dead' | { readonly state: State; readonly pid: string }> =>
  new Promise((resolved) => {
    let said = ''
    const socket = connect(path)
    socket.setEncoding('utf8').setTimeout(1500, () => socket.destroy())
    socket.on('data', (text: string) => (said += text))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].includes(error.code ?? '')) resolved('dead')
    })
    socket.on('close', () => {
      const [state, pid] = said.split(' ')
      resolved({ state: state === 'waiting' ? 'waiting' : 'holding', pid: pid ?? 'unknown' })
    })
  })

/** A name for the folder that leaves room for a socket: the kernel takes 107 bytes, and 103 on a Mac. */
const nearby = async (folder: string, file: string): Promise<{ place: string; close: () => Promise<void> }> => {
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
