import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import { expect } from 'chai'
import { codec } from '../../src/events/codec.ts'
import type { EventStore } from '../../src/events/store.ts'
import { eventStoreDb } from '../../src/store/eventstoredb.ts'
import { collect } from '../store/store.contract.ts'
import { startTestApp, type TestApp, urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { type Engine, eventStoreEngine, openEventStore } from '../support/engine.ts'
import { fresh } from '../support/events.ts'
import { openStage, query } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { runCommand, runProcess, type Service } from '../support/process.ts'
import { freshDatabase } from '../support/database.ts'
import { listed } from '../support/load.ts'

/** Waits until the service has projected the log, which may take long on a server that was used before. */
const ready = async <S extends Pick<TestApp, 'operator'>>(service: S) => {
  const { status, text } = await until(
    () => service.operator.get('/readyz?of=api'),
    (answer) => answer.status === 200,
    40_000,
  )
  expect(status, text).to.equal(200)
  return service
}
const deleted = () => fresh({ type: 'LinkDeleted', data: { id: 7 } } as const)

describe(`the adapter on ${eventStoreEngine}`, () => {
  let engine: Engine
  let store: EventStore
  let operator: EventStoreDBClient
  before(async () => {
    engine = await openEventStore()
    store = await eventStoreDb({ url: engine.url, prefix: engine.prefix, codec: codec(memoryKeyring()) })
    operator = EventStoreDBClient.connectionString(engine.url)
  })
  after(async () => {
    await store.close()
    void operator.dispose()
    await engine.close()
  })
  const append = (stream: string, expected: bigint | 'no_stream', ...events: ReturnType<typeof deleted>[]) =>
    store.append([{ stream, expected, events }])

  it('treats a stream that an operator deleted as missing, and continues its revisions', async () => {
    const stream = `link-${randomUUID()}`
    await append(stream, 'no_stream', deleted(), deleted())
    await operator.deleteStream(`${engine.prefix}.${stream}`)
    expect(await collect(store.read(stream))).to.deep.equal([])
    expect(await store.last(stream)).to.equal(undefined)
    const again = deleted()
    expect(await append(stream, 'no_stream', again)).to.include({ ok: true })
    expect(await store.last(stream)).to.include({ id: again.id, revision: 2n })
  })

  it('reads nothing from a stream with a tombstone, and fails to append to it', async () => {
    const stream = `link-${randomUUID()}`
    await append(stream, 'no_stream', deleted())
    await operator.tombstoneStream(`${engine.prefix}.${stream}`)
    expect(await collect(store.read(stream))).to.deep.equal([])
    expect(await append(stream, 'no_stream', deleted()).catch((error: unknown) => error)).to.be.instanceOf(Error)
    expect(await store.last(stream)).to.equal(undefined)
  })

  it('subscribes from the position of any event, even one that the filter excludes', async () => {
    const before = await store.head('all')
    const appended = await append(`link-${randomUUID()}`, 'no_stream', deleted(), deleted(), deleted())
    const stop = new AbortController()
    const read = async (after: bigint, filter: 'domain' | 'clicks', count: number) => {
      const seen: bigint[] = []
      for await (const batch of store.subscribe({ after, filter, limit: 1, signal: stop.signal })) {
        seen.push(...batch.map(({ position }) => position))
        if (seen.length >= count) break
      }
      return seen
    }
    const positions = await read(before, 'domain', 3)
    expect(positions.at(-1)).to.equal(appended.ok && appended.position)
    expect(await read(positions[0]!, 'domain', 2)).to.deep.equal(positions.slice(1))
    const clicks = read(positions[1]!, 'clicks', 1)
    await sleep(50)
    stop.abort()
    expect(await clicks).to.deep.equal([])
    for (const position of positions) expect(await store.idAt(position)).to.be.a('string')
  })

  it('receives no events of the server itself', async () => {
    const found: string[] = []
    for await (const { event } of operator.readAll({ maxCount: 200 })) found.push(event?.type ?? '')
    expect(
      found.some((type) => type.startsWith('$')),
      'the server has events of its own',
    ).to.equal(true)
    const head = await store.head('all')
    const stop = new AbortController()
    for await (const batch of store.subscribe({ after: 0n, filter: 'all', limit: 100, signal: stop.signal })) {
      for (const { type } of batch) expect(type).not.to.match(/^\$/)
      if (batch.at(-1)!.position >= head) break
    }
  })
})

describe(`processes on ${eventStoreEngine}`, function () {
  this.timeout(300_000)
  const stage = openStage()
  afterEach(stage.clear)

  it('form one service: each serves the links that another created, and one takes over from a killed projector', async () => {
    const engine = await openEventStore()
    stage.later(engine.close)
    const settings = {
      DATABASE_URL: urlOf(await freshDatabase()),
      ...engine.settings,
      SECRET: 'a secret for tests only',
      BASE_URL: 'http://short.test',
    }
    const start = async () => ready(await stage.start({ ...settings, DATA_DIR: await stage.dir() }))
    const [first, a] = [await start(), await start()]
    const b = await start()
    const { key } = await a.register()
    const add = async (service: Service, url: string) => {
      const { status, json, text } = await service.post('/api/url/add', { key, body: { url } })
      expect(status, text).to.equal(200)
      return { path: new URL(String(json['shorturl'])).pathname, id: Number(json['id']), url }
    }
    const followed = async (service: Service, { path, url }: { path: string; url: string }) => {
      const answer = await until(
        () => service.visit(path),
        ({ status }) => status === 302,
      )
      expect(answer.headers.get('Location')).to.equal(url)
    }
    const made = [await add(a, 'https://example.com/a'), await add(b, 'https://example.com/b')]
    for (const service of [first, a, b]) for (const link of made) await followed(service, link)
    await first.end('SIGKILL')
    const late = await add(a, 'https://example.com/late')
    await followed(b, late)
    const readable = () => b.get(`/api/url/${late.id}`, { key })
    expect((await until(readable, ({ status }) => status === 200)).status).to.equal(200)
    const clicks = async () => Number((await a.get(`/api/url/${late.id}`, { key })).json['data']?.['clicks'] ?? -1)
    expect(await until(clicks, (n) => n === 1, 15_000)).to.equal(1)

    const command = async (...args: string[]) => {
      const { code, out, err } = await runCommand(args, { ...settings, DATA_DIR: await stage.dir() })
      expect(code, err).to.equal(0)
      return out
    }
    expect(await command('account', 'add', `${randomUUID()}@example.com`)).to.include('API key')
    expect(await command('rebuild')).to.include('are rebuilt')
    for (const link of made) await followed(a, link)
    expect((await listed(a, key)).map(({ id }) => Number(id))).to.have.members([...made, late].map(({ id }) => id))
  })

  it('end a command with the name of the setting when it cannot be reached', async () => {
    const { code, err } = await runProcess(['rebuild'], {
      DATABASE_URL: urlOf(await freshDatabase()),
      EVENTSTORE_URL: 'esdb://user:canary@127.0.0.1:1',
      SECRET: 'a secret for tests only',
      DATA_DIR: await stage.dir(),
      PORT: '0',
      LOG_LEVEL: 'warn',
    })
    expect(code).to.equal(1)
    expect(err)
      .to.include('the event store at 127.0.0.1:1 (EVENTSTORE_URL) cannot be reached')
      .and.not.include('canary')
  })
})

describe(`a service on ${eventStoreEngine}`, function () {
  this.timeout(300_000)
  let engine: Engine
  let app: TestApp
  const start = async (before?: TestApp) =>
    ready(await startTestApp({ ...engine.settings, BASE_URL: 'http://short.test' }, before?.connection))
  before(async () => {
    engine = await openEventStore()
    app = await start()
  })
  after(async () => {
    await app.close()
    await engine.close()
  })

  it('creates, updates, redirects and counts links, and still has them after a restart', async () => {
    const ann = await app.register()
    const { key } = ann
    const ok = async (answer: ReturnType<TestApp['ask']>) => {
      const { status, json, text } = await answer
      expect(status, text).to.equal(200)
      return json
    }
    const [first, second] = ['https://example.com/first', 'https://example.com/second']
    const alias = `hello-${ann.id}-${Math.random().toString(36).slice(2, 8)}`
    const { id } = await ok(app.post('/api/url/add', { key, body: { url: first, custom: alias } }))
    // a client reads its own writes at once
    expect((await ok(app.get(`/api/url/${id}`, { key })))['details']).to.include({ longurl: first, alias })
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(first)
    // a write waits two seconds for its tables, which is too short when the machine stands still: another one has to do
    // it
    let url = ''
    let updates = 0
    const updated = await until(
      () => {
        url = `${second}?${++updates}`
        return app.put(`/api/url/${id}/update`, { key, body: { url } })
      },
      ({ headers }) => !headers.has('X-Projection-Pending'),
    )
    expect(updated.status).to.equal(200)
    expect(updated.headers.has('X-Projection-Pending')).to.equal(false)
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(url)
    const taken = await app.post('/api/url/add', { key, body: { url: first, custom: alias.toUpperCase() } })
    expect([taken.status, taken.json['error']]).to.deep.equal([400, 1])

    const clicks = async () => (await ok(app.get(`/api/url/${id}`, { key })))['data']['clicks'] as number
    expect(await until(clicks, (n) => n === 2)).to.equal(2)
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        app.post('/api/url/add', { key, body: { url: `https://example.com/${n}` } }),
      ),
    )
    expect(many.filter(({ status }) => status === 200)).to.have.length(40)
    const all = await until(
      () => listed(app, key),
      ({ length }) => length === 41,
    )
    expect(all).to.have.length(41)
    const [{ count } = { count: '' }] = await query<{ count: string }>(
      app.connection,
      'select count(*) from log.events',
    )
    expect(count, 'events in PostgreSQL').to.equal('0')

    await app.close()
    app = await start(app)
    expect((await app.visit(`/${alias}`)).headers.get('Location')).to.equal(url)
    expect(await until(clicks, (n) => n === 3)).to.equal(3)
    expect(await listed(app, key)).to.have.length(41)
    expect((await ok(app.get('/api/account', { key })))['data']).to.include({ email: ann.email })
    const more = await ok(app.post('/api/url/add', { key, body: { url: first } }))
    expect(more['id']).to.be.above(Number(id))
  })
})
