import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { refusePicture } from './badpicture.ts'

/** https://www.w3.org/TR/png-3/ */
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const critical: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])

/** Returns whether the bytes begin with the PNG signature. */
export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(signature)

const chunk = (type: string, data: Uint8Array) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

export interface Pixels {
  readonly width: number
  readonly height: number
  /** RGB, RGBA, or two RGB colors, of which one bit per pixel chooses one */
  readonly format: 'rgb' | 'rgba' | readonly [number[], number[]]
  /** each row is a zero (no filter) followed by the pixels, padded to whole bytes */
  readonly rows: Buffer
}

/** Encodes rows of pixels as a PNG. */
export const encodePng = ({ width, height, format, rows }: Pixels): Buffer => {
  const indexed = typeof format !== 'string'
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = indexed ? 1 : 8
  header[9] = indexed ? 3 : format === 'rgb' ? 2 : 6
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...(indexed ? [chunk('PLTE', Buffer.from(format.flat()))] : []),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Returns width and height from IHDR; undefined when IHDR is not the first chunk. */
export const pngSize = (bytes: Buffer) =>
  bytes.length > 33 && bytes.readUInt32BE(8) === 13 && bytes.toString('latin1', 12, 16) === 'IHDR'
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined

const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
/** Adam7: x and y of the first pixel of each pass, then the steps in x and y. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Returns the size of the decompressed pixel data in bytes that IHDR implies. */
const rawSize = (header: Buffer) => {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const bits = (header[8] ?? 0) * (channels[header[9] ?? 1] ?? 0)
  const size = (w: number, h: number) => (w === 0 ? 0 : h * (1 + Math.ceil((w * bits) / 8)))
  if (header[12] === 0) return size(width, height)
  return passes
    .map(([x, y, dx, dy]) => size(Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)))
    .reduce((a, b) => a + b)
}

/**
 * Returns the same picture with its critical chunks only, after checking them: one header, one frame, valid checksums,
 * and as much pixel data as IHDR implies. What is left is safe to decode. Throws `BadPicture`.
 */
export const cleanPng = (bytes: Buffer): Buffer => {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = 8; chunks.at(-1)?.type !== 'IEND';) {
    if (at + 12 > bytes.length) return refusePicture({ what: 'truncated' })
    const end = at + 8 + bytes.readUInt32BE(at)
    if (end + 4 > bytes.length) return refusePicture({ what: 'truncated' })
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return refusePicture({ what: 'checksum' })
    if (type === 'acTL') return refusePicture({ what: 'animated' })
    if (critical.has(type)) chunks.push({ type, data: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  const of = (type: string) => chunks.filter((one) => one.type === type).map(({ data }) => data)
  const [header, ...more] = of('IHDR')
  if (!header || header.length !== 13 || more.length > 0 || chunks[0]?.type !== 'IHDR')
    return refusePicture({ what: 'header' })
  const [packed, size] = [Buffer.concat(of('IDAT')), rawSize(header)]
  if (inflatedSize(packed, size) !== size) return refusePicture({ what: 'size' })
  const [palette, transparency] = [of('PLTE').slice(0, 1), of('tRNS').slice(0, 1)]
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...palette.map((data) => chunk('PLTE', data)),
    ...transparency.map((data) => chunk('tRNS', data)),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Returns the decompressed size, undefined when the data is corrupt or larger than `size`. */
const inflatedSize = (packed: Buffer, size: number) => {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(1, size) }).length
  } catch {
    return undefined
  }
}
