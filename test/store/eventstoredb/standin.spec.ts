import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { type Double, startDouble } from '../../support/eventstoredb.ts'
import type { Fault } from '../../support/eventstoredb/faults.ts'
import { type From, rawClient } from '../../support/eventstoredb/raw.ts'

type Json = Readonly<Record<string, unknown>>
type Answers = Readonly<Record<string, Json>>

/** values that differ from run to run, also on one server */
const changing =
  /^(?:commit(?:Position)?|prepare(?:Position)?|eventCommit|streamName|correlationId|subscriptionId|stream-name|leader-endpoint-port|port|instanceId|timeStamp|eventStoreServerVersion)$/
/** what the stand-in leaves out: fields of old clients, and headers of HTTP */
const left = /2060$|^(?:ms|codeName|content-type|server|content-length|date)$/

/** Returns what an answer has in common with the same answer in another run. */
const comparable = (value: unknown, key = ''): unknown => {
  // a checkpoint may have `prepare: 0`
  if (changing.test(key)) return '#'
  if (typeof value === 'string') return value.replace(/'link-[^']*'/, "'#'")
  if (Array.isArray(value)) return value.map((one) => comparable(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (left.test(name) ? [] : [[name, comparable(one, name)]])),
  )
}

describe('the stand-in for EventStoreDB', () => {
  let recorded: { readonly cluster: Answers; readonly tls: Answers }
  let double: Double
  let raw: ReturnType<typeof rawClient>
  before(async () => {
    const file = new URL('../../data/eventstoredb-answers.json', import.meta.url)
    recorded = JSON.parse(await readFile(file, 'utf8')) as typeof recorded
  })
  beforeEach(async () => {
    double = await startDouble()
    raw = rawClient(double.port)
  })
  afterEach(async () => {
    raw.close()
    await double.close()
  })

  const [first, second, third] = ['a', 'b', 'c'].map((name) => `link-${name}-${randomUUID()}`) as [
    string,
    string,
    string,
  ]
  const ids = Array.from({ length: 3 }, () => randomUUID())
  const fresh = (count = 1) => Array.from({ length: count }, () => randomUUID())
  /** Position of the nth event of ours. */
  const at = (n: number) => double.log.all.filter(({ type }) => type === 'LinkDeleted')[n]!.position
  const under = async (fault: Fault, call: () => Promise<Json>) => {
    double.fail(() => fault)
    return call().finally(() => double.fail(() => undefined))
  }
  const beyond = 10_000_000

  /** The calls that were recorded, in their order. */
  const calls: Readonly<Record<string, () => Promise<Json>>> = {
    'server features': () => raw.features(),
    'gossip of the leader': () => raw.gossip(),
    'append of 3, no stream': () => raw.append(first, 'no_stream', ids),
    'the same again (same ids, same expectation)': () => raw.append(first, 'no_stream', ids),
    'its first 2 only, again': () => raw.append(first, 'no_stream', ids.slice(0, 2)),
    'first 2 and a new one (partly repeated)': () => raw.append(first, 'no_stream', [...ids.slice(0, 2), randomUUID()]),
    'wrong revision (expected 7, is at 2)': () => raw.append(first, 7, fresh()),
    'wrong: no stream expected': () => raw.append(first, 'no_stream', fresh()),
    'expected 0 of a stream that is not there': () => raw.append('link-none', 0, fresh()),
    'more than 1 MiB in one append': () => raw.append('link-large', 'no_stream', fresh(), 1024 * 1024 + 1),
    'empty append (no events) to a new stream': () => raw.append('link-empty', 'no_stream', []),
    'append to a follower, requires-leader': () => under('not leader', () => raw.append(first, 2, fresh())),
    // a follower forwards it
    'append to a follower, without': () => raw.append(first, 2, fresh()),
    'read a stream': () => raw.read(first, { from: 'start' }),
    'read its end backwards': () => raw.read(first, { from: 'end', backwards: true, count: 1 }),
    'read from beyond its end': () => raw.read(first, { from: 100 }),
    'read a stream that is not there': () => raw.read('link-none', { from: 'start' }),
    'read from a follower, requires-leader': () => under('not leader', () => raw.read(first, { from: 'start' })),
    delete: async () => {
      await raw.append(second, 'no_stream', fresh(2))
      return raw.remove(second, false)
    },
    'read a deleted stream': () => raw.read(second, { from: 'start' }),
    'append to a deleted stream, no stream expected': () => raw.append(second, 'no_stream', fresh()),
    tombstone: async () => {
      await raw.append(third, 'no_stream', fresh())
      return raw.remove(third, true)
    },
    'read a tombstoned stream': () => raw.read(third, { from: 'start' }),
    'append to a tombstoned stream': () => raw.append(third, 'no_stream', fresh()),
    "$all forwards from an event's position (inclusive)": () => raw.read(undefined, { from: at(2), count: 2 }),
    '$all backwards from the end': () => raw.read(undefined, { from: 'end', backwards: true, count: 2 }),
    "$all backwards from an event's position": () => raw.read(undefined, { from: at(2), backwards: true, count: 2 }),
    '$all from a position where no event begins': () => raw.read(undefined, { from: at(2) + 1 }),
    '$all from a position far beyond the end': () => raw.read(undefined, { from: beyond }),
    'subscription to $all, regex filter, after a position (exclusive)': () =>
      subscribed('subscription to $all, regex filter, after a position (exclusive)', at(2), { regex: '^Link' }),
    'subscription to $all, prefix filter nothing passes, small windows': () =>
      subscribed('subscription to $all, prefix filter nothing passes, small windows', 'start', {
        prefix: 'nothing',
        window: 1,
      }),
    'subscription after a position where no event begins': () => raw.subscribe(at(2) + 1, 1),
    'subscription after a position beyond the end': () => raw.subscribe(beyond, 1),
    'subscription after position 958 (of another engine)': () => raw.subscribe(at(2) + 2, 1),
    'subscription on a follower, requires-leader': () => under('not leader', () => raw.subscribe('start', 1)),
    'batch append at 2': () => raw.batchAppend(first, 2),
    'batch append, wrong': () => raw.batchAppend(first, 2),
  }
  const messagesOf = (answer: Json | undefined) => (answer?.['messages'] as readonly unknown[] | undefined) ?? []
  const subscribed = (name: string, from: From, filter: Parameters<typeof raw.subscribe>[2]) =>
    raw.subscribe(from, messagesOf(recorded.cluster[name]).length, filter)

  /** The stand-in knows no followers. */
  const ofLeader = (answer: Json) => {
    const response = answer['response'] as { readonly membersList?: readonly { readonly state: number }[] } | undefined
    const members = response?.membersList
    return members ? { response: { membersList: members.filter(({ state }) => state === 8) } } : answer
  }

  it('answers each call as a real server did', async () => {
    expect(Object.keys(calls)).to.deep.equal(Object.keys(recorded.cluster))
    const differences: unknown[] = []
    for (const [name, call] of Object.entries(calls)) {
      const [found, wanted] = [await call(), recorded.cluster[name]!].map((answer) => comparable(ofLeader(answer)))
      const sorted = (answer: unknown) => JSON.stringify(answer, sortMethods)
      if (sorted(found) !== sorted(wanted)) differences.push({ name, found, wanted })
    }
    expect(differences, JSON.stringify(differences, null, 1)).to.deep.equal([])
  })

  it('refuses users as a real server did', async () => {
    const users: Readonly<Record<string, Fault | undefined>> = {
      admin: undefined,
      'a user without groups': 'access denied',
      'a wrong password': 'unauthenticated',
      nobody: 'access denied',
    }
    const answers: Record<string, unknown> = {}
    for (const [user, refusal] of Object.entries(users)) {
      // who may not read $all may append to a stream
      double.fail(({ stream }) => (refusal === 'access denied' && stream !== '$all' ? undefined : refusal))
      answers[`append as ${user}`] = await raw.append(`link-${randomUUID()}`, 'no_stream', fresh())
      const counted = async (answer: Promise<Json>) => ({
        ...(await answer),
        messages: messagesOf(await answer).length,
      })
      answers[`read $all as ${user}`] = await counted(raw.read(undefined, { from: 'start', count: 2 }))
      answers[`subscribe to $all as ${user}`] = await counted(raw.subscribe('start', 2))
    }
    expect(comparable(answers)).to.deep.equal(comparable(recorded.tls))
  })
})

/** The order of methods and fields means nothing. */
const sortMethods = (_: string, value: unknown): unknown => {
  if (Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && 'methodName' in one))
    return value.map((one) => JSON.stringify(one, Object.keys(one as object).toSorted())).toSorted()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
