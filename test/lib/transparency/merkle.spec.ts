import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { canonical } from '../../../src/lib/transparency/canonical.ts'
import {
  consistencyRanges,
  growingTree,
  hashLeaf,
  inclusionRanges,
  type Range,
  rootByInclusion,
  rootOf,
  rootsByConsistency,
} from '../../../src/lib/transparency/merkle.ts'
import {
  checkpointText,
  createSigner,
  parseCheckpoint,
  parseNote,
  parseVerifier,
} from '../../../src/lib/transparency/note.ts'
import {
  emptyEdge,
  growEdge,
  keyOfTile,
  parseTilePath,
  rootOfRange,
  tilePath,
  tilesOf,
} from '../../../src/lib/transparency/tiles.ts'

/** The leaves of the test vectors that implementations of RFC 6962 share. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const leaves = inputs.map((hex) =>
  createHash('sha256')
    .update(Buffer.from(`00${hex}`, 'hex'))
    .digest(),
)
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const rootIn = (hashes: readonly Buffer[], [start, end]: Range) => rootOf(Buffer.concat(hashes.slice(start, end)))
const hex = (hash: Buffer | undefined) => hash?.toString('hex')

describe('the Merkle tree', () => {
  it('has the roots of the vectors of RFC 6962', () => {
    roots.forEach((root, size) => {
      expect(hex(rootIn(leaves, [0, size]))).to.equal(root)
      const growing = growingTree()
      leaves.slice(0, size).forEach(growing.add)
      expect(hex(growing.root())).to.equal(root)
    })
    expect(hex(hashLeaf(''))).to.equal(roots[1])
  })

  it('proves inclusion and consistency as in the vectors of RFC 6962', () => {
    const path = (ranges: readonly Range[]) => ranges.map((range) => hex(rootIn(leaves, range))?.slice(0, 8))
    expect(path(inclusionRanges(0, 1))).to.deep.equal([])
    expect(path(inclusionRanges(0, 8))).to.deep.equal(['96a296d2', '5f083f0a', '6b47aaf2'])
    expect(path(inclusionRanges(5, 8))).to.deep.equal(['bc1a0643', 'ca854ea1', 'd37ee418'])
    expect(path(inclusionRanges(2, 3))).to.deep.equal(['fac54203'])
    expect(path(inclusionRanges(1, 5))).to.deep.equal(['6e340b9c', '5f083f0a', 'bc1a0643'])
    expect(path(consistencyRanges(1, 1))).to.deep.equal([])
    expect(path(consistencyRanges(1, 8))).to.deep.equal(['96a296d2', '5f083f0a', '6b47aaf2'])
    expect(path(consistencyRanges(6, 8))).to.deep.equal(['0ebc5d34', 'ca854ea1', 'd37ee418'])
    expect(path(consistencyRanges(2, 5))).to.deep.equal(['5f083f0a', 'bc1a0643'])
  })

  it('accepts the proof of each leaf of trees of all sizes, and no other', () => {
    const many = Array.from({ length: 40 }, (_, i) => hashLeaf(String(i)))
    for (let size = 1; size <= many.length; size++)
      for (let index = 0; index < size; index++) {
        const path = inclusionRanges(index, size).map((range) => rootIn(many, range))
        const root = hex(rootIn(many, [0, size]))
        expect(hex(rootByInclusion(many[index]!, index, size, path))).to.equal(root)
        expect(hex(rootByInclusion(hashLeaf('x'), index, size, path))).not.to.equal(root)
        expect(rootByInclusion(many[index]!, index, size, [...path, many[0]!])).to.equal(undefined)
        expect(rootByInclusion(many[index]!, size, size, path)).to.equal(undefined)
      }
  })

  it('accepts the proof that one tree begins with another, and no other', () => {
    const many = Array.from({ length: 34 }, (_, i) => hashLeaf(String(i)))
    for (let second = 1; second <= many.length; second++)
      for (let first = 1; first <= second; first++) {
        const [old, now] = [rootIn(many, [0, first]), rootIn(many, [0, second])]
        const path = consistencyRanges(first, second).map((range) => rootIn(many, range))
        expect(rootsByConsistency(first, second, old, path)?.map(hex)).to.deep.equal([hex(old), hex(now)])
        expect(rootsByConsistency(first, second, old, [...path, old])).to.equal(undefined)
        if (path.length === 0) continue
        expect(rootsByConsistency(first, second, old, path.slice(1))).to.equal(undefined)
        const [a, b] = rootsByConsistency(first, second, old, path.with(-1, hashLeaf('x')))!
        expect([hex(a), hex(b)]).not.to.deep.equal([hex(old), hex(now)])
      }
    expect(rootsByConsistency(2, 1, many[0]!, [])).to.equal(undefined)
  })

  it('is kept in tiles from which every root and proof is computed, however it has grown', () => {
    const all = Array.from({ length: 66_000 }, (_, i) => hashLeaf(String(i)))
    const tiles = new Map<string, Buffer>()
    let edge = emptyEdge
    for (const step of [1, 254, 1, 1, 300, 5000, 60_000, 443]) {
      const next = growEdge(edge, all.slice(edge.size, edge.size + step))
      edge = next.edge
      for (const tile of next.grown) tiles.set(keyOfTile(tile), tile.hashes)
      const ranges: Range[] = [[0, Math.min(edge.size, 5557)], ...inclusionRanges(Math.floor(edge.size / 3), edge.size)]
      // what a proof reads is enough to compute it
      const read = new Map(tilesOf(ranges).map((tile) => [keyOfTile(tile), tiles.get(keyOfTile(tile))!]))
      for (const range of ranges.slice(0, 6)) expect(hex(rootOfRange(read, range))).to.equal(hex(rootIn(all, range)))
    }
    expect(hex(rootOfRange(tiles, [0, edge.size]))).to.equal(hex(rootIn(all, [0, edge.size])))
    expect(edge.size).to.equal(all.length)
    expect(tiles.get('2/0')?.length).to.equal(32)
  })

  it('names tiles as C2SP tlog-tiles does', () => {
    expect(tilePath({ level: 0, number: 1234067 })).to.equal('tile/0/x001/x234/067')
    expect(tilePath({ level: 1, number: 0 }, 8)).to.equal('tile/1/000.p/8')
    for (const path of ['tile/0/x001/x234/067', 'tile/1/000.p/8', 'tile/0/999', 'tile/5/x001/000.p/255']) {
      const { width, ...tile } = parseTilePath(path)!
      expect(tilePath(tile, width)).to.equal(path)
    }
    for (const path of [
      'tile/0/x000/001',
      'tile/0/1',
      'tile/0/000.p/256',
      'tile/0/000.p/0',
      'tile/00/000',
      'tile/0/000/',
    ])
      expect(parseTilePath(path), path).to.equal(undefined)
  })
})

describe('a signed note', () => {
  // the vectors of golang.org/x/mod/sumdb/note, which C2SP signed-note describes
  const name = 'PeterNeumann'
  const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
  const key = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
  const text =
    'If you think cryptography is the answer to your problem,\n' + "then you don't know what your problem is.\n"
  const signed =
    `${text}\n— PeterNeumann ` +
    'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n'

  it('is signed and verified as in the vectors of C2SP signed-note', () => {
    const signer = createSigner(name, seed)
    expect(signer.publicKey).to.equal(key)
    expect(signer.sign(text)).to.equal(signed)
    expect(parseNote(signed)?.text).to.equal(text)
    expect(parseVerifier(key)?.verifies(parseNote(signed)!)).to.equal(true)
  })

  it('is refused when the text, the name or the key is another one', () => {
    const verifies = (note: string, by = key) => {
      const parsed = parseNote(note)
      return parsed === undefined ? undefined : parseVerifier(by)?.verifies(parsed)
    }
    expect(verifies(signed.replace('you', 'we'))).to.equal(false)
    expect(verifies(signed.replace('— Peter', '— Paul'))).to.equal(false)
    expect(verifies(signed, createSigner('other', seed).publicKey)).to.equal(false)
    expect(verifies(signed.trimEnd())).to.equal(undefined)
    expect(verifies('no signature\n')).to.equal(undefined)
    expect(parseVerifier(key.replace('c74f20a3', 'c74f20a4'))).to.equal(undefined)
    expect(parseVerifier('x')).to.equal(undefined)
  })

  it('is a checkpoint when it has an origin, a size and a root, as in C2SP tlog-checkpoint', () => {
    const checkpoint = { origin: 'example.com/log', size: 20852163, root: hashLeaf('') }
    expect(parseCheckpoint(checkpointText(checkpoint))).to.deep.equal(checkpoint)
    expect(checkpointText(checkpoint)).to.equal(
      'example.com/log\n20852163\nbjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=\n',
    )
    for (const wrong of ['', 'x\n1\n', 'x\n-1\nbjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=\n', 'x\n1\nAAAA\n'])
      expect(parseCheckpoint(wrong), wrong).to.equal(undefined)
  })
})

describe('canonical JSON', () => {
  it('is written as in the examples of RFC 8785', () => {
    const value: unknown = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    )
    expect(canonical(value)).to.equal(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
    const sorted = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 }
    expect(Object.values(JSON.parse(canonical(sorted)) as object)).to.have.length(7)
    expect(canonical(sorted)).to.equal('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  it('omits undefined values, orders numbers in keys as text, and refuses values that JSON cannot express', () => {
    expect(canonical({ b: undefined, a: { '10': 1, '9': [] }, c: -0 })).to.equal('{"a":{"10":1,"9":[]},"c":0}')
    expect(() => canonical({ a: Number.NaN })).to.throw(TypeError)
    for (let n = 0; n < 150; n++) expect(canonical({ [`z${n}`]: 1, a: n })).to.equal(`{"a":${n},"z${n}":1}`)
  })
})
