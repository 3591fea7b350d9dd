import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

export const chunk = (type: string, data: Uint8Array) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

export interface Header {
  readonly width: number
  readonly height: number
  readonly depth?: number
  /** 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA */
  readonly color?: number
  readonly interlaced?: boolean
}
export const header = ({ width, height, depth = 8, color = 6, interlaced = false }: Header) => {
  const bytes = Buffer.alloc(13)
  bytes.writeUInt32BE(width, 0)
  bytes.writeUInt32BE(height, 4)
  bytes.set([depth, color, 0, 0, interlaced ? 1 : 0], 8)
  return chunk('IHDR', bytes)
}

/** Returns a PNG of these chunks, whether or not they fit together. */
export const pngOfChunks = (...chunks: readonly Buffer[]) =>
  Buffer.concat([signature, ...chunks, chunk('IEND', Buffer.alloc(0))])

/** Returns a PNG whose header may contradict its data; `raw` is the decompressed data. */
export const rawPng = (declared: Header, raw: Buffer, ...before: readonly Buffer[]) =>
  pngOfChunks(header(declared), ...before, chunk('IDAT', deflateSync(raw, { level: 9 })))
