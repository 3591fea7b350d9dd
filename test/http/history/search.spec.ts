import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { link } from '../../../src/commands/links/link.ts'
import { forEachFound, type HistorySources } from '../../../src/http/history/history.ts'
import { searchingFor, searchSome } from '../../../src/http/history/search.ts'
import type { HistoryRow } from '../../../src/queries/history/history.ts'
import { fresh } from '../../support/events.ts'

describe('a search of a history', () => {
  const rows = Array.from({ length: 50 }, (_, n) => ({ stream: 'link-4', revision: n, position: BigInt(n + 1) }))

  it('ends once its client has disconnected', async () => {
    const client = new AbortController()
    let read = 0
    const steps = async function* () {
      for (const { stream, revision, position } of rows) {
        read++
        const event = {
          ...fresh({ type: 'LinkDeleted', data: { id: 4 } }),
          stream,
          position,
          revision: BigInt(revision),
        }
        yield { event, before: link.initialState, after: link.initialState }
      }
    }
    const sources = { handler: { steps }, originOf: () => '', signal: client.signal } as unknown as HistorySources
    const outcome = await forEachFound(rows as unknown as HistoryRow[], sources, () => {
      if (read === 3) client.abort()
    }).then(
      () => 'read to its end',
      (error: Error) => error.name,
    )
    expect([outcome, read]).to.deep.equal(['AbortError', 4])
  })

  it('reads so many bytes at most, in the order of its rows, and says where it has stopped', async () => {
    const numbers = Array.from({ length: 5000 }, (_, n) => n)
    let bytes = 0
    const search = (size: number) => async (some: readonly number[], onRead: (read: unknown) => void) => {
      bytes += some.length * size
      for (const _ of some) onRead('x'.repeat(size))
      return some.filter((n) => n % 10 === 0)
    }
    const large = await searchSome(numbers, search(10_000), { bytes: 1_000_000 })
    expect(bytes).to.be.within(1_000_000, 1_100_000)
    expect(large.searched).to.equal(bytes / 10_000)
    expect(large.stoppedAt).to.equal(large.searched - 1)
    expect(large.matching).to.deep.equal(numbers.filter((n) => n % 10 === 0 && n < large.searched))
    const small = await searchSome(numbers, search(10), { bytes: 1_000_000 })
    expect([small.searched, small.stoppedAt, small.matching.length]).to.deep.equal([5000, undefined, 500])
    const some = await searchSome(numbers, search(10), { bytes: 1_000_000, most: 70 })
    expect([some.searched, some.stoppedAt]).to.deep.equal([70, 69])
  })

  it('ends when it has taken too long, and says where it has stopped', async () => {
    const numbers = Array.from({ length: 5000 }, (_, n) => n)
    const { searched, stoppedAt } = await searchSome(numbers, async (some) => some, { until: 0 })
    expect([searched, stoppedAt]).to.deep.equal([50, 49])
  })

  it('that waits for others searches for less long', async () => {
    const ends: (() => void)[] = []
    const waiting = () => new Promise<void>((resolve) => ends.push(resolve))
    const { signal } = new AbortController()
    const others = [1, 2].map((account) => searchingFor({ account, from: `192.0.2.${account}` }, signal, waiting))
    const search = searchingFor({ account: 3, from: '192.0.2.3' }, signal, async (until) => until)
    const latest = performance.now() + 3000
    await nextTurn()
    for (const end of ends) end()
    await Promise.all(others)
    expect(await search).to.be.at.most(latest)
  })

  it('that waits for others does not begin once its client has gone', async () => {
    const ends: (() => void)[] = []
    const waiting = () => new Promise<void>((resolve) => ends.push(resolve))
    const { signal } = new AbortController()
    const others = [1, 2].map((account) => searchingFor({ account, from: `192.0.2.${account}` }, signal, waiting))
    const client = new AbortController()
    let began = false
    const search = searchingFor(
      { account: 3, from: '192.0.2.3' },
      client.signal,
      async () => void (began = true),
    ).catch((error: Error) => error.name)
    client.abort()
    // the others have begun by now
    await nextTurn()
    for (const end of ends) end()
    await Promise.all(others)
    expect([await search, began]).to.deep.equal(['AbortError', false])
  })
})
