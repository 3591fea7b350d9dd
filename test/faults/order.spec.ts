import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { codec } from '../../src/events/codec.ts'
import { createSignal } from '../../src/lib/async/signal.ts'
import { postgresStore } from '../../src/store/postgres.ts'
import { type Connection, openPool } from '../../src/postgres/database.ts'
import { startedDatabase, startTestApp, urlOf } from '../support/app.ts'
import { type client, until } from '../support/client.ts'
import { long, openStage, query, randomFrom, repeatable, rounds, seed } from '../support/faults.ts'
import { memoryKeyring } from '../support/keyring.ts'
import { expectWholeLog, readLog } from '../support/ledger.ts'
import { listed } from '../support/load.ts'

type Service = Pick<ReturnType<typeof client>, 'get' | 'post' | 'register'>

/**
 * Makes an append of a link to a "frozen" URL wait, after its events have their positions, until a lock is released.
 */
const failPoint = `
  create function log.wait_here() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(1); return null; end $$;
  create trigger wait_here after insert on log.events for each row
    when (new.type = 'LinkCreated' and new.data->>'url' like '%frozen%') execute function log.wait_here()`
const frozen = `from pg_locks where locktype = 'advisory' and objid = 1 and not granted
  and database = (select oid from pg_database where datname = current_database())`

/**
 * Makes the log number its events with a sequence, as is common: events become visible in the order of commits, not of
 * positions.
 */
const numberBySequence = async (connection: Connection) => {
  const [{ text } = { text: '' }] = await query<{ text: string }>(
    connection,
    `select pg_get_functiondef('log.append'::regproc) as text`,
  )
  const changes = [
    ['perform pg_advisory_xact_lock(7275463);', ''],
    ['head + row_number() over (order by v.nr, k) as position', `nextval('log.place') as position`],
  ] as const
  for (const [right] of changes) expect(text).to.include(right)
  const wrong = changes.reduce((sql, [right, instead]) => sql.replace(right, instead), text)
  await query(connection, `create sequence log.place; ${wrong}`)
  // without the lock that it takes
  const later = 'create or replace function log.later(times timestamptz[]) returns timestamptz[] language sql'
  await query(connection, `${later} as 'select times'`)
  await query(connection, `select setval('log.place', max(position)) from log.events`)
}

describe(`the order of the log (${repeatable})`, function () {
  this.timeout(long ? 1_800_000 : 120_000)
  const random = randomFrom(seed)
  const stage = openStage()
  afterEach(stage.clear)

  /** Polls the log. Returns the positions that it has read so far. */
  const startReader = async (connection: Connection) => {
    const pool = openPool(connection, { name: 'reader', max: 1, timeout: 10_000, onError: () => {} })
    const [ended, news] = [new AbortController(), createSignal()]
    const store = await postgresStore(pool, codec(memoryKeyring()), news)
    const polling = setInterval(news.notify, 5)
    const seen: number[] = []
    const reading = (async () => {
      for await (const events of store.subscribe({ after: 0n, filter: 'all', limit: 100, signal: ended.signal }))
        seen.push(...events.map(({ position }) => Number(position)))
    })()
    stage.later(async () => {
      ended.abort()
      await reading
      clearInterval(polling)
      await pool.end()
    })
    return seen
  }

  /**
   * Freezes A once it has its positions, appends with B, then lets A continue. One more link shows when the reader has
   * passed all of them.
   */
  const freeze = async (
    connection: Connection,
    a: Service,
    b: Service,
    key: string,
    meanwhile: (passed: () => Promise<boolean>) => Promise<unknown>,
  ) => {
    const add = async (service: Service, what: string) => {
      const { status, json } = await service.post('/api/url/add', { key, body: { url: `https://example.com/${what}` } })
      expect(status, what).to.equal(200)
      return Number(json['id'])
    }
    const holder = await stage.connect(connection)
    await holder.query('select pg_advisory_lock(1)')
    const first = add(a, 'frozen')
    const waits = await until(
      async () => (await holder.query(`select pid ${frozen}`)).rowCount,
      (n) => n === 1,
    )
    expect(waits, 'A has its positions').to.equal(1)
    let passed = false
    const second = Promise.all(Array.from({ length: 1 + random(5) }, () => add(b, 'other')))
    void second.then(() => (passed = true))
    await meanwhile(async () => passed)
    const overtaken = passed
    await holder.end() // releases the lock
    const made = [await first, ...(await second), await add(b, 'last')]
    return { overtaken, frozen: made[0]!, made }
  }
  const positionOf = async (connection: Connection, id: number) => {
    const events = await readLog(connection)
    return Number(events.find(({ type, stream }) => type === 'LinkCreated' && stream === `link-${id}`)?.position)
  }
  /** Returns the ids of the links in the tables, once there are so many. */
  const idsIn = (service: Service, key: string, count: number) =>
    until(
      async () => (await listed(service, key)).map(({ id }) => Number(id)),
      ({ length }) => length === count,
    )

  it('does not let a reader pass an append that has its positions but is not committed', async () => {
    const connection = await startedDatabase()
    const settings = { DATABASE_URL: urlOf(connection), SECRET: 'a secret for tests only' }
    const [a, b] = await Promise.all([
      stage.start({ ...settings, DATA_DIR: await stage.dir() }),
      stage.start({ ...settings, DATA_DIR: await stage.dir() }),
    ])
    await query(connection, failPoint)
    const { key } = await a.register()
    const seen = await startReader(connection)
    const all: number[] = []
    for (const round of rounds(3, 100)) {
      // every third time A's connection is cut instead, and A retries behind the others
      const meanwhile =
        round % 3 === 2
          ? () => query(connection, `select pg_terminate_backend(pid) ${frozen}`).then(() => sleep(random(300)))
          : () => sleep(100 + random(300))
      const { overtaken, made } = await freeze(connection, a, b, key, meanwhile)
      if (round % 3 !== 2) expect(overtaken, 'B waits for A').to.equal(false)
      all.push(...made)
    }
    const events = await readLog(connection)
    expectWholeLog(events)
    const positions = events.map(({ position }) => Number(position))
    expect(
      await until(
        async () => seen,
        ({ length }) => length >= positions.length,
      ),
    ).to.deep.equal(positions)
    for (const service of [a, b])
      expect(await idsIn(service, key, all.length)).to.have.members(all, 'what the projector has read')
  })

  it('hides an event from the same reader when a sequence assigns the positions, which shows that the test above can fail', async () => {
    const connection = await startedDatabase()
    const [a, b] = [await startTestApp({}, connection), await startTestApp({}, connection)]
    stage.later(a.close)
    stage.later(b.close)
    await numberBySequence(connection)
    await query(connection, failPoint)
    const { key } = await a.register()
    const seen = await startReader(connection)
    const {
      overtaken,
      frozen: lost,
      made,
    } = await freeze(connection, a, b, key, (passed) => until(passed, Boolean, 8000))
    expect(overtaken).to.equal(true)
    const newest = await positionOf(connection, made.at(-1)!)
    await until(
      async () => seen,
      (positions) => positions.includes(newest),
    )
    expect(seen)
      .to.include(newest)
      .and.not.include(await positionOf(connection, lost))
    expect(await idsIn(b, key, made.length - 1)).to.have.members(made.filter((id) => id !== lost))
  })
})
