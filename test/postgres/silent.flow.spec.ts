import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Pool } from 'pg'
import { type Connection, type Database, openDatabase, openPool, sessions } from '../../src/postgres/database.ts'
import { createListener, openLocks } from '../../src/postgres/listen.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'

/** Returns where a session has its keep-alive settings from: over the socket of a file, they have no effect. */
const settingsOf = async (db: Database | Pool): Promise<readonly string[]> => {
  const sql = `select source from pg_settings where name like 'tcp\\_%'`
  const { rows } = await ('raw' in db ? db.raw<{ rows: { source: string }[] }>(sql) : db.query<{ source: string }>(sql))
  return rows.map(({ source }) => source)
}

describe('connections to a PostgreSQL that falls silent', () => {
  /** what each client has sent */
  const sockets = new Map<Socket, string>()
  let proxy: Server
  let through: Connection
  const freeze = () => sockets.forEach((_, socket) => socket.unpipe())

  beforeEach(async () => {
    const connection = await freshDatabase()
    proxy = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect(join(connection.host ?? '', `.s.PGSQL.${connection.port}`))
      client.on('data', (sent: Buffer) => sockets.set(client, `${sockets.get(client) ?? ''}${sent.toString('latin1')}`))
      sockets.set(client, '')
      client.pipe(server)
      server.pipe(client)
      for (const one of [client, server]) one.on('error', () => {})
      client.on('close', () => server.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    through = { ...connection, host: '127.0.0.1', port: (proxy.address() as AddressInfo).port }
  })
  afterEach(() => {
    sockets.forEach((_, socket) => socket.destroy())
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

  it('let the server notice within seconds that our machine is gone: it would keep its locks for two hours', async () => {
    const options = { name: 'spec', max: 1, timeout: 60_000, onError: () => {} }
    const listener = createListener(through, 'spec')
    listener.start({ message: () => {}, up: () => {}, lost: () => {} })
    const locks = await openLocks(through, 'spec')
    const [pool, plain] = [openPool(through, options), openDatabase(through, options)]
    const readOnly = openDatabase(through, { ...options, begin: sessions.readOnly })
    const given = await Promise.all([pool, plain, readOnly].map(settingsOf))
    await until(async () => listener.up(), Boolean)
    for (const settings of given) expect(settings).to.deep.equal(['session', 'session', 'session', 'session'])
    const sent = [...sockets.values()]
    expect(sent).to.have.length(5)
    for (const one of sent) expect(one).to.match(/tcp_keepalives_idle = 5;.*tcp_user_timeout = 15000/)
    await Promise.all([listener.close(), locks.close(), pool.end(), plain.destroy(), readOnly.destroy()])
  })

  it('lose their locks to another process when ours is frozen, though its kernel still answers', async () => {
    const locks = await openLocks(through, 'frozen', 2000)
    await locks.acquire([7n])
    await until(
      async () => [...sockets.values()].join(''),
      (sent) => sent.split('select 1').length > 3,
    )
    freeze()
    const other = await openLocks(through, 'other')
    await until(
      async () => (await other.acquire([7n])).has(7n),
      (isHeld) => isHeld,
    )
    await until(async () => locks.lost.aborted, Boolean)
    await Promise.all([locks.close(), other.close()])
  })
})
