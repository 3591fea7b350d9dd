import { problem, type Problem } from '../lib/problems/problem.ts'
import { isPng, pngSize } from './png.ts'

/** Maximum width and height of an uploaded picture, in pixels. */
export const maxSide = 1024

const isJpeg = (bytes: Buffer) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
const parameterless = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
/** Baseline, extended sequential and progressive JPEG. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xc2

/**
 * Returns width and height from the first frame header (ITU T.81, B.2.2); undefined when none precedes the image data.
 */
const jpegSize = (bytes: Buffer) => {
  for (let at = 2; at + 9 <= bytes.length;) {
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff || marker === 0xda || marker === 0xd9) return undefined
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    // any number of ff bytes may precede a marker
    if (marker === 0xff) at += 1
    else at += parameterless(marker) ? 2 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/** Returns what is wrong with a picture, judged by its header alone: nothing is decompressed. */
export const pictureProblem = (bytes: Buffer): Problem | undefined => {
  if (!isPng(bytes) && !isJpeg(bytes)) return problem('bad_picture', { what: 'type' })
  const size = isPng(bytes) ? pngSize(bytes) : jpegSize(bytes)
  if (!size || size.width === 0 || size.height === 0) return problem('bad_picture')
  return size.width > maxSide || size.height > maxSide
    ? problem('too_large', { what: 'picture', max: maxSide, ...size })
    : undefined
}
