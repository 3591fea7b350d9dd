import type { Classify } from '../../src/clicks/classify.ts'
import type { ClickEntry, SeqByPartition } from '../../src/clicks/entry.ts'
import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import type { RelayedSpool } from '../../src/clicks/spool/earlier.ts'
import type { Visit } from '../../src/clicks/visit.ts'
import type { Click } from '../../src/events/statistics/click.ts'
import { at, classified } from './events.ts'

/** Visit number `n`: the link it goes to distinguishes it from all others. */
export const visit = (n: number, over: Partial<Visit> = {}): Visit => ({
  at: at(n),
  account: 1,
  link: n,
  revision: 0,
  destination: 'https://example.com/',
  rule: 'link',
  source: { kind: 'link', id: n },
  address: '192.0.2.1',
  agent: 'Firefox',
  referrer: '',
  languages: 'fr',
  prefetch: false,
  ...over,
})

/** Entry `seq` of a spool: visit number `seq`. */
export const entry = (seq: number, over: Partial<Visit> = {}, partition = 0): SpoolEntry => ({
  partition,
  seq,
  visit: visit(seq, over),
})

/** Returns whole numbers, both ends included. */
export const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

export const entries = (from: number, to: number) => numbers(from, to).map((seq) => entry(seq))

/** Classifies a visit without looking at the visitor. */
export const classify: Classify = ({ link, account, destination, agent, at: when }) =>
  classified({ link, account, at: when, destination, agent })

/** Spool entries as a relay delivers them to a sink. */
export const delivered = (given: readonly SpoolEntry[], spool = 's', rules = 1): ClickEntry[] =>
  given.map((one) => ({
    spool,
    seq: one.seq,
    ...('visit' in one ? { click: classify(one.visit, () => ''), rules } : { dropped: one.dropped }),
  }))

/** Returns the links of the clicks in these events, in order. */
export const linksOf = (events: readonly { readonly type: string; readonly data: object }[]): number[] =>
  events.flatMap(({ data }) => ('clicks' in data ? (data.clicks as readonly Click[]).map(({ link }) => link) : []))

/**
 * Returns a spool in memory that yields these batches, wherever the reader starts, like a spool that delivers again
 * after a failure.
 */
export const scriptedSpool = (id: string, ...batches: readonly (readonly SpoolEntry[])[]) => {
  const released: SeqByPartition[] = []
  const readAfter: SeqByPartition[] = []
  let left = [...batches]
  const spool: RelayedSpool = {
    id,
    earlier: [],
    isNew: true,
    read: async function* (after, _limit, signal) {
      readAfter.push(after)
      while (!signal.aborted) {
        const [batch] = left
        if (batch) yield batch
        // a batch whose delivery failed is yielded again
        if (batch) left = left.slice(1)
        else await new Promise((done) => signal.addEventListener('abort', done))
      }
    },
    release: async (upTo) => void released.push(upTo),
    stats: () => ({ bytes: 0, waiting: 0, dropped: 0, quarantined: 0, lastSeq: [], releasedUpTo: [] }),
    remove: async () => {},
  }
  return { spool, released, readAfter }
}
