import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { closeServer, createHttpServer, onForwarded } from '../../src/http/server.ts'
import { listenOn } from '../../src/http/listen.ts'
import { OperatorError } from '../../src/lib/operatorerror.ts'
import { client } from '../support/client.ts'

describe('a port that is in use', () => {
  it('is reported as an error that an operator can correct', async () => {
    const first = createHttpServer()
    const port = await listenOn(first, 0, '127.0.0.1')
    const error: unknown = await listenOn(createHttpServer(), port, '127.0.0.1').catch((reason: unknown) => reason)
    await closeServer(first, 0)
    expect(error).to.be.instanceOf(OperatorError)
    expect(error)
      .to.have.property('message')
      .that.matches(/^PORT: \d+ is in use on 127\.0\.0\.1: /)
  })
})

describe('a service that trusts no proxy', () => {
  it('reports the first X-Forwarded-For, and no other (threat 66)', async () => {
    const server = createHttpServer().on('request', (_, res: ServerResponse) => res.end())
    let reports = 0
    onForwarded(server, () => reports++)
    const { get } = client(`http://127.0.0.1:${await listenOn(server, 0, '127.0.0.1')}`)
    await get('/')
    expect(reports).to.equal(0)
    for (let i = 0; i < 3; i++) await get('/', { headers: { 'X-Forwarded-For': '8.8.8.8' } })
    expect(reports).to.equal(1)
    await closeServer(server, 0)
  })
})
