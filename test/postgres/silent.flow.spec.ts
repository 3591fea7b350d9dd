import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Connection, openPool } from '../../src/postgres/database.ts'
import { createListener, openLocks } from '../../src/postgres/listen.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'

describe('connections to a PostgreSQL that falls silent', () => {
  const sockets = new Set<Socket>()
  let proxy: Server
  let through: Connection
  const freeze = () => sockets.forEach((socket) => socket.unpipe())

  beforeEach(async () => {
    const connection = await freshDatabase()
    proxy = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect(join(connection.host ?? '', `.s.PGSQL.${connection.port}`))
      sockets.add(client)
      client.pipe(server)
      server.pipe(client)
      for (const one of [client, server]) one.on('error', () => {})
      client.on('close', () => server.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    through = { ...connection, host: '127.0.0.1', port: (proxy.address() as AddressInfo).port }
  })
  afterEach(() => {
    sockets.forEach((socket) => socket.destroy())
    sockets.clear()
    proxy.close()
  })

  it('are closed when they are no longer needed, so that the process can stop', async () => {
    const listener = createListener(through, 'spec')
    listener.start({ message: () => {}, up: () => {}, lost: () => {} })
    const pool = openPool(through, { name: 'spec', max: 2, timeout: 60_000, onError: () => {} })
    const locks = await openLocks(through, 'spec')
    await pool.query('select 1')
    await locks.acquire([1n])
    await until(async () => listener.up(), Boolean)
    expect(sockets.size).to.equal(3)
    freeze()
    await Promise.all([listener.close(), locks.close(), pool.end()])
  })
})
