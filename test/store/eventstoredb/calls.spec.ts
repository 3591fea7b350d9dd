import { setTimeout as sleep } from 'node:timers/promises'
import { AccessDeniedError, type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client'
import { expect } from 'chai'
import { StoreUnavailable } from '../../../src/events/store.ts'
import { TimedOut } from '../../../src/lib/async/timeout.ts'
import { createCalls } from '../../../src/store/eventstoredb/calls.ts'

const timeoutMs = 1000
const open = () => {
  const replaced: unknown[] = []
  const closed = new AbortController()
  const client = {} as EventStoreDBClient
  const clients = {
    address: 'host:2113',
    tls: true,
    credentials: { username: '', password: '' },
    current: () => client,
    replace: (stuck: unknown) => void replaced.push(stuck),
    close: async () => {},
  }
  return { ...createCalls(clients, timeoutMs, closed.signal), client, replaced, closed }
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error as Error,
  )
const errorOf = (type: new (...args: never[]) => Error) => Object.create(type.prototype) as Error

describe('a call to an EventStoreDB', () => {
  it('is retried after an unknown outcome until it is answered', async () => {
    const { call, deadline } = open()
    let attempts = 0
    const attempt = async () => {
      if (++attempts < 3) throw new Error('14 UNAVAILABLE')
      return 'answer'
    }
    expect(await call(attempt, deadline())).to.equal('answer')
    expect(attempts).to.equal(3)
  })

  it('gives each attempt three fifths of the time that is left', async () => {
    const { call, deadline } = open()
    const given: number[] = []
    const until = deadline()
    const error = await failure(
      call(async (_, ms) => {
        expect(ms).to.be.at.most(0.6 * (until - Date.now()) + 1)
        given.push(ms)
        await sleep(ms)
        throw new TimedOut()
      }, until),
    )
    expect(error).to.be.instanceOf(StoreUnavailable).with.property('cause').instanceOf(TimedOut)
    expect(given[0]).to.be.within(500, 600)
    expect(given).to.deep.equal(given.toSorted((a, b) => b - a))
    expect(given.at(-1), 'no attempt begins with less than 100 ms left').to.be.at.least(60)
  })

  it('replaces a client that is silent, but not one whose connection fails', async () => {
    const { call, deadline, client, replaced } = open()
    const errors = [new Error('14 UNAVAILABLE'), new TimedOut()]
    await call(async () => {
      const error = errors.shift()
      if (error) throw error
    }, deadline())
    expect(replaced).to.deep.equal([client])
  })

  it('fails at once when the server refuses it', async () => {
    const { call, deadline } = open()
    let attempts = 0
    const notFound = errorOf(StreamNotFoundError)
    const attempt = async () => {
      attempts++
      throw notFound
    }
    expect(await failure(call(attempt, deadline()))).to.equal(notFound)
    expect(attempts).to.equal(1)
  })

  it('says which rights the user needs when access is denied', async () => {
    const { call, deadline } = open()
    const error = await failure(call(() => Promise.reject(errorOf(AccessDeniedError)), deadline()))
    expect(error).to.be.instanceOf(StoreUnavailable)
    expect(error.message).to.equal('the user in EVENTSTORE_URL must be allowed to append and to read $all')
  })

  it('is not attempted once the store is closed', async () => {
    const { call, deadline, closed } = open()
    closed.abort()
    const error = await failure(call(async () => 'answer', deadline()))
    expect(error.message).to.equal('the event store at host:2113 (EVENTSTORE_URL) cannot be reached')
  })
})
