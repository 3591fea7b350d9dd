import type { Codec } from '../../events/codec.ts'
import { type Appended, appendLimit, appendTooLarge, StoreUnavailable, type Write } from '../../events/store.ts'
import { backOff } from '../../lib/async/backoff.ts'
import type { Query } from './query.ts'

interface EncodedWrite {
  readonly stream: string
  /** revision of the last event, -1 when there is none */
  readonly expected: bigint
  readonly events: readonly {
    readonly id: string
    readonly type: string
    readonly at: string
    readonly data: string
    readonly metadata: string
  }[]
}

/** One row of the answer of `log.append`, for one write. */
interface Outcome {
  /** index of the write's group in the call */
  readonly grp: number
  readonly stream: string
  /** whether the group is stored */
  readonly stored: boolean
  /** current revision of the stream */
  readonly revision: string
  readonly last_position: string | null
}

/** The writes of one `append`: they are stored together or not at all. */
export interface Group {
  readonly writes: readonly EncodedWrite[]
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/** Limits of one call to `log.append`. */
export interface Limits {
  readonly groups: number
  readonly bytes: number
}

interface QueueParts {
  readonly query: Query
  readonly limits: Limits
  /** retries of a call whose outcome is unknown */
  readonly retries: number
  /** called after each call, also a failed one */
  readonly onCalled: (groups: readonly Group[]) => void
}

export interface AppendQueue {
  readonly append: (writes: readonly EncodedWrite[]) => Promise<Appended>
  /** Resolves when no call is under way. */
  readonly idle: () => Promise<void>
}

/** Encodes the writes and checks their size. Throws `AppendTooLarge`. */
export const encodeWrites = async (codec: Codec, writes: readonly Write[]): Promise<EncodedWrite[]> => {
  const encoded = await Promise.all(
    writes.map(async ({ stream, expected, events }) => ({
      stream,
      expected: expected === 'no_stream' ? -1n : expected,
      events: await Promise.all(
        events.map(async (event) => ({
          id: event.id,
          type: event.type,
          at: event.metadata.at,
          ...(await codec.encode(event, stream)),
        })),
      ),
    })),
  )
  if (sizeOf(encoded) > appendLimit) throw appendTooLarge()
  return encoded
}

/** One call at a time; appends that arrive while it is under way wait and share the next one (group commit). */
export const createAppendQueue = ({ query, limits, retries, onCalled }: QueueParts): AppendQueue => {
  const waiting: Group[] = []
  let running: Promise<void> | undefined

  const drain = async () => {
    // appends of the same turn of the event loop share a call
    await new Promise((turned) => setImmediate(turned))
    while (waiting.length > 0) {
      const groups = takeGroups(waiting, limits)
      await appendGroups(query, groups, retries)
      onCalled(groups)
    }
    running = undefined
  }

  return {
    append: (writes) =>
      new Promise((resolve, reject) => {
        waiting.push({ writes, resolve, reject })
        running ??= drain()
      }),
    idle: async () => running,
  }
}

const sizeOf = (writes: readonly EncodedWrite[]) =>
  writes.reduce((sum, { events }) => events.reduce((n, e) => n + e.data.length + e.metadata.length, sum), 0)

/** Removes the next groups that fit into one call. Two writes to one stream never share a call. */
const takeGroups = (waiting: Group[], limits: Limits): readonly Group[] => {
  const taken: Group[] = []
  const streams = new Set<string>()
  let total = 0
  for (let i = 0; i < waiting.length && taken.length < limits.groups;) {
    const group = waiting[i]!
    const size = sizeOf(group.writes)
    if (taken.length > 0 && total + size > limits.bytes) break
    if (group.writes.some(({ stream }) => streams.has(stream))) {
      i++
      continue
    }
    group.writes.forEach(({ stream }) => streams.add(stream))
    total += size
    taken.push(...waiting.splice(i, 1))
  }
  return taken
}

/** Appends the groups and settles each. Never rejects. */
const appendGroups = async (query: Query, groups: readonly Group[], retries: number) => {
  try {
    const outcomes = await callUntilKnown(query, groups, retries)
    groups.forEach((group, i) =>
      settle(
        group,
        outcomes.filter(({ grp }) => grp === i),
      ),
    )
  } catch (error) {
    if (groups.length === 1 || error instanceof StoreUnavailable) {
      groups.forEach(({ reject }) => reject(error))
      return
    }
    // one bad statement must not fail the other groups of its call, so each gets a call of its own
    for (const group of groups) await call(query, [group]).then((outcomes) => settle(group, outcomes), group.reject)
  }
}

/** Repeats a call whose outcome is unknown: with the same event ids, the log answers the first outcome. */
const callUntilKnown = async (query: Query, groups: readonly Group[], retries: number) => {
  const { pause } = backOff({ from: 100, to: 100 * 2 ** retries })
  for (let attempt = 0; ; attempt++) {
    try {
      return await call(query, groups)
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt === retries) throw error
      await pause()
    }
  }
}

const appendMany = 'select * from log.append($1, $2, $3, $4, $5, $6, $7, $8, log.later(log.sure($9::timestamptz[])))'
const appendOne =
  'select * from log.append($1, $2, $3, $4, $5, $6, array[$7::json], array[$8::json], log.later(log.sure($9::timestamptz[])))'

const call = (query: Query, groups: readonly Group[]) => {
  const writes = groups.flatMap((group, grp) => group.writes.map((write) => ({ grp, ...write })))
  const events = writes.flatMap((write) => write.events)
  // as an element of an array, each quote of the JSON would be escaped; a batch of clicks is large and comes alone
  const alone = events.length === 1
  const [data, metadata] = [events.map((event) => event.data), events.map((event) => event.metadata)]
  return query<Outcome>(alone ? 'append-one' : 'append', alone ? appendOne : appendMany, [
    writes.map((write) => write.grp),
    writes.map((write) => write.stream),
    writes.map((write) => write.expected),
    writes.map((write) => write.events.length),
    events.map((event) => event.id),
    events.map((event) => event.type),
    ...(alone ? [data[0], metadata[0]] : [data, metadata]),
    events.map((event) => event.at),
  ])
}

const settle = ({ writes, resolve }: Group, outcomes: readonly Outcome[]) => {
  const conflict = outcomes.find(({ stored, stream, revision }) => {
    const write = writes.find((one) => one.stream === stream)
    return !stored && write && BigInt(revision) !== write.expected
  })
  if (!conflict) return resolve({ ok: true, position: BigInt(outcomes.at(-1)?.last_position ?? 0) })
  const actual = BigInt(conflict.revision)
  resolve({ ok: false, stream: conflict.stream, actual: actual < 0n ? 'no_stream' : actual })
}
