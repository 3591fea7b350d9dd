import { expect } from 'chai'
import { ConnectionRefused } from '../../../src/clicks/kafka/failure.ts'
import { InvalidMessage } from '../../../src/clicks/kafka/message.ts'
import { createTracker } from '../../../src/clicks/kafka/tracker.ts'
import { TopicReplaced } from '../../../src/clicks/partition.ts'

describe('the problems that a recorder reports', () => {
  const setUp = () => {
    const reported: string[] = []
    const tracker = createTracker('t', (error, what) => void reported.push(`${what}: ${(error as Error).message}`))
    return { tracker, reported }
  }

  it('contain each problem once, until it changes or is solved', () => {
    const { tracker, reported } = setUp()
    tracker.failed(new Error('a'))
    tracker.failed(new Error('a'))
    expect(tracker.state().problem).to.equal('a')
    tracker.failed(new Error('b'))
    tracker.succeeded()
    expect(tracker.state().problem).to.equal(undefined)
    tracker.failed(new Error('b'))
    const expected = ['a', 'b', 'b'].map((text) => `clicks wait in Kafka: ${text}`)
    expect(reported).to.deep.equal(expected)
  })

  it('contain each failure of an outage, which are counted', () => {
    const { tracker, reported } = setUp()
    for (let n = 0; n < 3; n++) tracker.failed(new ConnectionRefused('away'))
    expect(reported).to.have.length(3)
  })

  it('include a truncated partition when it is seen a second time, and no longer once it is whole again', () => {
    const { tracker, reported } = setUp()
    tracker.setTruncation(1, 'it ends early')
    expect(tracker.state().halted).to.deep.equal([])
    tracker.setTruncation(1, 'it ends early')
    tracker.setTruncation(1, 'it ends early')
    expect(tracker.state().halted).to.deep.equal([{ partition: 1, reason: 'it ends early' }])
    expect(reported).to.deep.equal(['partition 1 of t is truncated: it ends early'])
    tracker.setTruncation(1, undefined)
    expect(tracker.state().halted).to.deep.equal([])
  })

  it('include a halted partition once, in place of its truncation', () => {
    const { tracker, reported } = setUp()
    tracker.setTruncation(1, 'it ends early')
    tracker.setTruncation(1, 'it ends early')
    tracker.halt(1, new TopicReplaced('another message'))
    tracker.halt(1, new TopicReplaced('yet another message'))
    expect(tracker.isHalted(1)).to.equal(true)
    expect(tracker.state().halted).to.deep.equal([{ partition: 1, reason: 'another message' }])
    expect(reported.filter((text) => text.includes('is halted'))).to.have.length(1)
  })

  it('no longer include a partition whose invalid message was deleted', () => {
    const { tracker, reported } = setUp()
    tracker.halt(0, new TopicReplaced('another message'))
    tracker.halt(1, new InvalidMessage(7, {}))
    expect(reported[1]).to.include('partition 1 of t is halted: it has an invalid message')
    expect([tracker.resume(0, 100), tracker.resume(1, 7), tracker.resume(2, 7)]).to.deep.equal([false, false, false])
    expect(tracker.resume(1, 8)).to.equal(true)
    expect(tracker.state().halted.map(({ partition }) => partition)).to.deep.equal([0])
  })

  it('add up the messages that Kafka deleted before they were recorded', () => {
    const { tracker, reported } = setUp()
    tracker.lost({ partition: 1, messages: 10, upTo: 9 })
    tracker.lost({ partition: 1, messages: 5, upTo: 29 })
    expect(tracker.state().deleted).to.deep.equal([{ partition: 1, messages: 15, upTo: 29 }])
    expect(reported[1]).to.match(/^clicks are lost: Kafka deleted 5 messages of partition 1 of t, up to offset 29/)
  })

  it('include the lag and the age of its own partitions only', () => {
    const { tracker } = setUp()
    tracker.setLag(0, 5)
    tracker.setLag(1, -2)
    tracker.startBatch(0, Date.now() - 60_000)
    expect(tracker.state()).to.include({ connected: false, lag: 5 })
    expect(tracker.state().lagSeconds).to.be.at.least(60)
    expect([tracker.hasLag(0), tracker.hasLag(1)]).to.deep.equal([true, false])
    tracker.joined()
    expect(tracker.state()).to.include({ connected: true, lag: 0, lagSeconds: 0 })
    tracker.left()
    expect(tracker.state().connected).to.equal(false)
  })
})
