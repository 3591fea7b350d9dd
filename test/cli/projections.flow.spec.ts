import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { systemMetadata } from '../../src/events/event.ts'
import { isKnown } from '../../src/events/unknown.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { runCommand } from '../support/process.ts'

describe('the projections commands', () => {
  let service: TestApp
  let key: string
  let stream: string
  before(async () => {
    service = await startTestApp({ KEEP_PAST: 'off' })
    ;({ key } = await service.register())
    // PostgreSQL stores no text with a zero byte, so pixels cannot apply this event
    const id = 4711
    stream = `pixel-${id}`
    const data = { id, account: 1, type: 'fbpixel', name: 'zero\u0000byte', tag: '1' } as const
    const event = { id: randomUUID(), type: 'PixelCreated', data, metadata: systemMetadata(1) } as const
    await service.app.ledger.store.append([{ stream, expected: 'no_stream', events: [event] }])
    await until(problems, ({ length }) => length > 0)
  })
  after(() => service.close())

  const problems = async () => (await service.operator.get('/readyz?of=api')).json['problems'] as readonly string[]
  const settings = () => ({
    DATABASE_URL: urlOf(service.connection),
    DATA_DIR: service.dir,
    SECRET: 'a secret for tests only',
    OPERATOR: 'ann',
    // the versions of rows halt with the rows
    KEEP_PAST: 'off',
  })
  const run = (...args: string[]) => runCommand(['projections', ...args], settings())

  it('are needed for the halted projection only: the service is ready and writes do not wait', async () => {
    const ready = await service.operator.get('/readyz?of=api')
    expect([ready.status, ready.json['ready']]).to.deep.equal([200, true])
    expect(await problems()).to.have.length(1)
    expect((await problems())[0]).to.match(/^the projection pixels is halted at \d+: pixels cannot apply event/)
    const made = await until(
      () => service.post('/api/url/add', { key, body: { url: 'https://example.com/' } }),
      ({ headers }) => !headers.has('X-Projection-Pending'),
    )
    expect([made.status, made.headers.get('X-Projection-Pending')]).to.deep.equal([200, null])
  })

  it('list all projections, and which are halted where', async () => {
    const { code, out } = await run('list')
    expect(code).to.equal(0)
    expect(out).to.match(new RegExp(`^pixels +\\d+ +\\d+  halted at event \\d+ \\(PixelCreated, ${stream}@0\\)$`, 'm'))
    expect(out).to.match(/^links +\d+ +\d+ {2}running$/m)
  })

  it('explain a halt', async () => {
    const { code, out } = await run('inspect', 'pixels')
    expect(code).to.equal(0)
    expect(out).to.match(/^reason +pixels cannot apply event \d+ .*unsupported Unicode escape sequence$/m)
    expect(out).to.match(/^since +20.*, \d+ attempts$/m)
  })

  it('try a halted projection again, and fail while it is still halted', async () => {
    const { code, err } = await run('retry', 'pixels')
    expect(code).to.equal(1)
    expect(err).to.match(/pixels is still halted: pixels cannot apply event/)
    expect(await run('retry', 'links')).to.include({ code: 0, out: 'links is not halted.\n' })
  })

  it('refuse a wrong name, a missing reason and a projection that is not halted', async () => {
    const unknown = await run('inspect', 'nothing')
    expect(unknown.code).to.equal(2)
    expect(unknown.err).to.include('there is no projection nothing; use one of accounts, ')
    expect((await run('park', 'pixels')).err).to.include('--reason must say why')
    const running = await run('park', 'links', '--reason', 'no')
    expect([running.code, running.err]).to.deep.equal([
      1,
      'linkledger: links is not halted, so there is no event to park\n',
    ])
  })

  it('park an event in the name of the operator, and the running service continues', async () => {
    const { code, out, err } = await run('park', 'pixels', '--reason', 'a zero byte')
    expect(code, err).to.equal(0)
    expect(out).to.match(/^pixels skips event \d+ \(PixelCreated, pixel-4711@0\) from now on\.\npixels runs again\.\n$/)
    expect(await until(problems, ({ length }) => length === 0)).to.deep.equal([])
    const parked = await service.app.ledger.store.last('projection-pixels')
    expect(parked && isKnown(parked) && parked.metadata.actor).to.deep.equal({ kind: 'operator', name: 'ann' })
    expect((await run('inspect', 'pixels')).out).to.match(/^parked +PixelCreated, pixel-4711@0, at .*: a zero byte$/m)
    expect((await run('retry')).out).to.equal('No projection is halted.\n')
    const made = await service.post('/api/pixel/add', { key, body: { type: 'fbpixel', name: 'mine', tag: '1234567' } })
    expect(made.status, made.text).to.equal(200)
    expect((await service.get('/api/pixels', { key })).text).to.include('mine')
  })

  it('are obeyed by a rebuild', async () => {
    const { code, err } = await runCommand(['rebuild'], settings())
    expect(code, err).to.equal(0)
    expect((await run('list')).out).not.to.include('halted')
  })
})
