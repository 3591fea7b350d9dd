import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import Koa from 'koa'
import { openOutages } from '../../../src/app/health/outages.ts'
import { envelope } from '../../../src/http/api/envelope.ts'
import { Failure } from '../../../src/http/api/errors.ts'
import { problem } from '../../../src/lib/problems/problem.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'
import { keepLines } from '../../support/logger.ts'

describe('requests that are refused with 503', () => {
  it('are counted in the log where the service is too busy, and where rows of them have met an outage', async () => {
    const failures = [
      () => new Failure(503, problem('busy', { what: 'streams' })),
      () => new Failure(503, problem('nothing_stored', { failed: 1, rows: 2 }), {}, {}, new Unavailable('no answer')),
    ]
    for (const failure of failures) {
      const { lines, logger } = keepLines()
      const outages = openOutages(logger, { engine: 'postgres' })
      const server = new Koa()
        .use(envelope(outages.log))
        .use(() => Promise.reject(failure()))
        .listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      for (let n = 0; n < 20; n++) expect((await fetch(`http://127.0.0.1:${port}/api/urls`)).status).to.equal(503)
      server.close()
      outages.close()
      const texts = lines.map(({ msg }) => msg)
      expect(texts[0]).to.include('further failures are counted')
      expect(texts.length).to.be.below(3)
    }
  })
})
