// tsx bench/steady.ts ADDRESS ALIASES RATE SECONDS: visits random ones of `/a0`, `/a1`, … at a steady rate, on 16 connections. Prints the
// number of visits, and the median and the 99th percentile of their latencies in µs, as JSON.
import net from 'node:net'

const [address = '', ...numbers] = process.argv.slice(2)
const [aliases = 0, rate = 0, seconds = 0] = numbers.map(Number)
const { hostname, port } = new URL(address)
const headers = [
  `host: ${hostname}:${port}`,
  'user-agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
].join('\r\n')
const latencies: number[] = []

const connect = () =>
  new Promise<net.Socket>((resolve, reject) => {
    const socket = net.connect({ port: Number(port), host: hostname, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

const visit = (socket: net.Socket) =>
  new Promise<void>((resolve, reject) => {
    const began = performance.now()
    let text = ''
    const read = (part: Buffer) => {
      text += part.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      socket.off('data', read)
      if (!text.startsWith('HTTP/1.1 302')) return reject(new Error(`unexpected: ${text.slice(0, 100)}`))
      latencies.push((performance.now() - began) * 1000)
      resolve()
    }
    socket.on('data', read)
    socket.write(`GET /a${Math.floor(Math.random() * aliases)} HTTP/1.1\r\n${headers}\r\n\r\n`)
  })

const idle = await Promise.all(Array.from({ length: 16 }, connect))
const began = performance.now()
let sent = 0
const open = new Set<Promise<void>>()
while (performance.now() - began < seconds * 1000) {
  const due = ((performance.now() - began) * rate) / 1000
  for (; sent < due && idle.length > 0; sent++) {
    const socket = idle.pop()!
    const visited = visit(socket).then(() => {
      idle.push(socket)
      open.delete(visited)
    })
    open.add(visited)
  }
  await new Promise((later) => setTimeout(later, 1))
}
await Promise.all(open)
const sorted = latencies.toSorted((a, b) => a - b)
const at = (p: number) => sorted[Math.floor(sorted.length * p)]
console.log(JSON.stringify({ visits: sorted.length, p50: at(0.5), p99: at(0.99) }))
process.exit()
