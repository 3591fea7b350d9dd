import { expect } from 'chai'
import { closeServer, createHttpServer } from '../../src/http/server.ts'
import { listenOn } from '../../src/http/listen.ts'
import { OperatorError } from '../../src/lib/operatorerror.ts'

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
