import { expect } from 'chai'
import type { Ordinals } from '../../src/events/ordinals.ts'
import { type EventStore, readToHead } from '../../src/events/store.ts'
import { until } from './client.ts'
import type { Receiver } from './receiver.ts'

interface Log {
  readonly store: Pick<EventStore, 'head' | 'subscribe'>
  readonly ordinals: Ordinals
}

/** Returns the ids of the messages that a webhook for new links and clicks has to send, from the log itself. */
export const expectedIds = async ({ store, ordinals }: Log, account: number, from = 0): Promise<readonly string[]> => {
  const ids: string[] = []
  for await (const events of readToHead(store, { after: 0n, filter: 'all', limit: 1000 })) {
    const positions = events.map(({ position }) => position)
    // on some engines, events are numbered a moment after they are appended
    const numbers = await until(
      () => ordinals.of(positions),
      ({ size }) => size === positions.length,
    )
    for (const event of events) {
      const ordinal = numbers.get(event.position)
      if (ordinal === undefined) throw new Error('an event is not numbered')
      if (ordinal < from) continue
      if (event.type === 'LinkCreated' && event.metadata.account === account) ids.push(`evt_${ordinal}`)
      if (event.type !== 'LinkClicked') continue
      const own = event.data.clicks.flatMap((click, i) =>
        click.account === account && click.class === 'human' ? [Math.floor(i / 50)] : [],
      )
      for (const part of new Set(own)) ids.push(`evt_${ordinal}_${part}`)
    }
  }
  return ids
}

/**
 * Waits until a receiver has accepted every message, in log order: the log may grow, and messages arrive, while it is
 * read.
 */
export const expectAll = async (log: Log, receiver: Receiver, account: number, path: string, ms = 60_000) => {
  const expected = await until(
    () => expectedIds(log, account),
    (ids) => receiver.ids(path).join() === ids.join(),
    ms,
  )
  expect(receiver.ids(path)).to.deep.equal(expected)
  // what is sent twice has the same body
  const bodies = new Map<string, string>()
  for (const { id, body } of receiver.accepted(path)) {
    expect(bodies.get(id) ?? body, id).to.equal(body)
    bodies.set(id, body)
  }
  return expected.length
}
