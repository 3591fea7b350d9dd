import { serialize } from 'node:v8'
import { expect } from 'chai'
import { link } from '../../src/commands/links/link.ts'
import { loaderUntil } from '../../src/commands/former.ts'
import { loader, snapshotInterval, snapshotSize } from '../../src/commands/load.ts'
import { type Step, type StepRange, stepReader } from '../../src/commands/steps.ts'
import type { Event } from '../../src/events/index.ts'
import type { EventStore, ExpectedRevision } from '../../src/events/store.ts'
import type { Snapshot, SnapshotStore } from '../../src/security/snapshots.ts'
import { until } from '../support/client.ts'
import { fresh, linkCreated } from '../support/events.ts'
import { newMemoryStore } from '../support/writer.ts'

/** Snapshots in memory. */
const memorySnapshots = () => {
  const stored = new Map<string, readonly Snapshot[]>()
  const newest = (place: string, upTo = Infinity) =>
    stored
      .get(place)
      ?.reduce<Snapshot | undefined>(
        (found, one) => (one.revision <= upTo && (!found || one.revision > found.revision) ? one : found),
        undefined,
      )
  const snapshots: SnapshotStore = {
    find: async ({ stream, version }, upTo) =>
      newest(`${stream} ${version}`, upTo === undefined ? undefined : Number(upTo)),
    save: async (_, { stream, version }, make) => {
      const snapshot = make()
      const place = `${stream} ${version}`
      const others = (stored.get(place) ?? []).filter(({ revision }) => revision !== snapshot.revision)
      stored.set(place, [...others, snapshot])
    },
    drop: async (stream) => {
      for (const place of stored.keys()) if (place.startsWith(`${stream} `)) stored.delete(place)
    },
  }
  return { stored, snapshots, of: (stream: string) => newest(`${stream} ${link.version}`) }
}

/** Counts the events that are read. */
const counting = (store: EventStore) => {
  const count = { read: 0 }
  const read: EventStore['read'] = async function* (...range) {
    for await (const event of store.read(...range)) {
      count.read++
      yield event
    }
  }
  return { count, store: { ...store, read } }
}

const updates = 650
const stream = 'link-1'
const titled = (title: string): Event<'LinkUpdated'> => ({ type: 'LinkUpdated', data: { id: 1, changes: { title } } })

/** Returns a log with a link that was updated so many times. */
const logWith = async (count: number, prefix = 't') => {
  const store = await newMemoryStore()
  const events = [linkCreated({ id: 1 }), ...Array.from({ length: count }, (_, i) => titled(`${prefix}${i}`))]
  let expected: ExpectedRevision = 'no_stream'
  for (let from = 0; from < events.length; from += 500) {
    const part = events.slice(from, from + 500).map((event) => fresh(event))
    await store.append([{ stream, expected, events: part }])
    expected = BigInt(from + part.length - 1)
  }
  return store
}

describe('snapshots of long streams', () => {
  let log: EventStore
  before(async () => (log = await logWith(updates)))
  const folded = (store: EventStore = log) => loader(store)(link, 1)

  it('spare a command all events but the newest ones', async () => {
    const { snapshots, of } = memorySnapshots()
    const { count, store } = counting(log)
    const load = loader(store, snapshots)
    expect(await load(link, 1)).to.deep.equal(await folded())
    expect(count.read).to.equal(updates + 1)
    expect(of(stream)?.revision).to.equal(599n)

    count.read = 0
    expect(await load(link, 1)).to.deep.equal(await folded())
    expect(count.read).to.be.below(snapshotInterval)

    count.read = 0
    const another = loader(store, snapshots)
    expect(await another(link, 1)).to.deep.equal(await folded())
    expect(count.read, 'a process that does not know yet that the stream is long').to.be.below(2 * snapshotInterval)
    expect(of(stream)?.revision).to.equal(599n)
  })

  it('are not looked for where a stream is short', async () => {
    const { snapshots, stored } = memorySnapshots()
    const asked: string[] = []
    const find: SnapshotStore['find'] = async (place) => (asked.push(place.stream), undefined)
    const load = loader(await logWith(snapshotInterval - 2), { ...snapshots, find })
    await load(link, 1)
    await load(link, 1)
    expect([asked.length, stored.size]).to.deep.equal([0, 0])
  })

  it('follow a stream that grows, one per hundred events', async () => {
    const store = await logWith(updates)
    const { snapshots, of } = memorySnapshots()
    const load = loader(store, snapshots)
    await load(link, 1)
    for (let n = 0; n < 2; n++) {
      const events = Array.from({ length: 250 }, (_, i) => fresh(titled(`more ${n}/${i}`)))
      await store.append([{ stream, expected: BigInt(updates + n * 250), events }])
      expect((await load(link, 1)).state.fields.title).to.equal(`more ${n}/249`)
    }
    expect(of(stream)?.revision).to.equal(1099n)
  })

  it('are stored after few large events, too, so that each load reads few of them', async () => {
    const store = await logWith(snapshotInterval - 3, 'x'.repeat(5_000))
    const { snapshots, of } = memorySnapshots()
    const { count, store: counted } = counting(store)
    const load = loader(counted, snapshots)
    const whole = await folded(store)
    expect(await load(link, 1)).to.deep.equal(whole)
    expect(Number(of(stream)?.revision)).to.be.above(70)

    count.read = 0
    expect(await load(link, 1)).to.deep.equal(whole)
    expect(count.read * 5_000).to.be.below(2 * snapshotSize)
    await store.append([{ stream, expected: BigInt(snapshotInterval - 3), events: [fresh(titled('last'))] }])
    expect((await load(link, 1)).state.fields.title).to.equal('last')
  })

  const wrong: readonly (readonly [string, (right: Snapshot) => SnapshotStore['find']])[] = [
    ['is missing', () => async () => undefined],
    ['cannot be read', () => () => Promise.reject(new Error('away'))],
    ['is damaged', (right) => async () => ({ ...right, state: right.state.subarray(0, 20) })],
    [
      'is of other rules',
      (right) =>
        async ({ version }) =>
          version === link.version ? undefined : right,
    ],
    ['is of another event', (right) => async () => ({ ...right, event: 'b9e1ab3c-1d2e-4f50-8a6b-7c8d9e0f1a2b' })],
    ['is ahead of a log that was restored', (right) => async () => ({ ...right, revision: 7999n })],
  ]
  for (const [what, make] of wrong)
    it(`are not used when one ${what}: the whole stream is read`, async () => {
      const state = serialize({ state: { ...link.initialState, status: 'deleted' }, since: '', createdBy: '' })
      let event = ''
      for await (const found of log.read(stream, 599n, 1)) event = found.id
      const { snapshots, of } = memorySnapshots()
      const load = loader(log, { ...snapshots, find: make({ revision: 599n, event, state }) })
      expect(await load(link, 1)).to.deep.equal(await folded())
      expect(of(stream)?.revision, 'a snapshot that replaces it').to.equal(599n)
    })

  it('are not used for a log that was restored and has taken another course', async () => {
    const { snapshots, of } = memorySnapshots()
    await loader(log, snapshots)(link, 1)
    const before = of(stream)?.event
    const restored = await logWith(updates, 'other ')
    expect(await loader(restored, snapshots)(link, 1)).to.deep.equal(await folded(restored))
    expect(of(stream)?.event).not.to.equal(before)
  })

  it('of a longer log than the one that was restored are dropped, so that the next command is spared again', async () => {
    const { snapshots, of } = memorySnapshots()
    await loader(log, snapshots)(link, 1)
    const restored = await logWith(250)
    await loader(restored, snapshots)(link, 1)
    expect(of(stream)?.revision).to.equal(199n)
    const { count, store } = counting(restored)
    expect(await loader(store, snapshots)(link, 1)).to.deep.equal(await folded(restored))
    expect(count.read).to.be.below(2 * snapshotInterval)
  })

  it('are not made of a state whose last event fenced a claim of another account: they would outlive an erasure', async () => {
    const [owner, other] = [1, 2]
    const store = await newMemoryStore()
    const fence = fresh({ type: 'ClaimFenced', data: { token: 'a' } } as const, other)
    const before = [linkCreated({ id: 1 }), ...Array.from({ length: 98 }, (_, i) => titled(`t${i}`))]
    const after = Array.from({ length: 100 }, (_, i) => titled(`more ${i}`))
    const events = [...before.map((event) => fresh(event)), fence, ...after.map((event) => fresh(event))]
    await store.append([{ stream, expected: 'no_stream', events }])
    const saved: (readonly [number, bigint])[] = []
    const save: SnapshotStore['save'] = async (account, _, make) => void saved.push([account, make().revision])
    await loader(store, { ...memorySnapshots().snapshots, save })(link, 1)
    expect(saved).to.deep.equal([[owner, 199n]])
  })

  it('are stored newest first, so that the next command can use them', async () => {
    const saved: bigint[] = []
    const save: SnapshotStore['save'] = async (_account, _place, make) => void saved.push(make().revision)
    await loader(log, { ...memorySnapshots().snapshots, save })(link, 1)
    await until(
      async () => saved.length,
      (count) => count === 6,
    )
    expect(saved).to.deep.equal([599n, 499n, 399n, 299n, 199n, 99n])
  })

  it('do not fail a command when they cannot be stored', async () => {
    const { snapshots } = memorySnapshots()
    const load = loader(log, { ...snapshots, save: () => Promise.reject(new Error('away')) })
    expect(await load(link, 1)).to.deep.equal(await folded())
  })

  const allSteps = async (store: EventStore, snapshots?: SnapshotStore, range?: StepRange) => {
    const found: Step<unknown>[] = []
    for await (const step of stepReader(store, snapshots)(link, 1, range)) found.push(step)
    return found
  }

  it('spare a history the events before the newest snapshot before it', async () => {
    const { snapshots } = memorySnapshots()
    await loader(log, snapshots)(link, 1)
    const all = await allSteps(log)
    for (const [from, upTo] of [
      [640, 650],
      [600, 600],
      [599, 601],
      [230, 240],
      [0, 5],
      [99, 99],
      [100, 100],
    ] as const) {
      const { count, store } = counting(log)
      expect(await allSteps(store, snapshots, { from, upTo })).to.deep.equal(all.slice(from, upTo + 1))
      expect(count.read, `${from} to ${upTo}`).to.be.at.most(upTo - from + 1 + snapshotInterval)
    }
  })

  it('spare a moment of the past the events before the newest snapshot before it', async () => {
    const { snapshots } = memorySnapshots()
    await loader(log, snapshots)(link, 1)
    for (const revision of [650, 600, 599, 598, 320, 100, 99, 3]) {
      let position = 0n
      for await (const found of log.read(stream, BigInt(revision), 1)) ({ position } = found)
      const { count, store } = counting(log)
      const then = await loaderUntil(store, position, snapshots)(link, 1)
      expect(then, String(revision)).to.deep.equal(await loaderUntil(log, position)(link, 1))
      expect(then.revision).to.equal(BigInt(revision))
      expect(count.read, String(revision)).to.be.at.most(2 * snapshotInterval + 12)
    }
    const newer = await loaderUntil(await logWith(250), 10n ** 6n, snapshots)(link, 1)
    expect([newer.revision, (await snapshots.find({ stream, version: link.version }))?.revision]).to.deep.equal([
      250n,
      599n,
    ])
  })

  it('spare a history nothing when they are missing or of another log, and it is the same', async () => {
    const all = await allSteps(log)
    const { snapshots } = memorySnapshots()
    expect(await allSteps(log, snapshots, { from: 300, upTo: 310 })).to.deep.equal(all.slice(300, 311))
    await loader(await logWith(updates, 'other '), snapshots)(link, 1)
    expect(await allSteps(log, snapshots, { from: 300, upTo: 310 })).to.deep.equal(all.slice(300, 311))
  })
})
