import { existsSync } from 'node:fs'
import { createSignal } from '../../lib/async/signal.ts'
import type { SeqByPartition } from '../entry.ts'
import type { Log } from '../report.ts'
import { earlierSpools, type RelayedSpool } from './earlier.ts'
import { noQuarantine } from './quarantine.ts'
import type { Recovered } from './recover.ts'
import type { Piece, Segment } from './segment.ts'
import type { SpoolFiles, SpoolStats } from './source.ts'
import type { Spool } from './spool.ts'
import { hasMore, tail } from './tail.ts'

/** A spool of this process for the thread that relays it, which opens the files by itself. */
export interface SpoolHandle {
  readonly id: string
  /** Whether no thread has relayed it before. */
  readonly isNew: boolean
  readonly found: Pick<Recovered, 'spools' | 'tallies'>
  readonly files: SpoolFiles
  readonly stats: SpoolStats
}

/** Messages from the thread that relays a spool to the thread that writes it. */
export type SpoolReply =
  /** what the sink has, and for each segment that was read to its end the last entries in it */
  | {
      readonly kind: 'release'
      readonly upTo: SeqByPartition
      readonly read: readonly (readonly [number, readonly number[]])[]
    }
  | { readonly kind: 'damaged'; readonly path: string; readonly piece: Piece }
  /** the spool is closed, and all of it is recorded */
  | { readonly kind: 'remove' }
  /** bytes of the earlier spools of the folder */
  | { readonly kind: 'earlier'; readonly bytes: number }

/** Returns what is left of earlier spools that a thread before this one has relayed. */
const remaining = ({ spools, tallies }: SpoolHandle['found']): SpoolHandle['found'] => ({
  spools: spools.flatMap((spool) => {
    const segments = spool.segments.filter(({ path }) => existsSync(path))
    return segments.length > 0 ? [{ ...spool, segments }] : []
  }),
  tallies: tallies.filter(({ path }) => existsSync(path)),
})

/**
 * Opens the spool that another thread writes. Entries are read from its files, as far as that thread says they are
 * synced.
 */
export const openShared = (
  { id, isNew, found, files: first, stats: firstStats }: SpoolHandle,
  send: (reply: SpoolReply) => void,
): { readonly spool: RelayedSpool; readonly update: (files: SpoolFiles, stats: SpoolStats) => void } => {
  let [files, stats] = [first, firstStats]
  /** the same objects for as long as the segments exist: a reader holds one */
  const segments: Segment[] = [...first.segments]
  const updated = createSignal()
  const quarantine = {
    ...noQuarantine,
    copy: async (path: string, piece: Piece) => send({ kind: 'damaged', path, piece }),
  }
  const waitForSync = async (signal: AbortSignal) => !files.isClosed && hasMore(updated, signal)
  const earlier = earlierSpools({ ...remaining(found), quarantine })
  const tellEarlier = async <T>(deleting: Promise<T>): Promise<T> => {
    const done = await deleting
    send({ kind: 'earlier', bytes: earlier.reduce((sum, { stats }) => sum + stats().bytes, 0) })
    return done
  }
  return {
    spool: {
      id,
      isNew,
      earlier: earlier.map((one) => ({
        ...one,
        release: (upTo) => tellEarlier(one.release(upTo)),
        remove: () => tellEarlier(one.remove()),
      })),
      read: (after, limit, signal) => tail({ segments, quarantine, waitForSync }, after, limit, signal),
      release: async (upTo) => {
        const read = segments.flatMap(({ number, readUpTo }) => (readUpTo ? [[number, readUpTo] as const] : []))
        send({ kind: 'release', upTo, read })
      },
      stats: () => stats,
      remove: async () => send({ kind: 'remove' }),
    },
    update: (now, statsNow) => {
      ;[files, stats] = [now, statsNow]
      const news = new Map(now.segments.map((segment) => [segment.number, segment]))
      for (const segment of segments.splice(0)) {
        const { size, synced } = news.get(segment.number) ?? {}
        if (size === undefined || synced === undefined) continue
        segments.push(Object.assign(segment, { size, synced }))
        news.delete(segment.number)
      }
      segments.push(...news.values())
      updated.notify()
    },
  }
}

/** Sends the state of the files of a spool to another thread, now and after each change, until it is closed. */
export const shareSpool = async (
  { files, stats, synced }: Pick<Spool, 'files' | 'stats' | 'synced'>,
  send: (files: SpoolFiles, stats: SpoolStats) => void,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    const [count, now] = [synced.count(), files()]
    send(now, stats())
    if (now.isClosed) return
    await synced.after(count, signal)
  }
}

/** Does what the thread that relays a spool has asked for. A failure is tried again with the next release. */
export const heed = async (
  spool: Pick<Spool, 'release' | 'remove' | 'files' | 'damaged' | 'earlierHave'>,
  reply: SpoolReply,
  log: Log,
): Promise<void> => {
  try {
    if (reply.kind === 'earlier') spool.earlierHave(reply.bytes)
    // a message makes an array of bytes of a buffer
    if (reply.kind === 'damaged')
      await spool.damaged(reply.path, { ...reply.piece, bytes: Buffer.from(reply.piece.bytes) })
    if (reply.kind === 'remove') await spool.remove()
    if (reply.kind !== 'release') return
    const read = new Map(reply.read)
    for (const segment of spool.files().segments) segment.readUpTo = read.get(segment.number) ?? segment.readUpTo
    await spool.release(reply.upTo)
  } catch (error) {
    log('debug', 'the files of the spool could not be changed', { err: error })
  }
}
