import type { SpoolEntry } from '../../src/clicks/spool/segment.ts'
import type { Spool } from '../../src/clicks/spool/spool.ts'
import type { Visit } from '../../src/clicks/visit.ts'
import { at } from './events.ts'

/** Visit number `n`: it can be told from all others by the link it goes to. */
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
export const entry = (seq: number, over: Partial<Visit> = {}, partition = 0): SpoolEntry => ({
  partition,
  seq,
  visit: visit(seq, over),
})
export const entries = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => entry(from + i))

/** A spool in memory that hands on the batches it is told to, whatever was asked for, as one that hands on things again would. */
export const scriptedSpool = (id: string, ...batches: readonly (readonly SpoolEntry[])[]) => {
  const released: Readonly<Record<number, number>>[] = []
  const asked: Readonly<Record<number, number>>[] = []
  let left = [...batches]
  const spool: Spool = {
    id,
    add: async () => {},
    read: async function* (after, _limit, signal) {
      asked.push(after)
      while (!signal.aborted) {
        const [batch] = left
        if (batch) yield batch
        // a batch that failed comes again
        if (batch) left = left.slice(1)
        else await new Promise((done) => signal.addEventListener('abort', done))
      }
    },
    release: async (upTo) => void released.push(upTo),
    stats: () => ({ bytes: 0, waiting: 0, dropped: 0, quarantined: 0, lastSeq: [], releasedUpTo: [] }),
    close: async () => {},
  }
  return { spool, released, asked }
}
