import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type Codec, type Raw, readable } from '../events/codec.ts'
import { events as registry } from '../events/index.ts'
import { batch } from '../lib/batch.ts'
import {
  type Appended,
  appendLimit,
  type EventStore,
  type Filter,
  StoreUnavailable,
  type Write,
} from '../events/store.ts'
import type { Signal } from '../lib/signal.ts'
import { notifyAppended } from '../postgres/notifications.ts'
import { ensureLogOpened, type Opening } from './open.ts'

interface Row {
  readonly position: string
  readonly stream: string
  readonly revision: string
  readonly id: string
  readonly type: string
  readonly data: unknown
  readonly metadata: object
  readonly at: Date
}
interface Encoded {
  readonly stream: string
  readonly expected: bigint
  readonly events: readonly { id: string; type: string; at: string; data: string; metadata: string }[]
}
interface Group {
  readonly writes: readonly Encoded[]
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}
interface Page {
  readonly stream: string
  readonly from: bigint
}
interface Outcome {
  readonly grp: number
  readonly stream: string
  readonly stored: boolean
  readonly revision: string
  readonly last_position: string | null
}

// a newer program may have written types that this one does not know: nobody waits for those, but a copy of the log has them
const known = Object.keys(registry).map((type) => `'${type}'`)
const where: Record<Filter, string> = {
  clicks: `type = 'LinkClicked' and`,
  domain: `type <> 'LinkClicked' and type in (${known.join()}) and`,
  all: '',
}
const raw = ({ position, revision, at, ...row }: Row): Raw => {
  const time = at.toISOString()
  return {
    ...row,
    position: BigInt(position),
    revision: BigInt(revision),
    at: time,
    metadata: { ...row.metadata, at: time },
  }
}
const appendMany = 'select * from log.append($1, $2, $3, $4, $5, $6, $7, $8, $9)'
const appendOne = 'select * from log.append($1, $2, $3, $4, $5, $6, array[$7::json], array[$8::json], $9)'
const lastOfEach = `
  select e.* from (select distinct stream from unnest($1::text[]) as s (stream)) as s
  cross join lateral (select * from log.events e where e.stream = s.stream order by revision desc limit 1) as e`
const pageSize = 500
const pageOfEach = `
  select s.nr, e.* from unnest($1::text[], $2::bigint[]) with ordinality as s (stream, first, nr)
  cross join lateral (
    select * from log.events e where e.stream = s.stream and e.revision >= s.first order by revision limit ${pageSize}
  ) as e
  order by s.nr, e.revision`
const isClick = ({ type }: { readonly type: string }) => type === 'LinkClicked'
const size = (writes: readonly Encoded[]) =>
  writes.reduce((sum, { events }) => events.reduce((n, e) => n + e.data.length + e.metadata.length, sum), 0)

/** SQLSTATE classes that say something about this very statement; every other failure is a fault of the server or of the way to it. */
const isFault = (error: unknown) => !/^(22|23|42)/.test((error as { code?: string }).code ?? '')

interface PostgresOptions {
  /** appends that go together, and their bytes */
  readonly groups?: number
  readonly bytes?: number
  readonly retries?: number
  /** what an empty log begins with; a new id without it */
  readonly opening?: Opening
}

/**
 * The event log in the schema `log` of a PostgreSQL. Appends that arrive while one is under way wait and go together (group commit).
 * The bell is rung here after own appends, and by the caller when another process may have appended.
 */
export const postgresStore = async (
  pool: Pool,
  codec: Codec,
  appended: Signal,
  { groups = 64, bytes = appendLimit, retries = 4, opening }: PostgresOptions = {},
): Promise<EventStore> => {
  const waiting: Group[] = []
  let running: Promise<void> | undefined
  let telling: Promise<void> | undefined
  let untold = false

  /** rings for our own appends, of which nothing passes the filter */
  const idle = { clicks: 0, domain: 0, all: 0 }
  const news = (filter: Filter) => appended.count() - idle[filter]

  const query = async <R extends object>(name: string, text: string, values: unknown[]) => {
    try {
      return (await pool.query<R>({ name, text, values })).rows
    } catch (error) {
      throw isFault(error) ? new StoreUnavailable('the event log cannot be reached', { cause: error }) : error
    }
  }

  /** The next groups that fit into one call; two writes to one stream never share a call. */
  const take = () => {
    const taken: Group[] = []
    const streams = new Set<string>()
    let total = 0
    for (let i = 0; i < waiting.length && taken.length < groups;) {
      const group = waiting[i]!
      const length = size(group.writes)
      if (taken.length > 0 && total + length > bytes) break
      if (group.writes.some(({ stream }) => streams.has(stream))) {
        i++
        continue
      }
      group.writes.forEach(({ stream }) => streams.add(stream))
      total += length
      taken.push(...waiting.splice(i, 1))
    }
    return taken
  }

  const call = async (taken: readonly Group[]) => {
    const writes = taken.flatMap((group, grp) => group.writes.map((write) => ({ grp, ...write })))
    const all = writes.flatMap((write) => write.events)
    // a single event, a batch of clicks say, is not made an element of an array, which would escape each of its quotes
    const alone = all.length === 1
    const [data, metadata] = [all.map((event) => event.data), all.map((event) => event.metadata)]
    return query<Outcome>(alone ? 'append-one' : 'append', alone ? appendOne : appendMany, [
      writes.map((write) => write.grp),
      writes.map((write) => write.stream),
      writes.map((write) => write.expected),
      writes.map((write) => write.events.length),
      all.map((event) => event.id),
      all.map((event) => event.type),
      ...(alone ? [data[0], metadata[0]] : [data, metadata]),
      all.map((event) => event.at),
    ])
  }

  /** A lost answer is asked for again with the same ids: the log then answers the first outcome. */
  const callUntilKnown = async (taken: readonly Group[]) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call(taken)
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === retries) throw error
        await new Promise((done) => setTimeout(done, 100 * 2 ** attempt))
      }
    }
  }

  const answer = (group: Group, outcomes: readonly Outcome[]) => {
    const conflict = outcomes.find(({ stored, stream, revision }) => {
      const write = group.writes.find((w) => w.stream === stream)
      return !stored && write && BigInt(revision) !== write.expected
    })
    if (conflict) {
      const actual = BigInt(conflict.revision)
      return group.resolve({ ok: false, stream: conflict.stream, actual: actual < 0n ? 'no_stream' : actual })
    }
    group.resolve({ ok: true, position: BigInt(outcomes.at(-1)?.last_position ?? 0) })
  }

  const ring = (taken: readonly Group[]) => {
    const clicks = taken.flatMap(({ writes }) => writes.flatMap(({ events }) => events.map(isClick)))
    if (!clicks.includes(true)) idle.clicks++
    if (!clicks.includes(false)) idle.domain++
    appended.notify()
  }

  /** Tells the other processes: at once, then every few ms. Not in the append, whose commit it would hold up. */
  const tell = async () => {
    while (untold) {
      untold = false
      // one that is lost does no harm: behind it stands their own look, every second
      await pool.query({ name: 'tell', text: notifyAppended }).catch(() => {})
      await sleep(15)
    }
    telling = undefined
  }

  const drain = async () => {
    // what comes in the same turn of the event loop goes along
    await new Promise((turned) => setImmediate(turned))
    while (waiting.length > 0) {
      const taken = take()
      try {
        const outcomes = await callUntilKnown(taken)
        taken.forEach((group, grp) =>
          answer(
            group,
            outcomes.filter((outcome) => outcome.grp === grp),
          ),
        )
      } catch (error) {
        // one bad statement must not fail its neighbours: alone, each gets its own answer
        if (taken.length > 1 && !(error instanceof StoreUnavailable)) {
          for (const group of taken) await call([group]).then((o) => answer(group, o), group.reject)
        } else taken.forEach((group) => group.reject(error))
      }
      ring(taken)
      untold = true
      telling ??= tell()
    }
    running = undefined
  }

  const append = async (writes: readonly Write[]): Promise<Appended> => {
    const encoded = await Promise.all(
      writes.map(async ({ stream, expected, events }) => ({
        stream,
        expected: expected === 'no_stream' ? -1n : expected,
        events: await Promise.all(
          events.map(async (e) => ({ id: e.id, type: e.type, at: e.metadata.at, ...(await codec.encode(e)) })),
        ),
      })),
    )
    if (size(encoded) > appendLimit) throw new RangeError(`an append holds at most ${appendLimit} bytes`)
    return new Promise((resolve, reject) => {
      waiting.push({ writes: encoded, resolve, reject })
      running ??= drain()
    })
  }

  const lastOf = batch(groups, async (streams: readonly string[]) => {
    const rows = await query<Row>('last', lastOfEach, [streams])
    const found = new Map(rows.map((row) => [row.stream, row]))
    return streams.map((stream) => found.get(stream))
  })
  const pageOf = batch(groups, async (pages: readonly Page[]) => {
    const rows = await query<Row & { nr: string }>('read', pageOfEach, [
      pages.map(({ stream }) => stream),
      pages.map(({ from }) => from),
    ])
    const found = pages.map((): Row[] => [])
    for (const { nr, ...row } of rows) found[Number(nr) - 1]?.push(row)
    return found
  })

  const store: Omit<EventStore, 'logId'> = {
    append,
    read: async function* (stream, from = 0n) {
      for (let next = from; ; next += BigInt(pageSize)) {
        const rows = await pageOf({ stream, from: next })
        yield* await codec.decode(rows.map(raw))
        if (rows.length < pageSize) return
      }
    },
    last: async (stream) => {
      const row = await lastOf(stream)
      return row && (await codec.decode([raw(row)]))[0]
    },
    subscribe: async function* ({ after, filter, limit, signal }) {
      const text = `select * from log.events where ${where[filter]} position > $1 order by position limit $2`
      let position = after
      while (!signal.aborted) {
        const known = news(filter)
        const rows = await query<Row>(`subscribe-${filter}`, text, [position, limit])
        if (rows.length === 0)
          while (news(filter) === known && !signal.aborted) await appended.after(appended.count(), signal)
        else {
          const { events, problem } = await readable(codec, rows.map(raw))
          if (events.length > 0) yield events
          if (problem) throw problem
          position = BigInt(rows.at(-1)!.position)
        }
      }
    },
    head: async (filter) => {
      const text = `select position from log.events where ${where[filter]} true order by position desc limit 1`
      return BigInt((await query<Row>(`head-${filter}`, text, []))[0]?.position ?? 0)
    },
    idAt: async (position) =>
      (await query<Row>('id-at', 'select id from log.events where position = $1', [position]))[0]?.id,
    close: async () => {
      await running
      await telling
    },
  }
  return { ...store, logId: await ensureLogOpened(store, opening) }
}
