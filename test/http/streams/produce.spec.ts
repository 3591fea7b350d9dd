import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import type { Ordinals } from '../../../src/events/ordinals.ts'
import { formats } from '../../../src/http/streams/format.ts'
import { limitStreams } from '../../../src/http/streams/limit.ts'
import { type StreamPlace, start, whole } from '../../../src/http/streams/place.ts'
import { type StreamOptions, streamOf } from '../../../src/http/streams/produce.ts'
import type { Page, Source } from '../../../src/http/streams/source/source.ts'
import { openTail } from '../../../src/http/streams/tail.ts'
import { createSignal } from '../../../src/lib/async/signal.ts'
import { until } from '../../support/client.ts'

const ordinals: Ordinals = {
  of: async (positions) => new Map(positions.map((position) => [position, Number(position) - 1])),
  positionOf: async (ordinal) => BigInt(ordinal + 1),
  lastAt: async () => undefined,
  head: async () => 0,
  timeOf: async () => undefined,
}
const pageAt = (position: bigint, value: object): Page => ({
  rows: [{ place: { position, index: whole }, id: String(position - 1n), value }],
  end: { position, index: whole },
})
/** A source that makes each line when it is asked for it, up to `last`. */
const sourceOf = (last: () => bigint, value: (position: bigint) => object) => {
  let made = 0
  const source: Source = {
    isPending: () => false,
    next: async ({ position }: StreamPlace) => {
      if (position >= last()) return undefined
      made++
      return pageAt(position + 1n, value(position))
    },
  }
  return { source, made: () => made }
}
const limits = () => limitStreams({ perAccount: 0, total: 0 })
const open = (options: Partial<StreamOptions> & Pick<StreamOptions, 'source'>) =>
  streamOf({
    format: formats.ndjson,
    ordinals,
    after: start,
    limit: Infinity,
    follower: undefined,
    slot: limits().take({ account: 1, from: '192.0.2.1' }, true),
    isAdmitted: async () => true,
    beat: 60_000,
    timeoutMs: 60_000,
    onFailed: () => {},
    ...options,
  })
const never = { count: () => 0, leave: () => {} }
const silent = {
  ...never,
  changed: (_: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
}

describe('a stream', () => {
  const big = 'x'.repeat(50_000)

  it('produces no more lines than a client reads, and keeps no others in memory', async () => {
    const { source, made } = sourceOf(
      () => 1_000_000n,
      () => ({ big }),
    )
    const stream = open({ source })
    const server = createServer((_, res) => pipeline(stream, res, () => {}))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const asked = request({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
    asked.end()
    const answer = await new Promise<Readable>((resolve) => asked.once('response', resolve))
    answer.once('readable', () => {})
    // what the system keeps for both ends of a connection, at most some MB
    let before = -1
    while (before !== made()) {
      before = made()
      await new Promise((later) => setTimeout(later, 100))
    }
    expect(made()).to.be.lessThan(400)
    asked.destroy()
    expect(await until(async () => stream.destroyed, Boolean)).to.equal(true)
    const ended = made()
    await new Promise((later) => setTimeout(later, 50))
    expect(made()).to.equal(ended)
    server.close()
  })

  it('is closed when its client stops reading for long', async () => {
    const { source, made } = sourceOf(
      () => 1_000_000n,
      () => ({ big }),
    )
    const streams = limits()
    const stream = open({ source, slot: streams.take({ account: 1, from: '192.0.2.1' }, true), timeoutMs: 20 })
    await once(stream, 'readable')
    expect(await until(async () => stream.destroyed, Boolean)).to.equal(true)
    expect([streams.open(), made() < 20]).to.deep.equal([0, true])
  })

  it('frees its place and leaves its account when the client is gone, while it waits for events', async () => {
    const streams = limits()
    let left = 0
    const { source } = sourceOf(
      () => 0n,
      () => ({}),
    )
    const stream = open({
      source,
      slot: streams.take({ account: 1, from: '192.0.2.1' }, true),
      follower: { ...silent, leave: () => left++ },
    })
    stream.resume()
    await new Promise((later) => setTimeout(later, 10))
    expect(streams.open()).to.equal(1)
    stream.destroy()
    expect(
      await until(
        async () => streams.open(),
        (n) => n === 0,
      ),
    ).to.equal(0)
    expect(left).to.equal(1)
  })

  it('leaves no timer when the client is gone, which would keep a service that stops', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const { source } = sourceOf(
      () => 0n,
      () => ({}),
    )
    // with the one of the test itself, which begins after this function
    await Promise.resolve()
    const before = timers()
    const stream = open({ source, follower: silent, format: formats.sse })
    stream.resume()
    await until(
      async () => timers(),
      (count) => count > before,
    )
    stream.destroy()
    expect(
      await until(
        async () => timers(),
        (count) => count <= before,
      ),
    ).to.be.at.most(before)
  })

  it('shows that it is alive while nothing happens, and how far it has come', async () => {
    let last = 3n
    const { source } = sourceOf(
      () => last,
      () => ({}),
    )
    const unseen: Source = {
      ...source,
      next: async (after) => (await source.next(after)) && { ...pageAt(after.position + 1n, {}), rows: [] },
    }
    for (const [format, expected] of [
      // on a busy machine, it may show how far it has come before it has passed all three
      [formats.sse, /^retry: 1000\n\n(?::\nid: [01]\n\n)*:\nid: 2\n\n(?::\n\n)+/],
      [formats.ndjson, /^\n+$/],
    ] as const) {
      let text = ''
      const stream = open({ source: unseen, format, follower: silent, beat: 20 }).on(
        'data',
        (part: Buffer) => (text += part.toString()),
      )
      await until(
        async () => text,
        (found) => found.length > 40 || (format === formats.ndjson && found.length > 3),
      )
      stream.destroy()
      expect(text).to.match(expected)
    }
    last = 0n
  })

  it('breaks off instead of ending when it fails before its end, so that a part is not taken for the whole', async () => {
    const failing: Source = {
      isPending: () => false,
      next: async ({ position }) => {
        if (position === 2n) throw new Error('the database is gone')
        return pageAt(position + 1n, { n: 1 })
      },
    }
    const broken = await buffer(open({ source: failing })).catch((error: unknown) => error)
    expect(broken).to.be.an('error').with.property('message', 'the database is gone')
    // one that follows the log has no end to miss: its client comes back for the rest
    const failures: unknown[] = []
    const text = await buffer(
      open({ source: failing, format: formats.sse, follower: silent, onFailed: (error) => failures.push(error) }),
    )
    expect(text.toString()).to.match(/id: 1\ndata: \{"n":1\}\n\nretry: \d+\n\n$/)
    expect(failures).to.have.length(1)
  })

  it('aborts when another client takes its place, and ends where it follows the log', async () => {
    for (const follows of [true, false]) {
      const streams = limitStreams({ perAccount: 0, total: 2 })
      const { source } = sourceOf(
        () => 1_000_000n,
        () => ({ big }),
      )
      const [, slot] = [1, 2].map((account) => streams.take({ account, from: '192.0.2.1' }, follows))
      if (!slot) throw new Error('no place')
      const stream = open({ source, slot, follower: follows ? silent : undefined })
      // the first lines have arrived
      await new Promise((resolve) => stream.once('readable', resolve))
      streams.take({ account: 3, from: '198.51.100.7' }, follows)
      const outcome = new Promise((resolve) => {
        stream.once('error', () => resolve('broken off')).once('end', () => resolve('ended'))
      })
      stream.resume()
      expect(await outcome).to.equal(follows ? 'ended' : 'broken off')
    }
  })

  it('is complete only with the events that get their ordinals a moment later', async () => {
    let looks = 0
    const source: Source = {
      isPending: () => looks < 3,
      next: async ({ position }) => (++looks > 2 && position < 2n ? pageAt(position + 1n, { n: 1 }) : undefined),
    }
    expect((await buffer(open({ source }))).toString()).to.equal('{"n":1}\n{"n":1}\n')
  })

  it('stops before the first line that the caller may no longer read', async () => {
    let calls = 0
    const { source } = sourceOf(
      () => 10n,
      (n) => ({ n: Number(n) }),
    )
    const isAdmitted = async () => ++calls <= 2
    const text = await buffer(open({ source, follower: silent, isAdmitted }))
    expect(text.toString()).to.equal('{"n":0}\n{"n":1}\n')
    expect(await buffer(open({ source, isAdmitted: async () => false })).catch((error: Error) => error.name)).to.equal(
      'NoLongerAdmitted',
    )
  })
})

describe('the tail of a stream', () => {
  const setUp = (fails: () => boolean = () => false) => {
    let newest = 5n
    let looks = 0
    const changed = new Map<bigint, number>()
    const projected = createSignal()
    const tail = openTail({
      newest: async () => newest,
      changedAfter: async (after) => {
        looks++
        if (fails()) throw new Error('no connection')
        const found = [...changed].filter(([position]) => position > after)
        return { accounts: found.map(([, account]) => account), newest }
      },
      projected,
      topic: 'clicks',
      interval: 1,
      poll: 20,
    })
    const append = (account: number) => void changed.set(++newest, account)
    return { tail, projected, append, looks: () => looks }
  }

  it('wakes the followers of an account that has something new, and no others', async () => {
    const { tail, projected, append } = setUp()
    const [one, same, other] = await Promise.all([tail.follow(1), tail.follow(1), tail.follow(2)])
    const counts = [one, same, other].map(({ count }) => count())
    append(1)
    append(3)
    projected.notify('clicks')
    await Promise.all([
      one.changed(counts[0]!, new AbortController().signal),
      same.changed(counts[1]!, new AbortController().signal),
    ])
    expect(other.count()).to.equal(counts[2])
    await tail.close()
  })

  it('finds events without a notification, and after a failed poll', async () => {
    let failures = 2
    const { tail, append } = setUp(() => failures-- > 0)
    const follower = await tail.follow(1)
    append(1)
    await follower.changed(0, new AbortController().signal)
    await tail.close()
  })

  it('does not look while no stream follows', async () => {
    const { tail, looks } = setUp()
    expect(looks()).to.equal(0)
    const follower = await tail.follow(1)
    await until(
      async () => looks(),
      (n) => n > 1,
    )
    follower.leave()
    await new Promise((later) => setTimeout(later, 60))
    const before = looks()
    await new Promise((later) => setTimeout(later, 60))
    expect(looks()).to.equal(before)
    const again = await tail.follow(1)
    await until(
      async () => looks(),
      (n) => n > before,
    )
    again.leave()
    await tail.close()
  })
})
