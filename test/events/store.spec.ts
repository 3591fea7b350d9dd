import { expect } from 'chai'
import type { DomainEvent } from '../../src/events/index.ts'
import { isUnused, readToHead } from '../../src/events/store.ts'
import { ChangedByNewer, unlessNewer } from '../../src/events/unknown.ts'
import { fresh } from '../support/events.ts'
import { newMemoryStore, writer } from '../support/writer.ts'

describe('reading a log to its head', () => {
  const range = { after: 0n, filter: 'domain', limit: 2 } as const
  const read = async (...given: Parameters<typeof readToHead>) => {
    const batches = []
    for await (const events of readToHead(...given)) batches.push(events.length)
    return batches
  }
  const filled = async () => {
    const store = await newMemoryStore()
    const { createLink } = writer(store)
    for (const alias of ['one', 'two', 'three']) await createLink(1, { alias })
    return store
  }

  it('ends there, and does not wait for more', async () => {
    const store = await filled()
    const total = (await read(store, range)).reduce((sum, n) => sum + n, 0)
    expect(total, 'a claim for each link, and the opening of the log').to.equal(7)
    expect(await read(store, { ...range, after: await store.head('domain') })).to.deep.equal([])
    expect(await read(await newMemoryStore(), range)).to.deep.equal([1])
  })
  it('is no failure of the log when the reader has ended it', async () => {
    const store = await filled()
    const failing = { ...store, head: () => Promise.reject(new Error('away')) }
    expect(await read(failing, range).catch(String)).to.equal('Error: away')
    expect(await read(failing, { ...range, signal: AbortSignal.abort() })).to.deep.equal([])
  })
})

describe('a log that was never used', () => {
  const opening = (type: 'LogOpened' | 'ServiceKeyMarked' | 'ClickLogOpened') =>
    fresh({ type, data: {} } as unknown as DomainEvent, null)

  it('has only the events of its first start', async () => {
    const store = await newMemoryStore()
    expect(await isUnused(store)).to.equal(true)
    const events = [opening('LogOpened'), opening('ServiceKeyMarked'), opening('ClickLogOpened')]
    const subscribe = async function* () {
      yield events.map((event, i) => ({
        ...event,
        stream: 'log',
        revision: BigInt(i),
        position: BigInt(i + 1),
        at: '',
      }))
    }
    expect(await isUnused({ head: async () => 3n, subscribe })).to.equal(true)
  })
  it('is used from the first event of an account on', async () => {
    const store = await newMemoryStore()
    await writer(store).createLink(1)
    expect(await isUnused(store)).to.equal(false)
  })
})

describe('a stream that a newer release has changed', () => {
  const newer = () => Promise.reject(new ChangedByNewer('The link 7', { status: 'open' }))
  it('is shown as the read tables have it', async () => {
    expect(await unlessNewer(newer, () => 'as the tables say')).to.equal('as the tables say')
    expect(
      await unlessNewer(
        async () => 'as the log says',
        () => 'as the tables say',
      ),
    ).to.equal('as the log says')
  })
  it('is no excuse for another failure', async () =>
    expect(
      await unlessNewer(
        () => Promise.reject(new Error('away')),
        () => 'x',
      ).catch(String),
    ).to.equal('Error: away'))
})
