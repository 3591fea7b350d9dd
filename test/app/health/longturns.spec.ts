import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { pino } from 'pino'
import { loggedPath, watchLongTurns } from '../../../src/app/health/longturns.ts'
import { openMetrics } from '../../../src/app/health/metrics.ts'
import { begins, ran } from '../../../src/lib/async/turns.ts'
import { until } from '../../support/client.ts'
import { burn, expectShortTurns, noteLogged, withBound } from '../../support/turns.ts'

type Line = Readonly<Record<string, unknown>>

describe('a turn of the event loop that took too long', () => {
  it('is counted, and logged with its request, without the query', async () => {
    const lines: Line[] = []
    let output = ''
    const write = (line: string) => {
      output += line
      lines.push(JSON.parse(line) as Line)
    }
    const log = pino({ base: null }, { write })
    const metrics = openMetrics()
    const response = {
      req: { method: 'GET', url: `/account/reset?t=secret` },
      getHeader: (name: string) => ({ 'X-Request-Id': 'order-4711' })[name],
    } as unknown as ServerResponse
    const stop = watchLongTurns(log, metrics)
    begins(response)
    burn(400)
    ran(response)
    const isOurs = ({ request }: Line) => request === 'order-4711'
    const [line] = await until(
      async () => lines.filter(isOurs),
      ({ length }) => length > 0,
    )
    await stop()
    expect(line).to.include({
      level: 40,
      method: 'GET',
      path: '/account/reset',
      msg: 'a turn of the event loop took too long',
    })
    expect(line!['ms']).to.be.above(200)
    expect(line!['cpuMs']).to.be.above(200)
    const [, count] = /^linkledger_long_turns_total (\d+)$/m.exec((await metrics.text()).text) ?? []
    expect(Number(count)).to.equal(lines.length)
    // a service in a process of its own fails the test by this line
    await withBound(300, async () => noteLogged(`listens on http://localhost\n${output}`))
    expect(expectShortTurns).to.throw(/\d+ ms in GET \/account\/reset/)
  })

  it('is logged without data that may identify a visitor: only the alias of a short address is kept', () => {
    const urls = ['/spring/ann@example.com/token?x', '/ann@example.com', '/qr/abc', '/api/urls?q=x', '/docs#x', '/']
    expect(urls.map(loggedPath)).to.deep.equal(['/spring', 'other', '/qr', '/api/urls', '/docs', '/'])
  })
})
