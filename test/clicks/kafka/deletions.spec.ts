import { expect } from 'chai'
import { createDeletions } from '../../../src/clicks/kafka/deletions.ts'
import { createPositions } from '../../../src/clicks/kafka/positions.ts'
import { createTracker } from '../../../src/clicks/kafka/tracker.ts'
import { openClickRecord } from '../../../src/clicks/record.ts'
import { delivered, entries } from '../../support/spool.ts'
import { eventsOf, newMemoryStore } from '../../support/writer.ts'

describe('messages that Kafka deletes before they are recorded', () => {
  /** A partition of which the messages up to offset 9 are recorded, and that Kafka has kept from `low` to `high`. */
  const setUp = async (low: number, high: number) => {
    const store = await newMemoryStore()
    const record = openClickRecord({ store, log: 't', partitions: 1 })
    const group = { offset: '-1', metadata: null as string | null }
    const admin = {
      fetchTopicOffsets: async () => [{ partition: 0, low: String(low), high: String(high), offset: String(high) }],
      fetchOffsets: async () => [{ topic: 't', partitions: [{ partition: 0, ...group }] }],
    }
    await record.record(
      0,
      delivered(entries(1, 10)).map((entry, offset) => ({ ...entry, offset })),
    )
    const tracker = createTracker('t', () => {})
    /** Starts as a recorder does that was assigned the partition. */
    const start = async () => {
      const positions = createPositions('t', record, tracker)
      await positions.restore()
      await positions.check(admin)
      positions.assign([0])
      return { positions, deletions: createDeletions({ topic: 't', record, tracker, positions, admin }) }
    }
    const commit = async (started: Awaited<ReturnType<typeof start>>) =>
      started.deletions.commit({
        commitOffsets: async ([committed]) =>
          void Object.assign(group, { offset: committed!.offset, metadata: committed!.metadata }),
      })
    const missing = async () =>
      (await eventsOf(store, 'clicks-t-0')).filter(({ type }) => type === 'ClicksMissing').map(({ data }) => data)
    return { ...(await start()), start, commit, missing, record, tracker, group }
  }

  it('are recorded as ClicksMissing once, by their offsets', async () => {
    const { deletions, start, missing, record, tracker } = await setUp(50, 60)
    await deletions.recordBefore(0, 50)
    await deletions.recordBefore(0, 50)
    await (await start()).deletions.recordBefore(0, 50)
    expect(await missing()).to.deep.equal([
      { spool: '', from: 10, to: 49, offsets: true, upTo: { s: 10 }, taken: { offset: 49, spool: '', seq: 0 } },
    ])
    expect(tracker.state().deleted).to.deep.equal([{ partition: 0, messages: 40, upTo: 49 }])
    await record.record(
      0,
      delivered(entries(11, 20)).map((entry, index) => ({ ...entry, offset: 50 + index })),
    )
  })

  it('are recorded when no later message follows, at the second look', async () => {
    const { deletions, missing } = await setUp(50, 50)
    await deletions.recordEmpty(false)
    expect(await missing()).to.deep.equal([])
    await deletions.recordEmpty(true)
    await deletions.recordEmpty(false)
    expect(await missing(), 'a batch was being recorded in between').to.deep.equal([])
    await deletions.recordEmpty(false)
    await deletions.recordEmpty(false)
    expect(await missing()).to.have.length(1)
  })

  it('do not include those that the consumer still received, nor offsets that were never messages', async () => {
    const later = await setUp(50, 60)
    await later.deletions.recordBefore(0, 30)
    expect((await later.missing())[0]).to.include({ from: 10, to: 29 })
    const transactions = await setUp(3, 60)
    await transactions.deletions.recordBefore(0, 12)
    expect(await transactions.missing()).to.deep.equal([])
  })

  it('do not include repetitions and messages of other installations, which leave no event', async () => {
    const { positions, deletions, start, commit, missing } = await setUp(50, 60)
    positions.advance(0, 49)
    await commit({ positions, deletions })
    await (await start()).deletions.recordBefore(0, 50)
    expect(await missing()).to.deep.equal([])
  })

  it('are recorded when the event log was restored to a state before them', async () => {
    const { positions, deletions, start, commit, missing, group } = await setUp(50, 60)
    positions.advance(0, 49)
    await commit({ positions, deletions })
    expect(group).to.deep.equal({ offset: '50', metadata: '9' })
    group.metadata = '40'
    await (await start()).deletions.recordBefore(0, 50)
    expect(await missing()).to.have.length(1)
  })
})
