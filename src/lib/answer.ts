import { once } from 'node:events'
import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import net, { isIP, type LookupFunction } from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { turnTimer } from './async/pause.ts'

// What a server sends is parsed on the thread that also redirects, and may be millions of the smallest chunks and
// interim answers (1xx). So each answer has a budget, and is read in turns.

/** bytes of one connection that are read in a turn of the event loop */
const piece = 16 * 1024
/** bytes of an answer beside its body: the handshake, certificates, headers, and an eighth more for the framing */
const besides = (body: number) => 128 * 1024 + body / 8
/** interim answers before the answer */
const mostInterim = 10
/** chunks of a body, and bytes of each one more */
const [chunksAllowed, bytesOfEach] = [1000, 64]

/** reads of connections that wait for their turn */
const waiting: (() => void)[] = []
let planned = false
const takeTurns = () => {
  const isLong = turnTimer()
  planned = false
  // who has more to read waits for another turn
  for (let left = waiting.length; left > 0; left--) {
    waiting.shift()?.()
    if (isLong()) break
  }
  plan()
}
const plan = () => {
  if (planned || waiting.length === 0) return
  planned = true
  setImmediate(takeTurns)
}
const inTurn = (read: () => void) => {
  waiting.push(read)
  plan()
}

/** Returns a connection from which pieces are read in turns, and which fails after so many bytes. */
const inPieces = (socket: net.Socket, most: number): Duplex => {
  let wanted = false
  let received = 0
  const hand = () => {
    const bytes = socket.read(Math.min(piece, socket.readableLength)) as Buffer | null
    received += bytes?.length ?? 0
    if (received > most) stream.destroy(new Error('the server sends too much'))
    else if (bytes) stream.push(bytes)
  }
  const ask = () => {
    if (!wanted) return
    // at the end of the connection, to read nothing says so
    if (socket.readableLength === 0) return void socket.read(0)
    wanted = false
    inTurn(hand)
  }
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => {
      wanted = true
      ask()
    },
    write: (bytes: Buffer, _, done) => void socket.write(bytes, done),
    final: (done) => {
      socket.end()
      done()
    },
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket.on('readable', ask)
  socket.on('end', () => stream.push(null))
  socket.on('error', (error) => stream.destroy(error))
  socket.on('close', () => socket.readableEnded || stream.destroy())
  return stream
}

export interface Asked {
  readonly url: URL
  /** the name or address in `url` */
  readonly host: string
  readonly lookup: LookupFunction
  /** ends the connection, also after the answer */
  readonly signal: AbortSignal
  /** bytes of the answer's body that are read at most */
  readonly limit: number
  /** the certificates that are trusted; default those of Node */
  readonly ca?: string | undefined
}

const connectionTo = ({ url, host, lookup, signal, limit, ca }: Asked): Duplex => {
  const secure = url.protocol === 'https:'
  const socket = net.connect({ host, port: Number(url.port || (secure ? 443 : 80)), lookup })
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  const stream = inPieces(socket, limit + besides(limit))
  if (!secure) return stream
  const name = isIP(host) === 0 ? { servername: host } : {}
  return tls.connect({ ...name, socket: stream, host, ca, ALPNProtocols: ['http/1.1'] })
}

/** Sends a request, and returns its answer as soon as its status and headers are there. */
export const responseTo = async (asked: Asked, options: RequestOptions, body?: string): Promise<IncomingMessage> => {
  const { url, signal } = asked
  const createConnection = () => connectionTo(asked)
  const request = (url.protocol === 'https:' ? https : http).request(url, { ...options, signal, createConnection })
  let interim = 0
  request.on('information', () => {
    if (++interim > mostInterim) request.destroy(new Error('the server sends too many interim answers'))
  })
  const responded = once(request, 'response') as Promise<[IncomingMessage]>
  // an error after the response has started is reported by the response
  request.on('error', () => {})
  request.end(body)
  const [response] = await responded
  return response
}

/** Returns the body of an answer; undefined when it is longer than the limit. Rejects when its chunks are too small. */
export const bodyOf = (response: IncomingMessage, limit: number): Promise<Buffer | undefined> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // not an iterator, which joins chunks: each of them costs
    response.on('data', (chunk: Buffer) => {
      if (response.destroyed) return
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) {
        resolve(undefined)
        response.destroy()
      } else if (chunks.length > chunksAllowed + size / bytesOfEach)
        response.destroy(new Error('the server sends chunks that are too small'))
    })
    response.on('end', () => resolve(Buffer.concat(chunks)))
    response.on('error', reject)
    response.on('close', () => reject(new Error('the server ended the connection')))
  })
