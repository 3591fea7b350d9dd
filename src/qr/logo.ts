import { decode } from 'jpeg-js'
import { PNG } from 'pngjs'
import { mostPixels, pictureProblem } from './picture.ts'
import { cleanPng, encodePng, isPng } from './png.ts'
import { fitted, type Raster, resize } from './raster.ts'

/** Pixels a side of what is kept. */
const kept = 256

const decoded = (read: () => Raster): Raster => {
  try {
    return read()
  } catch {
    throw new Error('is no readable image')
  }
}
const fromPng = (bytes: Buffer) => {
  const clean = cleanPng(bytes)
  return decoded(() => PNG.sync.read(clean))
}
const fromJpeg = (bytes: Buffer) =>
  decoded(() => decode(bytes, { useTArray: true, maxResolutionInMP: mostPixels ** 2 / 1e6, maxMemoryUsageInMB: 64 }))

/** A PNG of ours, RGBA. */
export const pngOf = ({ width, height, data }: Raster): Buffer => {
  const rows = Buffer.alloc(height * (1 + width * 4))
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * width * 4, (y + 1) * width * 4), y * (1 + width * 4) + 1)
  return encodePng({ width, height, form: 'rgba', rows })
}

export const rasterOf = (png: Uint8Array): Raster => PNG.sync.read(Buffer.from(png))

/**
 * A PNG of at most 256 x 256 pixels, made anew of what can be seen of a PNG or JPEG. Throws with what is wrong (to follow the field's name).
 * It decodes what strangers made: to be called in a worker only.
 */
export const readLogo = (bytes: Buffer): Buffer => {
  const problem = pictureProblem(bytes)
  if (problem !== undefined) throw new Error(problem)
  const picture = isPng(bytes) ? fromPng(bytes) : fromJpeg(bytes)
  if (Math.max(picture.width, picture.height) <= kept) return pngOf(picture)
  const { width, height } = fitted(picture, kept)
  return pngOf(resize(picture, width, height))
}
