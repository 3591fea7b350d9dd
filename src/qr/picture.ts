import { isPng, pngSize } from './png.ts'

/** Pixels a side of a picture that is taken. */
export const mostPixels = 1024

const isJpeg = (bytes: Buffer) => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
const parameterless = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)
/** Baseline, extended sequential, progressive. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xc2

/** Width and height as the first frame header has them (ITU T.81, B.2.2); undefined when there is none before the data. */
const jpegSize = (bytes: Buffer) => {
  for (let at = 2; at + 9 <= bytes.length;) {
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff || marker === 0xda || marker === 0xd9) return undefined
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    // a marker may have any number of ff before it
    if (marker === 0xff) at += 1
    else at += parameterless(marker) ? 2 : 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/** What is wrong with a picture (to follow the field's name), as far as its first bytes tell. Nothing is unpacked for it. */
export const pictureProblem = (bytes: Buffer): string | undefined => {
  if (!isPng(bytes) && !isJpeg(bytes)) return 'must be a PNG or JPEG image'
  const size = isPng(bytes) ? pngSize(bytes) : jpegSize(bytes)
  if (!size || size.width === 0 || size.height === 0) return 'is no readable image'
  return size.width > mostPixels || size.height > mostPixels
    ? `must be at most ${mostPixels} x ${mostPixels} pixels, not ${size.width} x ${size.height}`
    : undefined
}
