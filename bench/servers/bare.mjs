// A server that returns the same redirect to each request: no shortener can do less. `/cpu` returns its CPU time in µs.
import { createServer } from 'node:http'

const server = createServer((req, res) => {
  if (req.url === '/cpu') {
    const { user, system } = process.cpuUsage()
    return res.end(String(user + system))
  }
  res.writeHead(302, {
    Location: 'https://example.com/some/long/path?utm_source=newsletter&utm_medium=email',
    'Cache-Control': 'private, no-store',
    'Content-Length': 0,
  })
  return res.end()
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`http://127.0.0.1:${port}`)
})
