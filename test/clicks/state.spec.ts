import { expect } from 'chai'
import { type ClicksState, problemsOf } from '../../src/clicks/state.ts'

const spool = { bytes: 0, waiting: 0, dropped: 0, quarantined: 0, lastSeq: [], releasedUpTo: [] }
const relay = { spool: 'own', deliveredUpTo: {}, lag: 0, lagSeconds: 0, problem: undefined }
const recorder = { connected: true, lag: 0, lagSeconds: 0, halted: [], deleted: [], problem: undefined }

describe('the problems of the click pipeline', () => {
  it('are empty while everything works, with or without Kafka', () => {
    expect(problemsOf({ spool, relays: [relay], aside: [], recorder: undefined }, 't')).to.deep.equal([])
    expect(problemsOf({ spool, relays: [relay], aside: [], recorder }, 't')).to.deep.equal([])
  })

  it('name failed writes to the disk, pending clicks, halted partitions, and messages that Kafka deleted', () => {
    const state: ClicksState = {
      spool: { ...spool, waiting: 643, dropped: 2, refused: 'ENOSPC: no space left on device, write' },
      relays: [relay, { ...relay, lag: 7, problem: 'no broker' }],
      aside: [{ id: 's1', dir: '/spool', entries: 3, reason: 'it belongs to another event log' }],
      recorder: {
        ...recorder,
        problem: 'no event store',
        halted: [{ partition: 2, reason: 'it ends early' }],
        deleted: [{ partition: 1, messages: 50, upTo: 149 }],
      },
    }
    expect(problemsOf(state, 't')).to.deep.equal([
      'the disk of DATA_DIR/spool takes no visits (ENOSPC: no space left on device, write): 643 wait in memory, 2 were dropped since the start',
      '7 clicks wait in the spool: no broker',
      '3 clicks of spool s1 in /spool are kept aside: it belongs to another event log; see `linkledger spool list`',
      'clicks wait in Kafka: no event store',
      'partition 2 of t is halted: it ends early',
      'Kafka deleted 50 messages of partition 1 of t, up to offset 149, before they were recorded: keep retention.ms longer than a recorder may be down',
    ])
  })
})
