import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type Database, openDatabase } from '../../src/postgres/database.ts'
import { type Execution, openIdempotencyStore, TakenOver } from '../../src/security/idempotency.ts'
import { startedDatabase, startTestApp, type TestApp } from '../support/app.ts'
import { until } from '../support/client.ts'

describe('a request with an Idempotency-Key whose process was frozen for longer than a minute', () => {
  let dbs: readonly Database[]
  before(async () => {
    const connection = await startedDatabase()
    dbs = ['frozen', 'other'].map((name) =>
      openDatabase(connection, { name, max: 2, timeout: 20_000, onError: () => {} }),
    )
    // others see by its sessions that a process runs
    await Promise.all(dbs.map((db) => db.raw('select 1')))
  })
  after(() => Promise.all(dbs.map((db) => db.destroy())))

  const key = Buffer.alloc(32, 7)
  const keys = { service: key, forSealing: async () => key, forOpening: async () => new Map([[1, key]]) }
  const open = () =>
    (['frozen', 'other'] as const).map((instance, n) =>
      openIdempotencyStore(dbs[n]!, keys, instance, { renewal: 20 }),
    ) as [ReturnType<typeof openIdempotencyStore>, ReturnType<typeof openIdempotencyStore>]
  const begin = async (store: ReturnType<typeof openIdempotencyStore>, name: string) =>
    store.begin('account 1', name, 'the request')
  const executing = async (begun: ReturnType<typeof begin>): Promise<Execution> => {
    const found = await begun
    if (found.kind !== 'execute') throw new Error(found.kind)
    return found.execution
  }
  const row = async () => (await dbs[0]!('state.idempotency').first()) as { renewed_at: Date | null }
  const kindOf = async (begun: ReturnType<typeof begin>) => (await begun).kind
  const rejection = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)
  beforeEach(() => dbs[0]!('state.idempotency').delete())

  it('is not executed again by that process, which goes on with it', async () => {
    const [frozen] = open()
    const execution = await executing(begin(frozen, 'a'))
    await dbs[0]!.raw(`update state.idempotency set instance = ''`)
    expect(await kindOf(begin(frozen, 'a'))).to.equal('running')
    await execution.answer(1, { status: 200, body: { made: 1 } })
    expect(await kindOf(begin(frozen, 'a'))).to.equal('answered')
  })

  it('is executed by another process, with the same ids, and no more by the first one', async () => {
    const [frozen, other] = open()
    const first = await executing(begin(frozen, 'a'))
    await first.draw('link', 4)
    await first.hold()
    await dbs[0]!.raw(`update state.idempotency set instance = ''`)
    const second = await executing(begin(other, 'a'))
    expect(second.drawn('link')).to.equal(4)
    expect(await rejection(first.draw('link', 5))).to.be.instanceOf(TakenOver)
    expect(await rejection(first.hold())).to.be.instanceOf(TakenOver)
    await first.answer(1, { status: 200, body: { made: 5 } })
    await second.hold()
    await second.answer(1, { status: 200, body: { made: 4 } })
    const again = await begin(frozen, 'a')
    expect(again).to.deep.equal({ kind: 'answered', answer: { status: 200, body: { made: 4 } } })
  })

  it('is not taken over while it only takes long: its process renews it', async () => {
    const [frozen, other] = open()
    const execution = await executing(begin(frozen, 'a'))
    await until(
      async () => (await row()).renewed_at,
      (at) => at !== null,
    )
    await dbs[0]!.raw(`update state.idempotency set taken_at = taken_at - interval '1 hour'`)
    expect(await kindOf(begin(other, 'a'))).to.equal('running')
    await dbs[0]!.raw(`update state.idempotency set renewed_at = taken_at`)
    expect(await kindOf(begin(other, 'a'))).to.equal('execute')
    await execution.interrupt()
  })
})

describe('a bulk request that was taken over while it waited', () => {
  let app: TestApp
  before(async () => (app = await startTestApp()))
  after(() => app.close())

  const count = 100
  type Body = { readonly rows: readonly { readonly id?: number; readonly code?: string }[] }

  it('writes no more of its rows, and the one that took over makes each once', async () => {
    const { key } = await app.register()
    const { db } = app.app.ledger
    const send = (op: string, idempotency: string, rows: readonly object[]) =>
      app.post(`/api/urls/bulk?op=${op}`, { key, body: { rows }, headers: { 'Idempotency-Key': idempotency } })
    /** Sends it, and takes it over while its first rows wait for the log. */
    const sendFrozen = (op: string, idempotency: string, rows: readonly object[]) =>
      db.transaction(async (tx) => {
        await tx.raw('lock table log.events in exclusive mode')
        const sent = send(op, idempotency, rows)
        await until(
          async () => {
            const { rows: waiting } = await db.raw<{ rows: object[] }>(
              `select 1 from pg_locks where relation = 'log.events'::regclass and not granted`,
            )
            return waiting.length
          },
          (waiting) => waiting > 0,
        )
        await tx.raw(`update state.idempotency set taken_at = clock_timestamp(), instance = '' where sealed is null`)
        return { sent }
      })
    const codesOf = (body: Body) => new Set(body.rows.map(({ code }) => code))

    const urls = Array.from({ length: count }, (_, n) => ({ url: `https://example.com/${n}` }))
    const [created, updated] = [randomUUID(), randomUUID()]
    const first = await (await sendFrozen('create', created, urls)).sent
    expect([...codesOf(first.json as unknown as Body)]).to.include('still_running')
    const second = await send('create', created, urls)
    expect(second.json).to.include({ succeeded: count })
    const ids = (second.json as unknown as Body).rows.map(({ id }) => ({ id, title: 'new' }))
    expect((await app.get('/api/urls', { key })).json['data'].result).to.equal(count)

    const changed = await (await sendFrozen('update', updated, ids)).sent
    expect([...codesOf(changed.json as unknown as Body)]).to.include('still_running')
  })
})
