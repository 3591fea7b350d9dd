import { decode } from 'jpeg-js'
import { PNG } from 'pngjs'
import { BadPicture, refusePicture } from './badpicture.ts'
import { maxSide, pictureProblem } from './picture.ts'
import { cleanPng, encodePng, isPng } from './png.ts'
import { fitted, type Raster, resize } from './raster.ts'

/** Maximum width and height of a stored logo, in pixels. */
const storedSide = 256

const decoded = (read: () => Raster): Raster => {
  try {
    return read()
  } catch {
    return refusePicture()
  }
}
const fromPng = (bytes: Buffer) => {
  const clean = cleanPng(bytes)
  return decoded(() => PNG.sync.read(clean))
}
const fromJpeg = (bytes: Buffer) =>
  decoded(() => decode(bytes, { useTArray: true, maxResolutionInMP: maxSide ** 2 / 1e6, maxMemoryUsageInMB: 64 }))

/** Encodes a picture as a PNG in RGBA. */
export const pngOf = ({ width, height, data }: Raster): Buffer => {
  const rows = Buffer.alloc(height * (1 + width * 4))
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * width * 4, (y + 1) * width * 4), y * (1 + width * 4) + 1)
  return encodePng({ width, height, format: 'rgba', rows })
}

/** Decodes a PNG that `pngOf` has made. */
export const rasterOf = (png: Uint8Array): Raster => PNG.sync.read(Buffer.from(png))

/**
 * Decodes a PNG or JPEG and returns its pixels as a new PNG of at most 256 x 256 pixels. Throws `BadPicture`. The input
 * is untrusted: call this in a worker only.
 */
export const readLogo = (bytes: Buffer): Buffer => {
  const wrong = pictureProblem(bytes)
  if (wrong) throw new BadPicture(wrong)
  const picture = isPng(bytes) ? fromPng(bytes) : fromJpeg(bytes)
  if (Math.max(picture.width, picture.height) <= storedSide) return pngOf(picture)
  const { width, height } = fitted(picture, storedSide)
  return pngOf(resize(picture, width, height))
}
