// node bench/steady.mjs ADDRESS ALIASES RATE SECONDS [FROM]: visits random ones of `/a0`, `/a1`, … at a steady rate, on 64 connections. With
// FROM, each is visited once, in another order: FROM is the number of the first visit. A signal ends it early. Prints the number of visits,
// and the median and the 99th percentile of their latencies in µs, as JSON. A visit that has to wait for a connection is late, too.
import net from 'node:net'

const [address = '', ...numbers] = process.argv.slice(2)
const [aliases = 0, rate = 0, seconds = 0, from] = numbers.map(Number)
const { hostname, port } = new URL(address)
const headers = [
  `host: ${hostname}:${port}`,
  'user-agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
].join('\r\n')
/** @type {number[]} */
const latencies = []

/** a prime, so that the multiples of it go through all aliases */
const step = 7919
let asked = 0
const nextAlias = () => (from === undefined ? Math.floor(Math.random() * aliases) : ((from + asked++) * step) % aliases)

/** @type {net.Socket[]} */
const idle = []
/** Adds a connection. The server closes those that have nothing to do for long: another one takes the place. */
const connect = () =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port: Number(port), host: hostname, noDelay: true }, () => resolve(idle.push(socket)))
    // the end of a connection is seen by reading
    socket.resume()
    socket.on('error', reject)
    socket.once('close', () => {
      const place = idle.indexOf(socket)
      if (place < 0) return
      idle.splice(place, 1)
      void connect()
    })
  })

/**
 * Resolves with false if the server has closed an idle connection just when this used it: the visit has to be made again on another one, as
 * RFC 9112, section 9.3.1, has it.
 * @param {net.Socket} socket
 * @param {number} began
 * @returns {Promise<boolean>}
 */
const visit = (socket, began) =>
  new Promise((resolve, reject) => {
    let text = ''
    const lost = () =>
      text === '' ? resolve(false) : reject(new Error('the server has closed a connection before it had answered'))
    socket.once('close', lost)
    /** @param {Buffer} part */
    const read = (part) => {
      text += part.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      socket.off('data', read)
      socket.off('close', lost)
      if (!text.startsWith('HTTP/1.1 302')) return reject(new Error(`unexpected: ${text.slice(0, 100)}`))
      latencies.push((performance.now() - began) * 1000)
      resolve(true)
    }
    socket.on('data', read)
    socket.write(`GET /a${nextAlias()} HTTP/1.1\r\n${headers}\r\n\r\n`)
  })

let ended = false
process.once('SIGTERM', () => (ended = true))
await Promise.all(Array.from({ length: 64 }, connect))
const began = performance.now()
let due = 0
/**
 * when each visit that has no connection yet should have begun
 * @type {number[]}
 */
const waiting = []
/** @type {Set<Promise<void>>} */
const open = new Set()
const send = () => {
  while (idle.length > 0 && waiting.length > 0) {
    const [socket, began] = [idle.pop(), waiting.shift()]
    if (!socket || began === undefined) return
    const visited = visit(socket, began).then(async (answered) => {
      if (answered) idle.push(socket)
      else {
        waiting.unshift(began)
        await connect()
      }
      open.delete(visited)
      send()
    })
    open.add(visited)
  }
}
for (let now = began; !ended && now - began < seconds * 1000; now = performance.now()) {
  for (; due < ((now - began) * rate) / 1000; due++) waiting.push(began + (due * 1000) / rate)
  send()
  await new Promise((later) => setTimeout(later, 1))
}
while (open.size > 0) await Promise.all(open)
const sorted = latencies.toSorted((a, b) => a - b)
/** @param {number} p */
const at = (p) => sorted[Math.floor(sorted.length * p)]
console.log(JSON.stringify({ visits: sorted.length, p50: at(0.5), p99: at(0.99) }))
process.exit()
