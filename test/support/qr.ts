import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import type { Raster } from '../../src/qr/raster.ts'

export const readPng = (bytes: Uint8Array): Raster => PNG.sync.read(Buffer.from(bytes))

/** Returns the size that the header of a PNG states: to read all pixels of a large one takes a while. */
export const sizeOfPng = (bytes: Buffer) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

/** Returns what a scanner reads in a picture; undefined when it finds no code. */
export const scan = ({ width, height, data }: Raster): string | undefined =>
  jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' })?.data
export const scanPng = (bytes: Uint8Array) => scan(readPng(bytes))

const rgb = (color = '') => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

/**
 * Renders an SVG of ours as pixels: its background, the rectangles of its path, and its logo, at a number of pixels per
 * module.
 */
export const rasterise = (svg: string, scale = 4): Raster => {
  const [, modules = ''] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? []
  const side = Number(modules) * scale
  const data = new Uint8Array(side * side * 4)
  const fill = (
    x: number,
    y: number,
    width: number,
    height: number,
    of: (u: number, v: number) => readonly number[],
  ) => {
    for (let v = 0; v < height * scale; v++)
      for (let u = 0; u < width * scale; u++)
        data.set([...of(u / (width * scale), v / (height * scale)), 255], ((y * scale + v) * side + x * scale + u) * 4)
  }
  const [, background] = /<rect width="\d+" height="\d+" fill="(#[\da-f]{6})"\/>/.exec(svg) ?? []
  const [, foreground, path = ''] = /<path fill="(#[\da-f]{6})" d="([^"]*)"\/>/.exec(svg) ?? []
  fill(0, 0, side / scale, side / scale, () => rgb(background))
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    fill(Number(x), Number(y), Number(width), 1, () => rgb(foreground))
  const [, x, y, width, height, logo] =
    /<image x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" href="data:image\/png;base64,([^"]+)"\/>/.exec(svg) ?? []
  if (logo) {
    const picture = readPng(Buffer.from(logo, 'base64'))
    fill(Number(x), Number(y), Number(width), Number(height), (u, v) => {
      const i = (Math.floor(v * picture.height) * picture.width + Math.floor(u * picture.width)) * 4
      return [...picture.data.subarray(i, i + 3)]
    })
  }
  return { width: side, height: side, data }
}
export const scanSvg = (svg: string) => scan(rasterise(svg))

/** Returns a picture without any pattern that a scanner could recognize. */
export const noise = (width: number, height: number, random: (below: number) => number): Raster => ({
  width,
  height,
  data: Uint8Array.from({ length: width * height * 4 }, (_, i) => (i % 4 === 3 ? 255 : random(256))),
})
