import type { Classified } from '../events/statistics/click.ts'
import type { DroppedVisits } from './visit.ts'

/** A sequence number for each partition; an absent partition is at 0. */
export type SeqByPartition = Readonly<Record<number, number>>

/**
 * A classified spool entry on its way to the event log; it holds nothing personal. `seq` counts up by one from 1 within
 * (spool, partition). `offset` is its offset in the Kafka partition, if it came through Kafka. `rules` is the version
 * of the classification rules.
 */
export type ClickEntry = { readonly spool: string; readonly seq: number; readonly offset?: number } & (
  { readonly click: Classified; readonly rules: number } | { readonly dropped: DroppedVisits }
)

/** Entries by partition, each partition's in the order of `seq`. */
export type EntriesByPartition = Readonly<Record<number, readonly ClickEntry[]>>

/** Returns the higher number of each partition. */
export const furthest = (a: SeqByPartition, b: SeqByPartition): SeqByPartition => {
  const all: Record<number, number> = { ...a }
  for (const [partition, seq] of Object.entries(b)) all[Number(partition)] = Math.max(seq, a[Number(partition)] ?? 0)
  return all
}
