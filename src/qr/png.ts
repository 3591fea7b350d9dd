import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** https://www.w3.org/TR/png-3/ */
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const critical: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])

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
  /** RGB, RGBA, or one bit a pixel that is an index into two RGB colours */
  readonly form: 'rgb' | 'rgba' | readonly [number[], number[]]
  /** every row with a zero (no filter) in front, and whole bytes */
  readonly rows: Buffer
}

export const encodePng = ({ width, height, form, rows }: Pixels): Buffer => {
  const indexed = typeof form !== 'string'
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = indexed ? 1 : 8
  header[9] = indexed ? 3 : form === 'rgb' ? 2 : 6
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...(indexed ? [chunk('PLTE', Buffer.from(form.flat()))] : []),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Width and height as IHDR has them; undefined when it does not stand where it must. */
export const pngSize = (bytes: Buffer) =>
  bytes.length > 33 && bytes.readUInt32BE(8) === 13 && bytes.toString('latin1', 12, 16) === 'IHDR'
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined

const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
/** Adam7: where each pass begins, and its steps. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Bytes that the picture's data has to come to, by its IHDR. */
const rawSize = (header: Buffer) => {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const bits = (header[8] ?? 0) * (channels[header[9] ?? 1] ?? 0)
  const size = (w: number, h: number) => (w === 0 ? 0 : h * (1 + Math.ceil((w * bits) / 8)))
  if (header[12] === 0) return size(width, height)
  return passes
    .map(([x, y, dx, dy]) => size(Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)))
    .reduce((a, b) => a + b)
}

const bad = (why: string): never => {
  throw new Error(`is no readable PNG: ${why}`)
}

/**
 * The same picture written anew, of nothing but its critical chunks, each of which is what it says it is: so much data as IHDR announces,
 * one header, one frame. A decoder has no surprises with it. Throws with what is wrong (to follow the field's name).
 */
export const cleanPng = (bytes: Buffer): Buffer => {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = 8; chunks.at(-1)?.type !== 'IEND';) {
    if (at + 12 > bytes.length) return bad('it is cut off')
    const end = at + 8 + bytes.readUInt32BE(at)
    if (end + 4 > bytes.length) return bad('it is cut off')
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return bad('a checksum is wrong')
    if (type === 'acTL') throw new Error('must not be animated')
    if (critical.has(type)) chunks.push({ type, data: bytes.subarray(at + 8, end) })
    at = end + 4
  }
  const of = (type: string) => chunks.filter((one) => one.type === type).map(({ data }) => data)
  const [header, ...more] = of('IHDR')
  if (!header || header.length !== 13 || more.length > 0 || chunks[0]?.type !== 'IHDR')
    return bad('it has no one header')
  const [packed, size] = [Buffer.concat(of('IDAT')), rawSize(header)]
  if (inflated(packed, size) !== size) return bad('its data is not of the size that its header announces')
  const [colours, transparency] = [of('PLTE').slice(0, 1), of('tRNS').slice(0, 1)]
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    ...colours.map((data) => chunk('PLTE', data)),
    ...transparency.map((data) => chunk('tRNS', data)),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Never unpacks more than it is to be. */
const inflated = (packed: Buffer, size: number) => {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(1, size) }).length
  } catch {
    return undefined
  }
}
