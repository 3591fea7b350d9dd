import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { projectedPosition } from '../../src/app/log/projector.ts'
import { startedDatabase, startTestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { openStage, query } from '../support/faults.ts'
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

describe('a PostgreSQL that goes back while the service runs', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('is said by /readyz and by a line of the log, as after a switch to a replica that was behind', async () => {
    const { lines, logger } = keepLines()
    const app = await startTestApp({}, undefined, {}, logger)
    stage.later(app.close)
    const { key } = await app.register()
    const ready = () => app.operator.get('/readyz?of=api')
    await until(ready, ({ status }) => status === 200)
    const made = await app.post('/api/url/add', { key, body: { url: 'https://example.com/' } })
    expect(made.status).to.equal(200)
    const { db, store } = app.app.ledger
    const head = await store.head('domain')
    await until(
      async () => projectedPosition(db),
      (position) => position >= head,
    )
    await query(app.connection, 'delete from log.events where position >= $1', [head.toString()])
    const { text } = await until(ready, (answer) => answer.text.includes('older copy'), 30_000)
    expect(text).to.include('Restart all processes of the service')
    expect(lines.filter(({ msg }) => msg.includes('older copy')).length).to.be.within(1, 3)
  })
})

describe('a projector that is dead', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('is a line in the log of a process that notices it, and another when there is one again', async () => {
    const { lines, logger } = keepLines()
    const settings = { ROLES: 'http,relay', READY_MAX_LAG_SECONDS: '1' }
    const app = await startTestApp(settings, await startedDatabase(), {}, logger)
    stage.later(app.close)
    const says = (text: string) => until(async () => lines.some(({ msg }) => msg.startsWith(text)), Boolean)
    await app.post('/register', { body: { email: 'ann@example.com', password: 'correct horse 1' } })
    await says('the read tables are behind the log')
    const projector = await startTestApp({ ROLES: 'projector' }, app.connection)
    stage.later(projector.close)
    await says('the read tables have caught up with the log')
  })
})

describe('an outage of PostgreSQL', function () {
  this.timeout(300_000)
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
