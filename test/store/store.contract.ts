import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { New, Recorded } from '../../src/events/event.ts'
import type { DomainEvent, LogEvent } from '../../src/events/index.ts'
import { appendLimit, batchBytes, type EventStore, type Filter, readToHead } from '../../src/events/store.ts'
import { click, clicked, fresh } from '../support/events.ts'
import { long } from '../support/faults.ts'
import { newerEvent } from '../support/newer.ts'

const event = (id = 7): New<DomainEvent> => fresh({ type: 'LinkDeleted', data: { id } })
const stream = () => `link-${randomUUID()}`
export const collect = async <T>(items: AsyncIterable<T>) => {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

/** Reads a subscription until it has returned `count` events. */
const take = async (store: EventStore, after: bigint, filter: Filter, count: number, limit = 100) => {
  const stop = new AbortController()
  const list: Recorded<LogEvent>[] = []
  for await (const batch of store.subscribe({ after, filter, limit, signal: stop.signal })) {
    list.push(...batch)
    if (list.length >= count) break
  }
  stop.abort()
  return list
}

/**
 * What some engines guarantee beyond the contract: positions without gaps, and that a list of writes is stored as a
 * whole or not at all.
 */
export interface Extras {
  readonly gapless: boolean
  readonly atomic: boolean
}

/**
 * The contract of every event store. `open` returns the store under test, which the tests share; each uses streams of
 * its own.
 */
export const storeContract = (name: string, open: () => EventStore, { gapless, atomic }: Extras) =>
  describe(`event store contract: ${name}`, () => {
    const append = (s: string, expected: bigint | 'no_stream', ...events: New<DomainEvent>[]) =>
      open().append([{ stream: s, expected, events }])

    it('opens a log whose first event holds the id of the log', async () => {
      const [first] = await collect(open().read('log'))
      expect(first).to.include({ type: 'LogOpened', revision: 0n })
      expect(first?.data).to.deep.equal({ logId: open().logId })
    })

    it('counts revisions from 0n and returns events as they were appended', async () => {
      const s = stream()
      const events = [event(1), event(2)]
      expect(await append(s, 'no_stream', ...events)).to.include({ ok: true })
      const read = await collect(open().read(s))
      expect(read.map((e) => e.revision)).to.deep.equal([0n, 1n])
      expect(read.map(({ id, type, data }) => ({ id, type, data }))).to.deep.equal(
        events.map(({ id, type, data }) => ({ id, type, data })),
      )
      expect(read[0]?.metadata).to.include({ account: 1, request: 'r', command: events[0]!.metadata.command })
      expect(read[0]?.stream).to.equal(s)
    })

    it('reads a stream from a revision on, its last event, and nothing of a stream that does not exist', async () => {
      const s = stream()
      await append(s, 'no_stream', event(1), event(2), event(3))
      expect((await collect(open().read(s, 1n))).map((e) => e.data)).to.deep.equal([{ id: 2 }, { id: 3 }])
      expect((await open().last(s))?.data).to.deep.equal({ id: 3 })
      expect(await collect(open().read(stream()))).to.deep.equal([])
      expect(await open().last(stream())).to.equal(undefined)
    })

    it('reads at most as many events of a stream as the caller requests', async () => {
      const s = stream()
      for (const n of [0, 1])
        await append(s, n === 0 ? 'no_stream' : 349n, ...Array.from({ length: 350 }, (_, i) => event(n * 350 + i)))
      const ids = async (from: bigint, limit: number) =>
        (await collect(open().read(s, from, limit))).map(({ data }) => (data as { id: number }).id)
      expect(await ids(0n, 1)).to.deep.equal([0])
      expect(await ids(698n, 1)).to.deep.equal([698])
      expect(await ids(10n, 33)).to.deep.equal(Array.from({ length: 33 }, (_, i) => 10 + i))
      expect(await ids(1n, 600)).to.deep.equal(Array.from({ length: 600 }, (_, i) => 1 + i))
      expect(await ids(690n, 500)).to.deep.equal(Array.from({ length: 10 }, (_, i) => 690 + i))
      expect(await ids(0n, 0)).to.deep.equal([])
      expect(await ids(700n, 5)).to.deep.equal([])
    })

    it('returns a conflict as a value with the stream and its revision', async () => {
      const s = stream()
      await append(s, 'no_stream', event())
      const conflict = { ok: false, stream: s, actual: 0n }
      expect(await append(s, 'no_stream', event())).to.deep.equal(conflict)
      expect(await append(s, 5n, event())).to.deep.equal(conflict)
      const other = stream()
      expect(await append(other, 3n, event())).to.deep.equal({ ok: false, stream: other, actual: 'no_stream' })
    })

    it('stores exactly one of 25 concurrent first appends', async () => {
      const s = stream()
      const results = await Promise.all(Array.from({ length: 25 }, () => append(s, 'no_stream', event())))
      expect(results.filter((r) => r.ok)).to.have.length(1)
      expect(await collect(open().read(s))).to.have.length(1)
    })

    const writers = long ? 25 : 12
    it(`stores one append of each of ${writers} writers when they retry at the revision of the conflict`, async () => {
      const s = stream()
      const write = async () => {
        let expected: bigint | 'no_stream' = 'no_stream'
        for (;;) {
          const appended = await append(s, expected, event())
          if (appended.ok) return
          expected = appended.actual
        }
      }
      await Promise.all(Array.from({ length: writers }, write))
      expect((await collect(open().read(s))).map((e) => Number(e.revision))).to.deep.equal([...Array(writers).keys()])
    })

    it('returns the first outcome to a retry, even after later appends', async () => {
      const s = stream()
      const events = [event(), event()]
      const first = await append(s, 'no_stream', ...events)
      expect(await append(s, 'no_stream', ...events)).to.deep.equal(first)
      await append(s, 1n, event())
      expect(await append(s, 'no_stream', ...events)).to.deep.equal(first)
      expect(await collect(open().read(s))).to.have.length(3)
    })

    it('treats a partly repeated append as a conflict', async () => {
      const s = stream()
      const [a, b] = [event(), event()]
      await append(s, 'no_stream', a, b)
      expect(await append(s, 'no_stream', a, event())).to.deep.equal({ ok: false, stream: s, actual: 1n })
      expect(await append(s, 'no_stream', a, b, event())).to.deep.equal({ ok: false, stream: s, actual: 1n })
      expect(await collect(open().read(s))).to.have.length(2)
    })

    it('stores an event again at another revision: the id alone does not make an append a retry', async () => {
      const s = stream()
      const e = event()
      const first = await append(s, 'no_stream', e)
      const second = await append(s, 0n, e)
      expect(second).to.include({ ok: true }).and.not.deep.equal(first)
      expect(await append(s, 0n, e)).to.deep.equal(second)
      expect(await append(s, 0n, event())).to.deep.equal({ ok: false, stream: s, actual: 1n })
      expect((await collect(open().read(s))).map(({ id }) => id)).to.deep.equal([e.id, e.id])
    })

    it('returns the same outcome to concurrent retries of one append', async () => {
      const s = stream()
      const e = event()
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => append(s, 'no_stream', e)))
      for (const outcome of outcomes) expect(outcome).to.include({ ok: true }).and.deep.equal(outcomes[0])
      expect(await collect(open().read(s))).to.have.length(1)
    })

    it('reads a stream of several pages completely and in order', async () => {
      const s = stream()
      for (let n = 0; n < 3; n++)
        await append(
          s,
          n === 0 ? 'no_stream' : BigInt(n * 400 - 1),
          ...Array.from({ length: 400 }, (_, i) => event(n * 400 + i)),
        )
      const read = (await collect(open().read(s))).map(({ data }) => (data as { id: number }).id)
      expect(read).to.deep.equal([...Array(1200).keys()])
      expect(await collect(open().read(s, 1199n))).to.have.length(1)
      expect(await collect(open().read(s, 1200n))).to.deep.equal([])
    })

    it('stores an ordered list of writes at increasing positions', async () => {
      const [s, t] = [stream(), stream()]
      const appended = await open().append([
        { stream: s, expected: 'no_stream', events: [event(), event()] },
        { stream: t, expected: 'no_stream', events: [event()] },
      ])
      const read = [...(await collect(open().read(s))), ...(await collect(open().read(t)))]
      expect(read.map((e) => e.position)).to.deep.equal(read.map((e) => e.position).toSorted((a, b) => Number(a - b)))
      expect(appended).to.deep.equal({ ok: true, position: read.at(-1)?.position })
    })

    it('completes a list of writes of which only the first was stored', async () => {
      const [s, t] = [stream(), stream()]
      const claim = { stream: s, expected: 'no_stream', events: [event()] } as const
      const resource = { stream: t, expected: 'no_stream', events: [event()] } as const
      await open().append([claim])
      expect(await open().append([claim, resource])).to.include({ ok: true })
      expect(await collect(open().read(s))).to.have.length(1)
      expect(await collect(open().read(t))).to.have.length(1)
    })

    it('stores none of the writes after a conflict', async () => {
      const [s, t] = [stream(), stream()]
      await append(s, 'no_stream', event())
      const appended = await open().append([
        { stream: s, expected: 'no_stream', events: [event()] },
        { stream: t, expected: 'no_stream', events: [event()] },
      ])
      expect(appended).to.deep.equal({ ok: false, stream: s, actual: 0n })
      expect(await collect(open().read(t))).to.deep.equal([])
    })

    const either = atomic
      ? 'stores all writes of a list or none, wherever the conflict is'
      : 'stores the writes of a list in order, up to the first that conflicts'
    it(either, async () => {
      expect(open().atomic).to.equal(atomic)
      const [s, t, u] = [stream(), stream(), stream()]
      await append(t, 'no_stream', event())
      const appended = await open().append([
        { stream: s, expected: 'no_stream', events: [event()] },
        { stream: t, expected: 'no_stream', events: [event()] },
        { stream: u, expected: 'no_stream', events: [event()] },
      ])
      expect(appended).to.deep.equal({ ok: false, stream: t, actual: 0n })
      expect(await collect(open().read(s))).to.have.length(atomic ? 0 : 1)
      expect(await collect(open().read(u))).to.deep.equal([])
    })

    const numbered = gapless ? 'increments positions by one' : 'increases positions'
    it(`${numbered}, even when appends conflict`, async () => {
      const before = await open().head('all')
      const s = stream()
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, i) => append(i % 2 ? s : stream(), 'no_stream', event())),
      )
      const positions = results.flatMap((appended) => (appended.ok ? [appended.position] : []))
      expect(positions).to.have.length(26)
      const read = (await take(open(), before, 'all', 26)).map((e) => e.position)
      expect(read).to.have.members(positions)
      if (gapless) expect(read).to.deep.equal(read.map((_, i) => before + BigInt(i + 1)))
    })

    it('sends a subscription the events after a position, then new ones', async () => {
      const s = stream()
      const before = await open().head('all')
      await append(s, 'no_stream', event(1), event(2))
      const reading = take(open(), before, 'domain', 3)
      await append(s, 1n, event(3))
      expect((await reading).map((e) => e.data)).to.deep.equal([{ id: 1 }, { id: 2 }, { id: 3 }])
    })

    it('sends a subscription batches of at most the limit, complete and in the order of positions', async () => {
      const before = await open().head('all')
      await Promise.all(Array.from({ length: 40 }, () => append(stream(), 'no_stream', event(), event())))
      const all = await take(open(), before, 'domain', 80, 7)
      expect(all).to.have.length(80)
      expect(all.map((e) => e.position)).to.deep.equal(all.map((e) => e.position).toSorted((a, b) => Number(a - b)))
    })

    it('sends a subscription batches of at most 2 MiB, and reads large events completely', async () => {
      const s = stream()
      const before = await open().head('all')
      const token = 'x'.repeat(300_000)
      for (let n = 0; n < 18; n += 3) {
        const large = [n, n + 1, n + 2].map((i) =>
          fresh({ type: 'ClaimFenced', data: { token: `${i}${token}` } } as const),
        )
        await append(s, n === 0 ? 'no_stream' : BigInt(n - 1), ...large)
      }
      const numbersOf = (events: readonly Recorded<LogEvent>[]) =>
        events.map(({ data }) => Number.parseInt((data as { token: string }).token, 10))
      const all = [...Array(18).keys()]
      expect(numbersOf(await collect(open().read(s)))).to.deep.equal(all)
      expect(numbersOf(await collect(open().read(s, 1n, 16)))).to.deep.equal(all.slice(1, 17))
      const batches: number[][] = []
      for await (const batch of readToHead(open(), { after: before, filter: 'all', limit: 100 }))
        batches.push(numbersOf(batch))
      expect(batches.flat()).to.deep.equal(all)
      for (const batch of batches) expect(batch.length * token.length).to.be.at.most(batchBytes)
    })

    it('sends an event that is larger than a batch on its own, and small ones together', async () => {
      const before = await open().head('all')
      const token = 'x'.repeat(appendLimit - 1000)
      for (const data of [{ token: 'a' }, { token }, { token: 'b' }, { token }, { token }])
        await append(stream(), 'no_stream', fresh({ type: 'ClaimFenced', data } as const))
      expect(await take(open(), before, 'all', 5)).to.have.length(5)
    })

    it('filters clicks and domain events for subscriptions', async () => {
      const before = await open().head('all')
      const s = stream()
      await append(s, 'no_stream', event(), fresh(clicked(click())), event())
      expect((await take(open(), before, 'clicks', 1)).map((e) => e.type)).to.deep.equal(['LinkClicked'])
      expect((await take(open(), before, 'domain', 2)).map((e) => e.type)).to.deep.equal(['LinkDeleted', 'LinkDeleted'])
      expect(await take(open(), before, 'all', 3)).to.have.length(3)
      expect(await open().head('domain')).to.equal(await open().head('all'))
      const [, second, last] = await collect(open().read(s))
      expect(await open().head('clicks')).to.equal(second?.position)
      expect(await open().head('all')).to.equal(last?.position)
    })

    it('returns reclassifications with the clicks, in the order of the log', async () => {
      const before = await open().head('all')
      const data = { reclassification: randomUUID(), account: 1, part: 0, since: '1970-01-01T00:00:00.000Z' }
      const undone = fresh({ type: 'ReclassificationUndone', data } as const)
      await append(stream(), 'no_stream', event(), fresh(clicked(click())), undone, fresh(clicked(click())), event())
      const types = ['LinkClicked', 'ReclassificationUndone', 'LinkClicked']
      expect((await take(open(), before, 'clicks', 3)).map((e) => e.type)).to.deep.equal(types)
      expect((await take(open(), before, 'clicks', 3, 1)).map((e) => e.type)).to.deep.equal(types)
      expect((await take(open(), before, 'domain', 2)).map((e) => e.type)).to.deep.equal(['LinkDeleted', 'LinkDeleted'])
      await append(stream(), 'no_stream', fresh({ type: 'ReclassificationUndone', data } as const))
      expect(await open().head('clicks')).to.equal(await open().head('all'))
    })

    it('returns counts of other services with the clicks, and with the events of links', async () => {
      const before = await open().head('all')
      const data = { id: 1, account: 1, source: 'kutt', clicks: 30, uniques: null }
      const counted = fresh({ type: 'ClicksImported', data } as const)
      await append(stream(), 'no_stream', event(), fresh(clicked(click())), counted, fresh(clicked(click())))
      const [clicks, domain] = [
        ['LinkClicked', 'ClicksImported', 'LinkClicked'] as const,
        ['LinkDeleted', 'ClicksImported'] as const,
      ]
      expect((await take(open(), before, 'clicks', 3)).map((e) => e.type)).to.deep.equal(clicks)
      expect((await take(open(), before, 'domain', 2)).map((e) => e.type)).to.deep.equal(domain)
      await append(stream(), 'no_stream', fresh({ type: 'ClicksImported', data } as const))
      for (const filter of ['clicks', 'domain'] as const)
        expect(await open().head(filter)).to.equal(await open().head('all'))
    })

    it('returns an event that only a newer release can read as an opaque value with its place in the log', async () => {
      const before = await open().head('domain')
      const s = stream()
      const newer = newerEvent()
      await append(s, 'no_stream', event(), newer)
      const [, unknown] = await collect(open().read(s))
      expect(unknown).to.deep.include({ id: newer.id, stream: s, revision: 1n, type: 'Unknown' })
      expect(unknown?.data).to.deep.equal({ type: newer.type, version: 1 })
      expect(await open().last(s)).to.deep.equal(unknown)
      expect(await open().head('domain')).to.equal(unknown?.position)
      expect((await take(open(), before, 'domain', 2)).at(-1)).to.deep.equal(unknown)
      expect(await append(s, 0n, event())).to.deep.equal({ ok: false, stream: s, actual: 1n })
    })

    it('ends a waiting subscription when its signal aborts', async () => {
      const stop = new AbortController()
      const reading = collect(
        open().subscribe({ after: await open().head('all'), filter: 'all', limit: 10, signal: stop.signal }),
      )
      stop.abort()
      expect(await reading).to.deep.equal([])
    })

    it('returns personal fields as they were appended', async () => {
      const s = stream()
      const data = {
        id: 1,
        email: 'canary@example.com',
        username: 'canary',
        password: 'hash',
        emailToken: 't',
        usernameToken: 'u',
      }
      await append(s, 'no_stream', { ...event(), type: 'AccountRegistered', data })
      expect((await open().last(s))?.data).to.deep.equal(data)
    })

    it('refuses an append of more than 1 MiB and stores none of it', async () => {
      const s = stream()
      const large: New<DomainEvent> = { ...event(), type: 'ClaimFenced', data: { token: 'x'.repeat(appendLimit) } }
      const refused = await append(s, 'no_stream', large).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(RangeError)
      expect(await collect(open().read(s))).to.deep.equal([])
    })

    it('returns the id of the event at a position', async () => {
      const e = event()
      const appended = await append(stream(), 'no_stream', e)
      expect(appended.ok && (await open().idAt(appended.position))).to.equal(e.id)
      expect(await open().idAt(10n ** 15n)).to.equal(undefined)
    })

    it('returns text byte for byte', async () => {
      const token = 'é ü 漢字 😀 "quoted" \\ \u2028 </script>'
      const s = stream()
      await append(s, 'no_stream', { ...event(), type: 'ClaimFenced', data: { token } })
      expect((await open().last(s))?.data).to.deep.equal({ token })
    })
  })
