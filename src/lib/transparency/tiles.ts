import { hashSize, joinSubtrees, type Range, rootOf, type Subtree, subtreesOf } from './merkle.ts'

/** hashes in a full tile (C2SP tlog-tiles) */
export const tileWidth = 256
/** levels of the tree in a tile */
const tileHeight = 8
export const tileBytes = tileWidth * hashSize

/** A tile: `level` counts tiles from the leaves up, `number` from the first leaf on. */
export interface TileName {
  readonly level: number
  readonly number: number
}
/** Returns a tile as the key of a map. */
export const keyOfTile = ({ level, number }: TileName) => `${level}/${number}`

/** Returns how many hashes a tile has in a tree of a size. */
export const widthIn = (size: number, { level, number }: TileName): number => {
  const hashes = Math.floor(size / tileWidth ** level)
  return Math.max(0, Math.min(tileWidth, hashes - number * tileWidth))
}

/**
 * Returns which tile has the root of a complete subtree, and at which byte; undefined when it is computed from those
 * below it.
 */
export const placeInTile = ({ level, index }: Subtree): (TileName & { readonly at: number }) | undefined =>
  level % tileHeight === 0
    ? {
        level: level / tileHeight,
        number: Math.floor(index / tileWidth),
        at: (index % tileWidth) * hashSize,
      }
    : undefined

const split = ({ level, index }: Subtree) => {
  const count = 2 ** (level % tileHeight)
  const first = index * count
  const tile = { level: Math.floor(level / tileHeight), number: Math.floor(first / tileWidth) }
  return { tile, first: first % tileWidth, count }
}

/** Returns the tiles that have the hashes of these ranges. */
export const tilesOf = (ranges: readonly Range[]): readonly TileName[] => {
  const tiles = ranges.flatMap((range) => subtreesOf(range).map((subtree) => split(subtree).tile))
  return [...new Map(tiles.map((tile) => [keyOfTile(tile), tile])).values()]
}

/** A tile that a proof needs is missing or too short. */
export class MissingTile extends Error {
  override readonly name = 'MissingTile'
}

/** Returns the root of a range of leaves, from tiles by `keyOfTile`. Throws `MissingTile`. */
export const rootOfRange = (tiles: ReadonlyMap<string, Buffer>, range: Range): Buffer =>
  joinSubtrees(
    subtreesOf(range).map((subtree) => {
      const { tile, first, count } = split(subtree)
      const hashes = tiles.get(keyOfTile(tile))?.subarray(first * hashSize, (first + count) * hashSize)
      if (hashes?.length !== count * hashSize)
        throw new MissingTile(`the tile ${keyOfTile(tile)} is missing or too short`)
      return rootOf(hashes)
    }),
  )

const digits = (number: number) => String(number).padStart(3, '0')

/** Returns a number as the path of a tile has it: 1234067 is `x001/x234/067`. */
const pathOf = (number: number): string => {
  const groups = [digits(number % 1000)]
  for (let rest = Math.floor(number / 1000); rest > 0; rest = Math.floor(rest / 1000))
    groups.unshift(`x${digits(rest % 1000)}`)
  return groups.join('/')
}

/** Returns the path of a tile with so many hashes, below the prefix of the log. */
export const tilePath = ({ level, number }: TileName, width = tileWidth): string =>
  `tile/${level}/${pathOf(number)}${width === tileWidth ? '' : `.p/${width}`}`

/**
 * Returns the tile and its number of hashes that a path names, undefined when it is not written in the one right way.
 */
export const parseTilePath = (path: string): (TileName & { readonly width: number }) | undefined => {
  const [, level, numbers = '', partial] =
    /^tile\/(\d{1,2})\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? []
  if (level === undefined) return undefined
  const tile = { level: Number(level), number: Number(numbers.replace(/[x/]/g, '')) }
  const width = partial === undefined ? tileWidth : Number(partial)
  return tilePath(tile, width) === path && width > 0 && width <= tileWidth ? { ...tile, width } : undefined
}

/** The right edge of a tree: its size, and the tile of each level that is not full. */
export interface Edge {
  readonly size: number
  readonly tiles: readonly Buffer[]
}
export const emptyEdge: Edge = { size: 0, tiles: [] }

/** A tile that has grown. */
export interface GrownTile extends TileName {
  readonly hashes: Buffer
}

/** Adds hashes of leaves to the edge of a tree. Returns the new edge, and every tile that has changed. */
export const growEdge = (
  edge: Edge,
  leaves: readonly Buffer[],
): { readonly edge: Edge; readonly grown: readonly GrownTile[] } => {
  const tiles: Buffer[] = []
  const grown: GrownTile[] = []
  let added = leaves
  for (let level = 0; added.length > 0 || level < edge.tiles.length; level++) {
    let number = Math.floor(edge.size / tileWidth ** (level + 1))
    let hashes = Buffer.concat([edge.tiles[level] ?? Buffer.alloc(0), ...added])
    const isChanged = added.length > 0
    const roots: Buffer[] = []
    for (; hashes.length >= tileBytes; hashes = hashes.subarray(tileBytes)) {
      const full = Buffer.from(hashes.subarray(0, tileBytes))
      grown.push({ level, number: number++, hashes: full })
      roots.push(rootOf(full))
    }
    const partial = Buffer.from(hashes)
    tiles.push(partial)
    if (isChanged && partial.length > 0) grown.push({ level, number, hashes: partial })
    added = roots
  }
  return { edge: { size: edge.size + leaves.length, tiles }, grown }
}
