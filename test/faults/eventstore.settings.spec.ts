import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { codec } from '../../src/events/codec.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { createCa, createCertificate } from '../engines/certificates.ts'
import { startDouble } from '../support/eventstoredb.ts'
import { openStage } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { timed } from './eventstore.ts'

describe('a wrong EVENTSTORE_URL', function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)
  const opening = async (url: string, timeoutMs = 30_000) => {
    const { outcome, ms } = await timed(eventStoreDb({ url, codec: codec(memoryKeyring()), timeoutMs }))
    if (typeof outcome === 'object' && outcome !== null && 'close' in outcome) {
      await (outcome as { close: () => Promise<void> }).close()
      return { message: 'opened', ms }
    }
    return { message: String(outcome), ms }
  }
  const startWithTls = async () => {
    const dir = await stage.dir()
    const [ca, other] = [await createCa(dir, 'ca'), await createCa(dir, 'other')]
    const files = await createCertificate(dir, 'node', ca, 'DNS:localhost,IP:127.0.0.1')
    const double = await startDouble({ tls: { cert: await readFile(files.cert), key: await readFile(files.key) } })
    stage.later(double.close)
    return { dir, ca: ca.cert, other: other.cert, double }
  }

  it('is reported with the certificate authority that is missing or wrong, and the file that cannot be read', async () => {
    const { dir, ca, other, double } = await startWithTls()
    expect((await opening(`${double.url}?tlsCAFile=${ca}`)).message).to.equal('opened')
    for (const url of [double.url, `${double.url}?tlsCAFile=${other}`]) {
      const { message, ms } = await opening(url)
      expect(message).to.include('its certificate is refused').and.include('tlsCAFile').and.not.include('changeit')
      expect(ms, 'no retry can help').to.be.below(15_000)
    }
    const missing = join(dir, 'missing.pem')
    const { message } = await opening(`${double.url}?tlsCAFile=${missing}`)
    expect(message).to.include(`EVENTSTORE_URL: the file ${missing} of tlsCAFile cannot be read (ENOENT)`)
  })

  it('is reported when TLS is used on one side only', async () => {
    const { double } = await startWithTls()
    const without = await opening(`esdb://127.0.0.1:${double.port}?tls=false`, 1000)
    expect(without.message).to.include('it uses TLS: remove tls=false')
    const plain = await startDouble()
    stage.later(plain.close)
    const { message } = await opening(`esdb://admin:changeit@127.0.0.1:${plain.port}`, 1000)
    expect(message).to.include('add tls=false').and.not.include('changeit')
  })

  it('is reported when a server with TLS only waits for it', async () => {
    const { double } = await startWithTls()
    // what begins a handshake (RFC 8446, 5.1) is passed on, and nothing else is answered
    const sockets = new Set<Socket>()
    const waiting = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('data', (first) => {
        if (first[0] !== 22) return
        const behind = connect(double.port, '127.0.0.1').on('error', () => {})
        sockets.add(behind)
        behind.write(first)
        socket.pipe(behind).pipe(socket)
      })
    }).listen(0, '127.0.0.1')
    await once(waiting, 'listening')
    stage.later(async () => {
      waiting.close()
      for (const socket of sockets) socket.destroy()
    })
    const { port } = waiting.address() as AddressInfo
    const { message } = await opening(`esdb://127.0.0.1:${port}?tls=false`, 1000)
    expect(message).to.include('StoreRefused').and.include('it uses TLS: remove tls=false')
  })

  it('is reported with a wrong password, and with a user who may append but not read $all', async () => {
    const double = await startDouble()
    stage.later(double.close)
    double.fail(() => 'unauthenticated')
    expect((await opening(double.url)).message).to.include('the user or the password in EVENTSTORE_URL is wrong')
    double.fail(({ stream }) => (stream === '$all' ? 'access denied' : undefined))
    const appended = double.calls.append
    expect((await opening(double.url)).message).to.include('must be allowed to append and to read $all')
    expect(double.calls.append, 'nothing is appended').to.equal(appended)
  })
})
