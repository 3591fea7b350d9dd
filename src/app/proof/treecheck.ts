import { clockAfter } from '../../events/proof/leaf.ts'
import { nameOfOrdinal } from '../../events/naming.ts'
import type { RawText } from '../../events/rawtext.ts'
import { hashSize } from '../../lib/transparency/merkle.ts'
import { keyOfTile, type TileName } from '../../lib/transparency/tiles.ts'
import type { Database } from '../../postgres/database.ts'
import { readTiles, type TreeEnd } from '../../projections/proof/tree.ts'
import type { Finding } from './finding.ts'

/** Identifies an event. */
export type Named = Pick<RawText, 'id' | 'position' | 'type' | 'stream' | 'revision' | 'at'>

/** A hash that the tree must have. */
export interface TreeHash extends TileName {
  /** its byte in the tile */
  readonly at: number
  /** of the last event below it */
  readonly ordinal: number
  readonly hash: Buffer
}

/** Returns the hashes that differ in the tiles, and those that are missing. */
const compareHashes = async (db: Database, hashes: readonly TreeHash[]) => {
  const names = new Map(hashes.map(({ level, number }) => [keyOfTile({ level, number }), { level, number }]))
  const tiles = await readTiles(db, [...names.values()])
  const stored = ({ level, number, at }: TreeHash) =>
    tiles.get(keyOfTile({ level, number }))?.subarray(at, at + hashSize)
  return {
    wrong: hashes.filter((one) => stored(one)?.length === hashSize && !stored(one)?.equals(one.hash)),
    missing: hashes.filter((one) => stored(one)?.length !== hashSize),
  }
}

/** Compares the end of the tree with the event there. */
const endCheck = (stored: TreeEnd | undefined) => {
  let end: Pick<TreeEnd, 'position' | 'id' | 'at'> = { position: 0n, id: '', at: '' }
  return {
    /** Takes the next events. Returns whether the tree ends at one of them with other values. */
    isOther: (first: number, events: readonly Named[]): boolean => {
      const inTree = events.slice(0, Math.max(0, (stored?.size ?? 0) - first))
      const last = inTree.at(-1)
      if (!stored || !last) return false
      end = { ...last, at: clockAfter(inTree, end.at) }
      const isEnd = first + inTree.length === stored.size
      // reports events whose positions an append cannot have given
      const isMoved = stored.engine === 'postgres' && end.position !== BigInt(stored.size)
      const isElsewhere = end.position !== stored.position && !isMoved
      return isEnd && (isElsewhere || end.id !== stored.id || end.at !== stored.at)
    },
    /** Whether the tree ends at the last event of the log, regardless of its size. */
    isLast: (): boolean => stored?.id === end.id,
  }
}

/**
 * Finds the cause of a difference between the events and the tree over them: up to a valid checkpoint, no event was
 * changed, so the tree was.
 */
export const treeCheck = (db: Database, stored: TreeEnd | undefined, report: (finding: Finding) => void) => {
  const size = stored?.size ?? 0
  const end = endCheck(stored)
  let pending: { readonly ordinal: number; readonly name: string } | undefined
  let isDamaged = false
  const damaged = (ordinal: number, where: string) => {
    if (isDamaged) return
    isDamaged = true
    report({
      of: 'tree',
      ordinal,
      text: `the tree over the log was changed ${where}: no event was. \`linkledger rebuild\` makes it again`,
    })
  }
  /** Takes the differences among the events of a batch that come before a size. */
  const take = (wrong: ReadonlyMap<number, string>, from: number, before: number) => {
    for (const [ordinal, name] of wrong)
      if (!pending && ordinal >= from && ordinal < before) pending = { ordinal, name }
  }
  return {
    /** Compares the hashes of a batch. Returns the events that the tree lacks, by their ordinals. */
    compare: async (hashes: readonly TreeHash[], first: number, events: readonly Named[]) => {
      const { wrong, missing } = await compareHashes(
        db,
        hashes.filter(({ ordinal }) => ordinal < size),
      )
      const leaves = wrong.filter(({ level }) => level === 0).map(({ ordinal }) => ordinal)
      const [lost] = missing
      if (end.isOther(first, events) && !leaves.includes(size - 1))
        damaged(size - 1, `where it ends, at event ${size - 1}`)
      const upper = wrong.find(({ level }) => level > 0)
      if (lost) damaged(lost.ordinal, `at event ${lost.ordinal}`)
      if (upper && leaves.length === 0 && !pending) damaged(upper.ordinal, `above event ${upper.ordinal}`)
      return new Map(leaves.map((ordinal) => [ordinal, nameOfOrdinal(ordinal, events[ordinal - first]!)]))
    },
    take,
    /** No earlier event was changed. */
    clear: () => {
      if (pending) damaged(pending.ordinal, `at ${pending.name}`)
      pending = undefined
    },
    end: (events: number, signed: number) => {
      if (pending)
        report({
          of: 'log',
          ordinal: pending.ordinal,
          text: `${pending.name} is not the one that was added to the tree${pending.ordinal < signed ? '' : ', or the tree was changed there: no checkpoint has the event yet'}`,
        })
      if (events < size && end.isLast()) damaged(events, `where it ends: it has ${size} events`)
      else if (events < size)
        report({
          of: 'log',
          ordinal: events,
          text: `event ${events} is missing: the log ends before it, and its tree has ${size}`,
        })
    },
  }
}
