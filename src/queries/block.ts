import type { Reader } from './reader.ts'

/** Something that is or was blocked, as every process caches it. */
export interface KnownBlock {
  readonly kind: string
  /** the id, host or pattern */
  readonly value: string
  /** null: it is not blocked any more */
  readonly reason: string | null
  /** of its last change in the log */
  readonly position: bigint
}
export interface BlockRow extends KnownBlock {
  readonly operator: string
  readonly changed: Date
}

/** Returns what changed after one position of the log and up to another; from 0n on, all of it. */
export const blocksChanged = async ({ db, table }: Reader, after: bigint, upTo?: bigint): Promise<KnownBlock[]> => {
  const changed = db(table('blocks')).where('position', '>', after.toString())
  if (upTo !== undefined) void changed.where('position', '<=', upTo.toString())
  const rows = (await changed.select('kind', 'value', 'reason', 'position')) as KnownBlock[]
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }))
}

/** Returns what is blocked, newest first. */
export const listBlocks = async ({ db, table }: Reader): Promise<readonly BlockRow[]> =>
  (await db(table('blocks')).whereNotNull('reason').orderBy('position', 'desc')) as BlockRow[]
