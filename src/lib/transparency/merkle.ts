import { hash } from 'node:crypto'

/** bytes of a hash: SHA-256 */
export const hashSize = 32

const sha256 = (data: string | Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** Writes a hash into a buffer: a buffer for each hash would take more time than the hash itself. */
const writeSha256 = (data: string | Uint8Array, into: Buffer, at: number) =>
  into.write(hash('sha256', data, 'binary'), at, 'binary')

/** Returns the hash of a leaf of a Merkle tree (RFC 6962, 2.1), given as text. */
export const hashLeaf = (text: string): Buffer => sha256(`\0${text}`)

/** Returns the hashes of leaves, one after another. */
export const hashLeaves = (texts: readonly string[]): Buffer => {
  const hashes = Buffer.allocUnsafe(texts.length * hashSize)
  texts.forEach((text, i) => writeSha256(`\0${text}`, hashes, i * hashSize))
  return hashes
}

/** The first byte distinguishes a node from a leaf. */
const node = Buffer.alloc(1 + 2 * hashSize, 1)

const hashChildren = (left: Uint8Array, right: Uint8Array): Buffer => {
  node.set(left, 1)
  node.set(right, 1 + hashSize)
  return sha256(node)
}

const emptyRoot = sha256('')

/** Returns the root of the tree over hashes, one after another in a buffer. */
export const rootOf = (hashes: Buffer): Buffer => {
  let [level, count] = [hashes, hashes.length / hashSize]
  if (count === 0) return emptyRoot
  while (count > 1) {
    const parents = Buffer.allocUnsafe(Math.ceil(count / 2) * hashSize)
    for (let i = 0; i + 1 < count; i += 2) {
      const at = i * hashSize
      level.copy(node, 1, at, at + 2 * hashSize)
      writeSha256(node, parents, at / 2)
    }
    // the last one has no partner and moves up as it is
    if (count % 2 === 1) parents.set(level.subarray(-hashSize), parents.length - hashSize)
    ;[level, count] = [parents, Math.ceil(count / 2)]
  }
  return Buffer.from(level)
}

/** A run of leaves: the first one, and the one after the last. */
export type Range = readonly [start: number, end: number]

/** The largest power of two that is smaller than a number of leaves. */
const splitOf = (count: number) => {
  let half = 1
  while (half * 2 < count) half *= 2
  return half
}

/** Returns the ranges whose roots prove that a leaf is in a tree, from the leaf to the root (RFC 6962, 2.1.1). */
export const inclusionRanges = (index: number, size: number): readonly Range[] => {
  const path = (start: number, end: number): Range[] => {
    if (end - start <= 1) return []
    const middle = start + splitOf(end - start)
    return index < middle ? [...path(start, middle), [middle, end]] : [...path(middle, end), [start, middle]]
  }
  return path(0, size)
}

/** Returns the ranges whose roots prove that a tree begins with a smaller one (RFC 6962, 2.1.2). */
export const consistencyRanges = (first: number, second: number): readonly Range[] => {
  const proof = (count: number, start: number, end: number, isWhole: boolean): Range[] => {
    if (count === end - start) return isWhole ? [] : [[start, end]]
    const half = splitOf(end - start)
    const middle = start + half
    return count <= half
      ? [...proof(count, start, middle, isWhole), [middle, end]]
      : [...proof(count - half, middle, end, false), [start, middle]]
  }
  return first === 0 || first >= second ? [] : proof(first, 0, second, true)
}

/** Returns the root that a proof of inclusion leads to, undefined when its length does not fit. */
export const rootByInclusion = (
  leaf: Buffer,
  index: number,
  size: number,
  path: readonly Buffer[],
): Buffer | undefined => {
  if (index >= size || path.length !== inclusionRanges(index, size).length) return undefined
  let root = leaf
  let [at, last] = [index, size - 1]
  for (const sibling of path) {
    if (at % 2 === 1 || at === last) {
      root = hashChildren(sibling, root)
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else root = hashChildren(root, sibling)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return root
}

/**
 * Returns the roots that a proof of consistency leads to (RFC 9162, 2.1.4.2): those of the first and of the second
 * tree. Undefined when its length does not fit. `root` is that of the first tree, which no proof repeats when it is
 * complete.
 */
export const rootsByConsistency = (
  first: number,
  second: number,
  root: Buffer,
  path: readonly Buffer[],
): readonly [first: Buffer, second: Buffer] | undefined => {
  if (path.length !== consistencyRanges(first, second).length) return undefined
  if (first === second) return [root, root]
  if (first === 0 || first > second) return undefined
  let [at, last] = [first - 1, second - 1]
  while (at % 2 === 1) [at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  const [start, ...rest] = at === 0 ? [root, ...path] : path
  let [old, now] = [start!, start!]
  for (const hash of rest) {
    if (at % 2 === 1 || at === last) {
      ;[old, now] = [hashChildren(hash, old), hashChildren(hash, now)]
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)]
    } else now = hashChildren(now, hash)
    ;[at, last] = [Math.floor(at / 2), Math.floor(last / 2)]
  }
  return [old, now]
}

/** A complete subtree: it has 2^level leaves, and `index` others of its size are before it. */
export interface Subtree {
  readonly level: number
  readonly index: number
}

/** Returns the complete subtrees that make up a range which a proof asks for, from left to right. */
export const subtreesOf = ([start, end]: Range): readonly Subtree[] => {
  const parts: Subtree[] = []
  for (let at = start; at < end;) {
    let [level, size] = [0, 1]
    while (at % (size * 2) === 0 && at + size * 2 <= end) [level, size] = [level + 1, size * 2]
    parts.push({ level, index: at / size })
    at += size
  }
  return parts
}

/** Returns the root over complete subtrees of falling size, as `subtreesOf` returns them. */
export const joinSubtrees = (roots: readonly Buffer[]): Buffer =>
  roots.length === 0 ? emptyRoot : roots.reduceRight((right, left) => hashChildren(left, right))

/**
 * Computes the roots of a growing tree, with a hash for each power of two. `onComplete` gets the root of each complete
 * subtree, by the power of two that is the number of its leaves.
 */
export const growingTree = (onComplete: (level: number, root: Buffer) => void = () => {}) => {
  const complete: { readonly level: number; readonly root: Buffer }[] = []
  return {
    add: (leaf: Buffer) => {
      let [level, root] = [0, leaf]
      onComplete(level, root)
      while (complete.at(-1)?.level === level) {
        ;[level, root] = [level + 1, hashChildren(complete.pop()!.root, root)]
        onComplete(level, root)
      }
      complete.push({ level, root })
    },
    root: () => joinSubtrees(complete.map(({ root }) => root)),
  }
}
