// The least that a recorded redirect can do: look up the alias in a Map, build one line of JSON, write once per turn of the event
// loop, and respond after that. No rules, no checks, no recovery. `/cpu` returns its CPU time in µs.
import { openSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'

const [, , file = 'floor.spool', count] = process.argv
const links = new Map()
for (let n = 0; n < Number(count); n++)
  links.set(`/a${n}`, `https://example.com/some/long/path/${n}?utm_source=newsletter&utm_medium=email`)
const spool = openSync(file, 'a')
let lines = ''
/** @type {(() => void)[]} */
let waiting = []
const write = () => {
  writeSync(spool, lines)
  for (const respond of waiting) respond()
  lines = ''
  waiting = []
}

const server = createServer(({ url, headers, socket }, res) => {
  if (url === '/cpu') {
    const { user, system } = process.cpuUsage()
    return res.end(String(user + system))
  }
  const destination = links.get(url)
  const visit = { at: new Date(), link: url, destination, address: socket.remoteAddress, agent: headers['user-agent'] }
  lines += `${JSON.stringify({ ...visit, languages: headers['accept-language'] })}\n`
  if (waiting.length === 0) setImmediate(write)
  return waiting.push(() => {
    res.writeHead(302, { Location: destination, 'Cache-Control': 'private, no-store', 'Content-Length': 0 })
    res.end()
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`http://127.0.0.1:${port}`)
})
