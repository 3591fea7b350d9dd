import { expect } from 'chai'
import pg from 'pg'
import type { Recorded } from '../../../src/events/event.ts'
import type { DomainEvent, LogEvent } from '../../../src/events/index.ts'
import { accounts } from '../../../src/projections/accounts/account.ts'
import { applyEvents, Overtaken, Poison } from '../../../src/projections/engine/apply.ts'
import { batchSize } from '../../../src/projections/engine/batchsize.ts'
import type { Member } from '../../../src/projections/engine/members.ts'
import { links } from '../../../src/projections/links/link.ts'
import { add, type Projection, put } from '../../../src/projections/engine/projection.ts'
import { stats } from '../../../src/projections/statistics/stats.ts'
import { checkpoints, newGeneration, tableNames } from '../../../src/projections/engine/tables.ts'
import { click, clicked, linkCreated, recorded } from '../../support/events.ts'
import { checkpointsOf, openTestLog, type TestLog } from '../../support/log.ts'

const created = (id: number, alias = `a-${id}`) => linkCreated({ id, alias })
const registered = (id: number): DomainEvent => ({
  type: 'AccountRegistered',
  data: { id, email: 'e', username: 'u', password: 'p', emailToken: 'e', usernameToken: 'u' },
})
/**
 * Stores the id of every deleted link as a smallint, so that the database rejects large ids. The handler throws for
 * 666.
 */
const numbers: Projection = {
  name: 'numbers',
  version: 1,
  filter: 'domain',
  tables: { numbers: (t) => `create table ${t} (id smallint primary key, n int not null)` },
  on: {
    LinkDeleted: ({ data: { id } }) => {
      if (id === 666) throw new Error('not this one')
      return [put('numbers', { id }, { n: 0 }), add('numbers', { id }, { n: 1 })]
    },
  },
}
const deleted = (...ids: readonly number[]) =>
  recorded(ids.map((id): DomainEvent => ({ type: 'LinkDeleted', data: { id } })))

describe('applying a batch of events', () => {
  let log: TestLog
  let listener: pg.Client
  const payloads: (string | undefined)[] = []
  before(async () => {
    log = await openTestLog()
    listener = new pg.Client(log.connection)
    await listener.connect()
    // appends of the log are told on the same channel
    listener.on('notification', ({ payload }) => payload?.startsWith('log ') || payloads.push(payload))
    await listener.query('listen linkledger')
  })
  after(async () => {
    await listener.end()
    await log.close()
  })
  /** Returns the notifications so far: a response to the listener comes after those that were sent before it. */
  const notified = async () => {
    await listener.query('select 1')
    return payloads
  }
  // notifications of the previous test may still be in flight
  beforeEach(async () => void (await notified()).splice(0))

  const member = async (projection: Projection): Promise<Member> => ({
    projection,
    checkpoint: await newGeneration(log.db, projection, log.store.logId),
    parked: new Set(),
  })
  const ids = async ({ projection, checkpoint: { generation } }: Member) => {
    const [table = ''] = Object.keys(projection.tables)
    const rows = (await log.db(tableNames(projection, generation)(table)).orderBy('id')) as { id: string }[]
    return rows.map(({ id }) => Number(id))
  }
  const stored = async ({ projection, checkpoint: { generation } }: Member) =>
    (await checkpointsOf(log.db, projection)).find((checkpoint) => checkpoint.generation === generation)
  const applied = (members: readonly Member[], events: readonly Recorded<LogEvent>[], size = batchSize()) =>
    applyEvents(log.db, members, events, { size, notification: (position) => `seen ${position}` })
  /** Expects that every member runs. */
  const apply = async (members: readonly Member[], events: readonly Recorded<LogEvent>[]) => {
    const { running, halted } = await applied(members, events)
    for (const poison of halted) throw poison
    return running
  }
  const failure = (applied: Promise<unknown>) =>
    applied.then(
      () => expect.fail('it was applied'),
      (error: unknown) => error,
    )

  it('writes the rows, moves the checkpoint to the last event seen, and notifies', async () => {
    const events = recorded([created(1), created(2), registered(7)])
    const [done] = await apply([await member(links)], events)
    expect(await ids(done!)).to.deep.equal([1, 2])
    expect(done!.checkpoint).to.include({ position: '3', event_id: events[2]!.id })
    expect(await stored(done!)).to.deep.equal(done!.checkpoint)
    expect(await notified()).to.deep.equal(['seen 3'])
  })

  it('moves the checkpoint also when no event is handled', async () => {
    const events = recorded([created(1)])
    const [done] = await apply([await member(accounts)], events)
    expect(await stored(done!)).to.include({ position: '1', event_id: events[0]!.id })
    expect(await ids(done!)).to.deep.equal([])
    expect(await notified()).to.deep.equal(['seen 1'])
  })

  it('skips events that only a newer release can read, and moves the checkpoint beyond them', async () => {
    const unknown = { type: 'Unknown', data: { type: 'LinkCreated', version: 9 } } as const
    const [one, two, three] = recorded([created(1), created(2), created(3)])
    const clicks = recorded([clicked(click())])
    const [done] = await apply(
      [await member(links)],
      [one!, { ...two!, ...unknown }, three!, { ...one!, ...unknown, position: 4n }],
    )
    expect(await ids(done!)).to.deep.equal([1, 3])
    expect(await stored(done!)).to.include({ position: '4' })
    const [counted] = await apply([await member(stats)], [{ ...clicks[0]!, ...unknown }])
    expect(await stored(counted!)).to.include({ position: '1' })
  })

  it('does not apply events twice', async () => {
    const first = await apply([await member(links)], recorded([created(1), created(2)]))
    const counts = `${tableNames(links, first[0]!.checkpoint.generation)('link_counts')}`
    const again = await apply(first, recorded([created(1), created(2), created(3)]))
    expect(await ids(again[0]!)).to.deep.equal([1, 2, 3])
    expect(await log.db(counts)).to.deep.equal([{ account: '1', n: '3', archived: '0' }])
  })

  it('continues each projection from its own checkpoint', async () => {
    const [ahead] = await apply([await member(links)], recorded([created(1), registered(7)]))
    const both = await apply([ahead!, await member(accounts)], recorded([created(1), registered(7), created(2)]))
    expect(await ids(both[0]!)).to.deep.equal([1, 2])
    expect(await ids(both[1]!)).to.deep.equal([7])
    expect(both.map(({ checkpoint }) => checkpoint.position)).to.deep.equal(['3', '3'])
  })

  it('writes nothing when the notification fails', async () => {
    const before = await member(links)
    const error = await failure(
      applyEvents(log.db, [before], recorded([created(1)]), {
        size: batchSize(),
        notification: () => {
          throw new Error('mute')
        },
      }),
    )
    expect(String(error)).to.equal('Error: mute')
    expect(await ids(before)).to.deep.equal([])
    expect(await stored(before)).to.include({ position: '0' })
  })

  it('writes nothing for any projection when another projector was faster', async () => {
    const members = [await member(accounts), await member(links)]
    await apply([members[1]!], recorded([created(1)]))
    const error = await failure(apply(members, recorded([registered(7), created(2)])))
    expect(error).to.be.instanceOf(Overtaken)
    expect(await ids(members[0]!)).to.deep.equal([])
    expect(await ids(members[1]!)).to.deep.equal([1])
  })

  it('writes nothing when other tables have become live', async () => {
    const before = await member(links)
    const { generation } = before.checkpoint
    await log.db(checkpoints).where({ projection: 'links', generation }).update({ live: true })
    expect(await failure(apply([before], recorded([created(1)])))).to.be.instanceOf(Overtaken)
    expect(await ids(before)).to.deep.equal([])
  })

  describe('with more clicks than one statement can write in time', () => {
    /**
     * Its statement is cancelled, as by a statement timeout, when it has more than `most` clicks; each other one is
     * counted.
     */
    const counting = (most: number, code = '57014') => {
      const batches: number[] = []
      const projection: Projection = {
        name: `counting_${code}_${most}`,
        version: 1,
        filter: 'clicks',
        tables: { [`counting_${code}_${most}`]: (t) => `create table ${t} (position bigint)` },
        write: async (tx, names, events) => {
          const n = events.reduce((sum, { type, data }) => sum + (type === 'LinkClicked' ? data.clicks.length : 0), 0)
          if (n > most && code === 'range') throw new RangeError('Invalid string length')
          if (n > most) await tx.raw(`do $$ begin raise exception using errcode = '${code}'; end $$`)
          for (const { position } of events)
            await tx<{ position: string }>(names(`counting_${code}_${most}`)).insert({ position: position.toString() })
          batches.push(n)
        },
      }
      return { projection, batches }
    }
    const clicks = (events: number, each: number) =>
      recorded(Array.from({ length: events }, () => clicked(...Array.from({ length: each }, () => click()))))
    const positions = async ({ projection, checkpoint: { generation } }: Member) =>
      (await log.db(tableNames(projection, generation)(projection.name)).orderBy('position')).map(
        ({ position }: { position: string }) => Number(position),
      )

    for (const [code, cause] of [
      ['57014', 'takes too long'],
      ['54000', 'exceeds a limit of the server'],
      ['range', 'does not fit into a string'],
    ] as const)
      it(`writes smaller batches when a statement ${cause}, and larger ones later`, async () => {
        const { projection, batches } = counting(30, code)
        const size = batchSize(100)
        const { running, halted } = await applied([await member(projection)], clicks(40, 5), size)
        expect(halted).to.deep.equal([])
        expect(await positions(running[0]!)).to.deep.equal(Array.from({ length: 40 }, (_, i) => i + 1))
        expect(Math.max(...batches)).to.be.within(20, 30)
        expect(batches.reduce((a, b) => a + b, 0)).to.equal(200)
        expect(
          batches.slice(1).some((n, i) => n > batches[i]!),
          'grows again',
        ).to.equal(true)
      })

    it('skips no event when a callback after a commit fails in the same way', async () => {
      const { projection } = counting(1000)
      const before = await member(projection)
      const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
      const applying = applyEvents(log.db, [before], clicks(10, 5), {
        size: batchSize(10),
        onApplied: (_, position) => (position < 5n ? undefined : Promise.reject(cancelled)),
      })
      expect(await failure(applying)).to.equal(cancelled)
      expect(await positions(before)).to.deep.equal([1, 2, 3, 4, 5, 6])
    })

    it('bounds a batch by its clicks, not only by its events', async () => {
      const { projection, batches } = counting(1000)
      await applied([await member(projection)], clicks(10, 50), batchSize(120))
      expect(batches).to.deep.equal([100, 100, 100, 100, 100])
    })

    it('lets requests be answered between two batches', async () => {
      const { projection, batches } = counting(1000)
      const turns: number[] = []
      const count = () => {
        turns.push(batches.length)
        if (batches.length < 10) setImmediate(count)
      }
      count()
      await applied([await member(projection)], clicks(10, 5), batchSize(5))
      expect(turns).to.include.members([1, 5, 9])
    })

    it('does not count an event as poison because its statement was cancelled', async () => {
      const { projection } = counting(1)
      const before = await member(projection)
      expect(await failure(apply([before], clicks(2, 5)))).to.include({ code: '57014' })
      expect(await stored(before)).to.include({ position: '0' })
    })
  })

  describe('with an event that cannot be applied', () => {
    it('applies the events before it, names it and the reason, and stops there', async () => {
      const before = await member(numbers)
      const error = await failure(apply([before], deleted(1, 2, 666, 3)))
      expect(error).to.be.instanceOf(Poison).and.include({ position: 3n })
      expect(String(error)).to.match(/numbers cannot apply event 3 \(LinkDeleted, link-666@0\): Error: not this one/)
      expect(await ids(before)).to.deep.equal([1, 2])
      expect(await stored(before)).to.include({ position: '2' })
      expect(await notified()).to.deep.equal(['seen 2'])
    })

    it('finds it in the batch when the database rejects it', async () => {
      for (const bad of [1, 2, 5, 9, 10]) {
        const before = await member(numbers)
        const events = deleted(...Array.from({ length: 10 }, (_, i) => (i + 1 === bad ? 40_000 : i + 1)))
        const error = await failure(apply([before], events))
        expect(error)
          .to.be.instanceOf(Poison)
          .and.include({ position: BigInt(bad) })
        expect(String(error)).to.match(/link-40000@0\).*out of range for type smallint/)
        expect(await ids(before)).to.deep.equal(Array.from({ length: bad - 1 }, (_, i) => i + 1))
      }
    })

    it('applies later events to the other projections', async () => {
      const events = recorded([
        registered(7),
        ...deleted(666).map(({ type, data }) => ({ type, data }) as DomainEvent),
        registered(8),
      ])
      const members = [await member(accounts), await member(numbers)]
      const { running, halted } = await applied(members, events)
      expect(halted.map(({ projection, position }) => [projection, position])).to.deep.equal([['numbers', 2n]])
      expect(running.map(({ projection }) => projection.name)).to.deep.equal(['accounts'])
      expect(await ids(members[0]!)).to.deep.equal([7, 8])
      expect(await stored(members[1]!)).to.include({ position: '1' })
    })

    it('lets the other projections go on when a table of one is damaged', async () => {
      const members = [await member(accounts), await member(numbers)]
      const table = tableNames(numbers, members[1]!.checkpoint.generation)('numbers')
      await log.db.raw(`alter table ${table} rename n to m`)
      const { halted } = await applied(
        members,
        recorded([registered(7), { type: 'LinkDeleted', data: { id: 1 } }, registered(8)]),
      )
      expect(halted.map(({ projection, position }) => [projection, position])).to.deep.equal([['numbers', 2n]])
      expect(await ids(members[0]!)).to.deep.equal([7, 8])
      expect(String(halted[0])).to.include('column "n"')
    })

    it('continues after it once it can be applied', async () => {
      const before = await member(numbers)
      await failure(apply([before], deleted(1, 40_000, 3)))
      await log.db.raw(`alter table ${tableNames(numbers, before.checkpoint.generation)('numbers')} alter id type int`)
      const now = { ...before, checkpoint: (await stored(before))! }
      const [done] = await apply([now], deleted(1, 40_000, 3))
      expect(await ids(done!)).to.deep.equal([1, 3, 40_000])
    })
  })
})
