import { expect } from 'chai'
import { codec } from '../../src/events/codec.ts'
import type { DomainEvent } from '../../src/events/index.ts'
import type { EventStore } from '../../src/events/store.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { type Connection, openPool } from '../../src/postgres/database.ts'
import { urlOf } from '../support/app.ts'
import { until } from '../support/client.ts'
import { freshDatabase } from '../support/database.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { long, note, openStage, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import type { Service } from '../support/process.ts'

const many = 10_000
/** far from the ids that the service's own sequence returns */
const firstLink = 1_000_000
const links = Array.from({ length: many }, (_, n) => firstLink + n)

describe(`deleting a resource that others refer to (${repeatable})`, function () {
  this.timeout(long ? 900_000 : 300_000)
  const random = randomFrom(seed)
  const stage = openStage()
  let connection: Connection
  let store: EventStore
  let service: Service
  let key: string
  let account: number

  const start = async () => {
    const dir = await stage.dir()
    service = await stage.start({ DATABASE_URL: urlOf(connection), SECRET: 'a secret for tests only', DATA_DIR: dir })
  }
  /** Appends events, each the first of its stream. */
  const append = async (events: readonly { readonly stream: string; readonly event: DomainEvent }[]) => {
    for (let from = 0; from < events.length; from += 1000) {
      const writes = events
        .slice(from, from + 1000)
        .map(({ stream, event }) => ({ stream, expected: 'no_stream' as const, events: [fresh(event, account)] }))
      expect((await store.append(writes)).ok).to.equal(true)
    }
  }

  before(async () => {
    connection = await freshDatabase()
    await start()
    ;({ key, id: account } = await service.register())
    const pool = openPool(connection, { name: 'cascade', max: 2, timeout: 30_000, onError: () => {} })
    stage.later(() => pool.end())
    store = await postgresStore(pool, codec(memoryKeyring()), createSignal())
    const url = 'https://example.com/'
    await append(
      links.map((id) => ({
        stream: `link-${id}`,
        event: linkCreated({ id, account, url, alias: `many-${id}`, token: `t${id}` }),
      })),
    )
  })
  after(stage.clear)

  const ask = async (method: 'post' | 'del' | 'get' | 'put', path: string, body?: object) =>
    service[method](path, { key, ...(body ? { body } : {}) })
  const ok = async (...args: Parameters<typeof ask>) => {
    const { status, json, text } = await ask(...args)
    expect(status, text).to.equal(200)
    return json
  }
  const newChannel = async () => Number((await ok('post', '/api/channel/add', { name: 'x' }))['id'])
  const result = async (path: string) => (await ok('get', path))['data'].result as number
  const listed = (channel: number) => result(`/api/urls?channel=${channel}`)
  /** Creates a channel with so many links. */
  const fullChannel = async (count: number) => {
    const channel = await newChannel()
    await append(
      links.slice(0, count).map((id) => ({
        stream: `channelitem-${channel}-links-${id}`,
        event: { type: 'ItemAssignedToChannel', data: { channel, item: { kind: 'links', id } } },
      })),
    )
    expect(
      await until(
        () => result(`/api/channel/${channel}`),
        (n) => n === count,
        200_000,
      ),
    ).to.equal(count)
    return channel
  }
  const events = async (type: string, id: number) => {
    const [row] = await query<{ n: string }>(
      connection,
      `select count(*) as n from log.events where type = $1 and data->>'id' = $2`,
      [type, String(id)],
    )
    return Number(row?.n)
  }
  const timed = async (run: () => Promise<unknown>) => {
    const began = performance.now()
    await run()
    return performance.now() - began
  }

  /** A point in a deletion at which the process is killed. `leaves` is the number of deletion events afterwards. */
  interface FailPoint {
    readonly where: string
    readonly leaves?: number
    readonly die: (type: string, id: number, path: string) => Promise<unknown>
  }
  const unanswered = (path: string) => ask('del', path).catch(() => undefined)
  const beforeCommit: FailPoint = {
    where: 'before the event is committed',
    leaves: 0,
    die: async (type, id, path) => {
      const holder = await stage.connect(connection)
      await holder.query('select pg_advisory_lock(2)')
      await query(
        connection,
        `create or replace function log.wait_there() returns trigger language plpgsql as
           $$ begin perform pg_advisory_xact_lock_shared(2); return null; end $$;
         create trigger wait_there after insert on log.events for each row
           when (new.type = '${type}' and new.data->>'id' = '${id}') execute function log.wait_there()`,
      )
      const answer = unanswered(path)
      const waiting = await until(
        () =>
          query<{ pid: number }>(
            connection,
            `select pid from pg_locks where locktype = 'advisory' and objid = 2 and not granted
               and database = (select oid from pg_database where datname = current_database())`,
          ),
        (rows) => rows.length > 0,
      )
      expect(waiting).to.have.length(1)
      await service.end('SIGKILL')
      // otherwise PostgreSQL notices only on its next write that the process is gone
      await query(connection, 'select pg_terminate_backend($1, 5000)', [waiting[0]!.pid])
      await holder.query('select pg_advisory_unlock(2)')
      await query(connection, 'drop trigger wait_there on log.events')
      expect(await answer).to.equal(undefined)
    },
  }
  const beforeTables: FailPoint = {
    where: 'before the event is projected',
    leaves: 1,
    die: async (type, id, path) => {
      const holder = await stage.connect(connection)
      await holder.query('begin; select * from read.checkpoints for update')
      const answer = unanswered(path)
      expect(
        await until(
          () => events(type, id),
          (n) => n === 1,
        ),
      ).to.equal(1)
      await service.end('SIGKILL')
      await holder.query('rollback')
      expect(await answer).to.equal(undefined)
    },
  }
  const answered: FailPoint = {
    where: 'after the response',
    leaves: 1,
    die: async (_type, _id, path) => {
      await ok('del', path)
      await service.end('SIGKILL')
    },
  }
  const anywhere: FailPoint = {
    where: 'at a random time',
    die: async (_type, _id, path) => {
      const answer = unanswered(path)
      await new Promise((done) => setTimeout(done, random(20)))
      await service.end('SIGKILL')
      await answer
    },
  }
  /** Each known point once, then random times. */
  const failPoints = function* () {
    yield* [beforeCommit, beforeTables, answered]
    for (const _ of rounds(1, 20)) yield anywhere
  }

  /** Kills the process at the point and starts it again. Returns whether the deletion was stored. */
  const dieAndStart = async ({ where, leaves, die }: FailPoint, type: string, id: number, path: string) => {
    await die(type, id, path)
    await start()
    const found = await events(type, id)
    expect(found, where).to.be.oneOf(leaves === undefined ? [0, 1] : [leaves])
    return found === 1
  }
  /** Waits for a value, because the tables may lag after a start. */
  const becomes = async (ask: () => Promise<number>, wanted: number, where: string) =>
    expect(await until(ask, (got) => got === wanted, 120_000), where).to.equal(wanted)

  it('deletes a channel of 10,000 links by one event, and unassigns all of them at once', async () => {
    const [full, empty] = [await fullChannel(many), await newChannel()]
    expect(await listed(full)).to.equal(many)
    const before = await store.head('domain')
    const ms = await timed(() => ok('del', `/api/channel/${full}/delete`))
    expect((await store.head('domain')) - before).to.equal(1n)
    expect((await ask('get', `/api/channel/${full}`)).status).to.equal(404)
    expect(await listed(full)).to.equal(0)
    const next = await newChannel()
    for (const id of [links[0], links.at(-1)]) await ok('post', `/api/channel/${next}/assign/links/${id}`)
    expect(await result(`/api/channel/${next}`)).to.equal(2)
    const emptyMs = await timed(() => ok('del', `/api/channel/${empty}/delete`))
    note(`with ten thousand items ${ms.toFixed(0)} ms, with none ${emptyMs.toFixed(0)} ms`)
  })

  it('deletes all of a full channel or nothing when the process dies', async () => {
    const size = long ? many : 300
    for (const failPoint of failPoints()) {
      const { where } = failPoint
      const channel = await fullChannel(size)
      const path = `/api/channel/${channel}`
      const deleted = await dieAndStart(failPoint, 'ChannelDeleted', channel, `${path}/delete`)
      if (!deleted) expect(await result(path), where).to.equal(size)
      await becomes(() => listed(channel), deleted ? 0 : size, where)
      expect((await ask('del', `${path}/delete`)).status, where).to.equal(deleted ? 404 : 200)
      expect((await ask('get', path)).status, where).to.equal(404)
      await becomes(() => listed(channel), 0, where)
      expect(await events('ChannelDeleted', channel), where).to.equal(1)
    }
  })

  it('removes a link that is deleted during its assignment from its campaign and channels, whenever the process dies', async () => {
    for (const failPoint of failPoints()) {
      const { where } = failPoint
      const channels = [await newChannel(), await newChannel(), await newChannel(), await newChannel()]
      const slug = `cascade-${channels[0]}`
      const campaign = await ok('post', '/api/campaign/add', { name: 'x', slug })
      const { id, short } = await ok('post', '/api/url/add', { url: 'https://example.com/', campaign: campaign['id'] })
      for (const channel of channels.slice(0, 3)) await ok('post', `/api/channel/${channel}/assign/links/${id}`)
      expect((await service.visit(`/r/${slug}`)).status).to.equal(302)

      const path = `/api/url/${id}`
      const assigning = ask('post', `/api/channel/${channels[3]}/assign/links/${id}`).catch(() => undefined)
      const deleted = await dieAndStart(failPoint, 'LinkDeleted', Number(id), `${path}/delete`)
      await assigning
      if (!deleted) {
        expect((await ask('get', path)).json['details'].campaign, where).to.equal(campaign['id'])
        expect(await result(`/api/channel/${channels[0]}`), where).to.equal(1)
        await ok('del', `${path}/delete`)
      }
      for (const channel of channels) {
        await becomes(() => result(`/api/channel/${channel}`), 0, where)
        expect((await ok('get', `/api/channel/${channel}`))['data'].items, where).to.deep.equal([])
        expect(await listed(channel), where).to.equal(0)
        expect((await ask('post', `/api/channel/${channel}/assign/links/${id}`)).status, where).to.equal(404)
      }
      expect(await result(`/api/urls?campaign=${campaign['id']}`), where).to.equal(0)
      for (const visited of [`/r/${slug}`, new URL(String(short)).pathname])
        expect((await service.visit(visited)).status, `${where} ${visited}`).to.equal(404)
      expect((await service.visit(new URL(String(campaign['list'])).pathname)).text).to.include(
        'This list has no links',
      )
      for (const method of ['get', 'del'] as const)
        expect((await ask(method, method === 'get' ? path : `${path}/delete`)).status, where).to.equal(404)
      expect(await events('LinkDeleted', Number(id)), where).to.equal(1)
    }
  })
})
