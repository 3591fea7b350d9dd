import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { startTestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { openStage } from '../support/faults.ts'
import { keepLines } from '../support/logger.ts'
import { expectOutage } from '../support/outages.ts'

/** Starts a proxy in front of a PostgreSQL, which can be cut off. */
const startProxy = async (place: string) => {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const database = connect(place)
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => (sockets.delete(socket), other.destroy()))
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => (isCut = false),
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

describe('an outage of PostgreSQL', function () {
  this.timeout(120_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('is a few lines in the log, while each request gets 503', async () => {
    const connection = await freshDatabase()
    const proxy = await startProxy(`${connection.host}/.s.PGSQL.${connection.port}`)
    stage.later(proxy.close)
    const { lines, logger } = keepLines()
    const url = urlOf({ ...connection, host: '127.0.0.1', port: proxy.port })
    const app = await startTestApp({ DATABASE_URL: url }, connection, {}, logger)
    stage.later(app.close)
    const { key } = await app.register()
    await expectOutage(app, key, lines, 'PostgreSQL', { begin: proxy.cut, end: proxy.mend })
    await until(
      () => app.post('/api/url/add', { key, body: { url: 'https://example.com/' } }),
      ({ status }) => status === 200,
    )
  })
})
