import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { logChecked } from '../../../src/app/log/eventlog.ts'
import { startNotifications } from '../../../src/app/log/notifications.ts'
import type { Cache } from '../../../src/cache/cache.ts'
import { codec } from '../../../src/events/codec.ts'
import { systemMetadata } from '../../../src/events/event.ts'
import { createSignal } from '../../../src/lib/async/signal.ts'
import type { Database } from '../../../src/postgres/database.ts'
import type { Listener } from '../../../src/postgres/listen.ts'
import { encode, type Notification } from '../../../src/postgres/notifications.ts'
import { markOf } from '../../../src/projections/engine/projection.ts'
import { projections } from '../../../src/projections/index.ts'
import { memoryStore } from '../../support/memorystore.ts'
import { memoryKeyring } from '../../support/keyring.ts'

const [instance, other] = ['linkledger-a', 'linkledger-b']
type Handlers = Parameters<Listener['start']>[0]

/** Starts notifications on fakes that record what is called. */
const start = async () => {
  const store = await memoryStore(codec(memoryKeyring()))
  const appended = createSignal()
  const calls: string[] = []
  const warnings: unknown[] = []
  let handlers: Handlers | undefined
  const call = (name: string) => async () => void calls.push(name)
  const cache = {
    warm: call('warm'),
    invalidateAll: () => void calls.push('invalidate'),
    retry: () => Promise.resolve(),
    progress: {
      seen: () => 0n,
      advance: async (position: bigint) => void calls.push(`advance ${position}`),
      shows: () => true,
      hold: () => {},
      wait: async () => true,
    },
    pending: {
      add: (stream: string, position: bigint) => void calls.push(`pending ${stream} ${position}`),
      has: () => false,
      any: () => false,
      list: () => [],
    },
  } satisfies Partial<Cache>
  const tables = {
    name: (table: string) => table,
    refresh: call('refresh'),
    complete: () => true,
    generation: () => 1,
  }
  const db = (() => ({ where: async () => [], select: () => ({ orderBy: async () => [] }) })) as unknown as Database
  const warning = (_: object, message?: string) => void warnings.push(message)
  const notifications = await startNotifications(
    { db, store, logCheck: logChecked, appended, projected: createSignal(), projections, tables, instance },
    {
      cache,
      listener: { start: (given) => void (handlers = given), close: call('close') },
      log: { warn: warning, error: warning },
    },
  )
  calls.length = 0
  const receive = async (notification: Notification | string) => {
    handlers?.message(typeof notification === 'string' ? notification : encode(notification))
    await nextTurn()
    return calls.splice(0)
  }
  return { store, appended, calls, warnings, receive, handlers: handlers!, close: notifications.close }
}

describe('notifications received by a process', () => {
  let started: Awaited<ReturnType<typeof start>>
  beforeEach(async () => (started = await start()))
  afterEach(() => started.close())

  it('wake up subscriptions when another process has appended', async () => {
    const before = started.appended.count()
    await started.receive({ kind: 'appended', from: other })
    expect(started.appended.count()).to.equal(before + 1)
  })

  it('advance the position that is projected, for domain events only', async () => {
    const projected = { kind: 'projected', from: other, position: 7n } as const
    const tables = markOf(projections)
    expect(await started.receive({ ...projected, filter: 'domain', tables })).to.deep.equal(['advance 7'])
    expect(await started.receive({ ...projected, filter: 'clicks' })).to.deep.equal([])
  })

  it('do not advance it when another release has projected into other tables: the checkpoints of the own ones say how far these are', async () => {
    const projected = { kind: 'projected', from: other, filter: 'domain', position: 7n } as const
    const tables = markOf(projections.map((one) => ({ ...one, version: one.version + 1 })))
    for (const notification of [projected, { ...projected, tables }])
      expect(await started.receive(notification))
        .to.include('advance 0')
        .and.not.include('advance 7')
  })

  it('mark the stream of an unprojected change as pending', async () => {
    const calls = await started.receive({ kind: 'pending', from: other, stream: 'link-3', position: 9n })
    expect(calls).to.deep.equal(['pending link-3 9'])
  })

  it('switch to replaced read tables and invalidate the cache, also when this process has replaced them', async () => {
    for (const from of [other, instance])
      expect(await started.receive({ kind: 'replaced', from })).to.deep.equal(['refresh', 'invalidate'])
  })

  it('are ignored when they come from this process, from a newer release or malformed', async () => {
    const before = started.appended.count()
    expect(await started.receive({ kind: 'appended', from: instance })).to.deep.equal([])
    expect(await started.receive({ kind: 'pending', from: instance, stream: 'link-3', position: 9n })).to.deep.equal([])
    expect(await started.receive(`moved ${other} 1`)).to.deep.equal([])
    expect(await started.receive('')).to.deep.equal([])
    expect(started.appended.count()).to.equal(before)
  })

  it('may have been missed before a connection is made, so the cache is invalidated and pending streams are looked up', async () => {
    const data = { id: 4 }
    const event = { id: randomUUID(), type: 'LinkDeleted', data, metadata: systemMetadata() } as const
    await started.store.append([{ stream: 'link-4', expected: 'no_stream', events: [event] }])
    started.handlers.up()
    await nextTurn()
    const position = await started.store.head('domain')
    expect(started.calls).to.include.members(['refresh', 'invalidate', `pending link-4 ${position}`])
  })

  it('are logged as lost when the connection breaks', () => {
    started.handlers.lost(new Error('gone'))
    expect(started.warnings).to.deep.equal(['LISTEN connection lost; reconnecting'])
  })
})
