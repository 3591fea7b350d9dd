import { createServer } from 'node:net'
import { expect } from 'chai'
import { startOperatorPort } from '../../../src/app/operator/port.ts'
import { listenOn } from '../../../src/http/server/listen.ts'
import { createCleanup } from '../../../src/lib/cleanup.ts'
import { OperatorError } from '../../../src/lib/operatorerror.ts'
import { client } from '../../support/client.ts'

describe('the port of the operator', () => {
  const cleanup = createCleanup(() => {})
  after(cleanup.run)
  const start = async (settings: {
    readonly OPERATOR_PORT?: number
    readonly PORT?: number
    readonly OPERATOR_HOSTS?: string[]
  }) => {
    const warnings: string[] = []
    const log = { warn: (message: string) => void warnings.push(message) }
    const routes = { '/fails': () => Promise.reject(new Error('a secret')) }
    const address = await startOperatorPort(
      { PORT: 3000, OPERATOR_HOST: '127.0.0.1', OPERATOR_HOSTS: [], ...settings },
      routes,
      {
        log,
        cleanup,
      },
    )
    return { address, warnings }
  }

  it('is a free one when another program uses the default, so that the service still starts', async () => {
    const [first, second] = [await start({}), await start({})]
    expect(second.address).not.to.equal(first.address)
    expect(second.warnings.join()).to.match(/^port 9464 is in use, so metrics are on port \d+: set OPERATOR_PORT/)
  })

  it('is refused by name when it was chosen and is in use', async () => {
    const other = createServer()
    const OPERATOR_PORT = await listenOn(other, 0, '127.0.0.1')
    cleanup.defer(async () => other.close())
    const error: unknown = await start({ OPERATOR_PORT }).catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(OperatorError)
    expect((error as Error).message).to.match(/^OPERATOR_PORT: \d+ is in use on 127\.0\.0\.1: /)
  })

  it('answers no web page that has given its own name the address of this machine', async () => {
    const { address } = await start({ PORT: 0, OPERATOR_HOSTS: ['metrics.example'] })
    const { get } = client(address)
    const statusFor = async (Host: string) => (await get('/other', { headers: { Host } })).status
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a b',
      '127.0.0.1@x.example',
    ])
      expect(await statusFor(host), host).to.equal(421)
    const known = [
      '127.0.0.1',
      '10.1.2.3:9464',
      '[::1]:9464',
      'localhost:9464',
      'LocalHost',
      'app',
      'metrics.example:80',
    ]
    for (const host of known) expect(await statusFor(host), host).to.equal(404)
  })

  it('answers 503 without details when something cannot be read', async () => {
    const { address } = await start({ PORT: 0 })
    const response = await fetch(`${address}/fails`)
    expect([response.status, await response.text()]).to.deep.equal([
      503,
      '{"error":1,"message":"The service is too busy, or not ready yet. Try again shortly.","code":"unavailable","params":{"what":"service"}}',
    ])
  })
})
