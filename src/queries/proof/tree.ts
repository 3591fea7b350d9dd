import type { Knex } from 'knex'
import type { Range } from '../../lib/transparency/merkle.ts'
import { rootOfRange, tilesOf } from '../../lib/transparency/tiles.ts'
import { readTiles } from '../../projections/proof/tree.ts'

export { readTiles, treeSize } from '../../projections/proof/tree.ts'

/** Returns the roots of ranges of events, from the tiles that have them. Throws `MissingTile`. */
export const rootsOf = async (db: Knex, ranges: readonly Range[]): Promise<readonly Buffer[]> => {
  const tiles = await readTiles(db, tilesOf(ranges))
  return ranges.map((range) => rootOfRange(tiles, range))
}
