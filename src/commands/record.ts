import { createHmac, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import QuickLRU from 'quick-lru'
import type { ClickEvent } from '../events/click.ts'
import type { Spool, SpoolEntry, Visit } from '../events/clicklog.ts'
import type { DomainEvent } from '../events/index.ts'
import type { Keyring } from '../events/seal.ts'
import { type EventStore, type ExpectedRevision, StoreUnavailable } from '../events/store.ts'
import { rulesVersion } from '../visitor/agent.ts'
import type { Classified } from '../visitor/classify.ts'

/** Clicks in one event, and the bytes of JSON it may come to. */
const [most, bytes] = [500, 256 * 1024]

/** Visits per ms from which on answering them comes first. */
const rush = 4

export interface Recorder {
  readonly state: () => { readonly recorded: Readonly<Record<number, number>>; readonly problem: string | undefined }
  readonly stop: () => Promise<void>
}
export interface RecorderOptions {
  readonly store: EventStore
  readonly spool: Spool
  readonly keyring: Keyring
  /** names the click log; its partitions are streams `clicks-<log>-<partition>` */
  readonly log: string
  readonly partitions: number
  readonly classify: (visit: Visit, hash: (account: number, text: string) => string) => Classified
  readonly onProblem: (error: unknown, what: string) => void
  /** how many visits this process has answered so far */
  readonly arrived?: () => number
}

/** What the stream of a partition knows: the last sequence number taken from each spool. That alone decides what is new. */
interface Tail {
  readonly revision: ExpectedRevision
  readonly upTo: Readonly<Record<string, number>>
}

/** Moves what is in a spool into the log, each click exactly once, whoever else may be at it. */
export const startRecorder = (options: RecorderOptions): Recorder => {
  const { store, spool, keyring, log, partitions, classify, onProblem, arrived = () => 0 } = options
  const stopped = new AbortController()
  const tails = new Map<number, Tail>()
  let problem: string | undefined

  const append = (partition: number, tail: Tail, events: readonly ClickEvent[]) => {
    const metadata = {
      v: 1,
      at: new Date().toISOString(),
      account: null,
      actor: { kind: 'service' },
      request: '',
      command: randomUUID(),
    } as const
    const numbered = events.map((event) => ({ ...event, id: randomUUID(), metadata }))
    return store.append([{ stream: `clicks-${log}-${partition}`, expected: tail.revision, events: numbered }])
  }

  const load = async (partition: number): Promise<Tail> => {
    const last = await store.last(`clicks-${log}-${partition}`)
    if (!last) {
      // whoever comes first fixes the number of partitions for ever
      await append(partition, { revision: 'no_stream', upTo: {} }, [
        { type: 'ClickLogOpened', data: { log, partitions } },
      ])
      return load(partition)
    }
    const tail = { revision: last.revision, upTo: taken(last) }
    tails.set(partition, tail)
    return tail
  }

  const hashes = async (entries: readonly SpoolEntry[]) => {
    const accounts = [...new Set(entries.flatMap((entry) => ('visit' in entry ? [entry.visit.account] : [])))]
    return visitorHash(await keyring.forOpening(accounts))
  }

  /** Appends what is new of these entries; another recorder's append makes it look again at what is new. */
  const record = async (partition: number, entries: readonly SpoolEntry[]) => {
    const hash = await hashes(entries)
    for (;;) {
      const tail = tails.get(partition) ?? (await load(partition))
      const fresh = entries.filter(({ seq }) => seq > (tail.upTo[spool.id] ?? 0))
      if (fresh.length === 0) return
      const events = eventsOf(spool.id, tail.upTo, fresh, (visit) => classify(visit, hash))
      let { revision, upTo } = tail
      for (const event of events) {
        const appended = await append(partition, { revision, upTo }, [event]).catch((error: unknown) => {
          // it may have been stored: the stream's tail tells
          tails.delete(partition)
          throw error
        })
        if (!appended.ok) {
          tails.delete(partition)
          break
        }
        revision = revision === 'no_stream' ? 0n : revision + 1n
        upTo = event.type === 'ClickLogOpened' ? upTo : event.data.upTo
        tails.set(partition, { revision, upTo })
      }
    }
  }

  const recorded = () => Object.fromEntries([...tails].map(([partition, { upTo }]) => [partition, upTo[spool.id] ?? 0]))

  const run = async () => {
    for (let wait = 100; !stopped.signal.aborted; wait = Math.min(wait * 2, 5000)) {
      try {
        for (let partition = 0; partition < partitions; partition++) await load(partition)
        problem = undefined
        for await (const entries of spool.read(recorded(), most, stopped.signal)) {
          const [began, came] = [performance.now(), arrived()]
          const parts = new Map<number, SpoolEntry[]>()
          for (const entry of entries) parts.set(entry.partition, [...(parts.get(entry.partition) ?? []), entry])
          for (const [partition, part] of parts) await record(partition, part)
          await spool.release(recorded())
          problem = undefined
          wait = 100
          // in a rush recording leaves the processor to the answers: what waits in the spool is not lost, only counted later
          const took = performance.now() - began
          if ((arrived() - came) / took > rush)
            await sleep(Math.min(1000, took * 6), undefined, { signal: stopped.signal }).catch(() => {})
        }
      } catch (error) {
        problem = String(error)
        onProblem(
          error,
          error instanceof StoreUnavailable ? 'clicks wait in the spool' : 'the recorder failed and starts again',
        )
      }
      await sleep(wait, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }
  const running = run()

  return {
    state: () => ({ recorded: recorded(), problem }),
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}

const taken = (event: DomainEvent): Readonly<Record<string, number>> => {
  switch (event.type) {
    case 'LinkClicked':
    case 'ClicksMissing':
    case 'ClicksDropped':
      return event.data.upTo
    case 'ClickLogOpened':
      return {}
    default:
      throw new Error(`${event.type} does not belong into a stream of clicks`)
  }
}

const derivedKeys = new QuickLRU<string, Buffer>({ maxSize: 10_000 })
const visitorKey = (key: Buffer) => {
  const name = key.toString('base64')
  const known = derivedKeys.get(name) ?? Buffer.from(hkdfSync('sha256', key, '', 'linkledger visitors 1', 32))
  derivedKeys.set(name, known)
  return known
}

/** 64 bits under a key of the account: nobody can follow a visitor across accounts, and erasing an account ends it for good. */
const visitorHash = (keys: ReadonlyMap<number, Buffer>) => {
  // an erased account has no key any more: its last visitors are nobody's
  const nobody = randomBytes(32)
  return (account: number, text: string) => {
    const key = keys.get(account)
    return createHmac('sha256', key ? visitorKey(key) : nobody)
      .update(text)
      .digest('hex')
      .slice(0, 16)
  }
}

/** Entries as events: clicks in batches with dictionaries, and every hole and drop told. */
export const eventsOf = (
  spool: string,
  before: Readonly<Record<string, number>>,
  entries: readonly SpoolEntry[],
  classify: (visit: Visit) => Classified,
): ClickEvent[] => {
  const events: ClickEvent[] = []
  let batch: { readonly clicks: Classified[]; size: number } = { clicks: [], size: 0 }
  let seq = before[spool] ?? 0
  const upTo = () => ({ ...before, [spool]: seq })
  const flush = () => {
    if (batch.clicks.length > 0) events.push(linkClicked(batch.clicks, upTo()))
    batch = { clicks: [], size: 0 }
  }
  for (const entry of entries) {
    if (entry.seq > seq + 1) {
      flush()
      const from = seq + 1
      seq = entry.seq - 1
      events.push({ type: 'ClicksMissing', data: { spool, from, to: seq, upTo: upTo() } })
    }
    if ('dropped' in entry) {
      flush()
      seq = entry.seq
      events.push({ type: 'ClicksDropped', data: { spool, ...entry.dropped, upTo: upTo() } })
      continue
    }
    const click = classify(entry.visit)
    const size = JSON.stringify(click).length
    if (batch.clicks.length === most || batch.size + size > bytes) flush()
    batch.clicks.push(click)
    batch.size += size
    seq = entry.seq
  }
  flush()
  return events
}

const linkClicked = (clicks: readonly Classified[], upTo: Readonly<Record<string, number>>): ClickEvent => {
  const [agents, destinations] = [dictionary(), dictionary()]
  const rows = clicks.map((click) => ({
    ...click,
    agent: agents.index(click.agent),
    destination: destinations.index(click.destination),
  }))
  return {
    type: 'LinkClicked',
    data: { rules: rulesVersion, agents: agents.words(), destinations: destinations.words(), clicks: rows, upTo },
  }
}

const dictionary = () => {
  const words = new Map<string, number>()
  return {
    index: (word: string) => {
      const known = words.get(word) ?? words.size
      words.set(word, known)
      return known
    },
    words: () => [...words.keys()],
  }
}
