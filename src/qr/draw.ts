import { type Code, codeOf, quietZone } from './code.ts'
import { rgb } from './color.ts'
import { rasterOf } from './logo.ts'
import { encodePng } from './png.ts'
import { fitted, type Raster, resize } from './raster.ts'

/** Everything that determines the image of a QR code. */
export interface Drawing {
  readonly text: string
  /** `#rrggbb` */
  readonly foreground: string
  readonly background: string
  /** a PNG made by `readLogo`, base64 */
  readonly logo: string | null
  /** identifies a logo that is loaded only when the image has to be drawn; `logo` is then null */
  readonly logoKey?: string
  readonly format: 'png' | 'svg'
  /** pixels per side, including the quiet zone; an image never has fewer pixels than modules */
  readonly size: number
}

/** Returns the layout in pixels. Each module has a whole number of pixels; the rest widens the quiet zone. */
const grid = (code: Code, size: number) => {
  const modules = code.size + 2 * quietZone
  const side = Math.max(size, modules)
  const scale = Math.floor(side / modules)
  const margin = Math.floor((side - code.size * scale) / 2)
  return { side, scale, margin }
}

/** Returns the rows of pixels: copies of `blank` in which `paint` has set the dark pixels. */
const rowsOf = (
  code: Code,
  { side, scale, margin }: ReturnType<typeof grid>,
  blank: Buffer,
  paint: (row: Buffer, x: number) => void,
) => {
  const rows = Buffer.alloc(side * blank.length, blank)
  for (let y = 0; y < code.size; y++) {
    const top = (margin + y * scale) * blank.length
    const row = rows.subarray(top, top + blank.length)
    for (let x = 0; x < code.size * scale; x++) if (code.dark(Math.floor(x / scale), y)) paint(row, margin + x)
    for (let n = 1; n < scale; n++) rows.set(row, top + n * blank.length)
  }
  return rows
}

/** Returns a PNG with a palette of two colors, one bit per pixel. */
const plainPng = (code: Code, { size, foreground, background }: Drawing) => {
  const layout = grid(code, size)
  const blank = Buffer.alloc(1 + Math.ceil(layout.side / 8))
  const rows = rowsOf(code, layout, blank, (row, x) => (row[1 + (x >> 3)]! |= 0x80 >> (x & 7)))
  return encodePng({ width: layout.side, height: layout.side, format: [rgb(background), rgb(foreground)], rows })
}

/** Returns the place of the logo: the free square without its margin of one module. */
const logoBox = ({ from, size }: NonNullable<Code['free']>) => ({ from: from + 1, side: size - 2 })

const pngWithLogo = (code: Code, free: NonNullable<Code['free']>, logo: Raster, drawing: Drawing) => {
  const layout = grid(code, drawing.size)
  const { side, scale, margin } = layout
  const [dark, light] = [rgb(drawing.foreground), rgb(drawing.background)]
  const blank = Buffer.concat([Buffer.alloc(1), Buffer.alloc(side * 3, Buffer.from(light))])
  const rows = rowsOf(code, layout, blank, (row, x) => row.set(dark, 1 + x * 3))
  const box = logoBox(free)
  const { width, height } = fitted(logo, box.side * scale)
  const { data } = resize(logo, width, height)
  const corner = (length: number) => margin + box.from * scale + Math.floor((box.side * scale - length) / 2)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const i = (y * width + x) * 4
      const alpha = data[i + 3]! / 255
      const over = light.map((behind, c) => Math.round(data[i + c]! * alpha + behind * (1 - alpha)))
      rows.set(over, (corner(height) + y) * blank.length + 1 + (corner(width) + x) * 3)
    }
  return encodePng({ width: side, height: side, format: 'rgb', rows })
}

/** Returns an SVG path with one rectangle for each run of dark modules in a row. */
const runs = (code: Code) => {
  const path: string[] = []
  for (let y = 0; y < code.size; y++)
    for (let x = 0; x < code.size; x++) {
      const start = x
      while (x < code.size && code.dark(x, y)) x++
      if (x > start) path.push(`M${start + quietZone} ${y + quietZone}h${x - start}v1h${start - x}z`)
    }
  return path.join('')
}

const svg = (code: Code, { size, foreground, background, logo }: Drawing) => {
  const modules = code.size + 2 * quietZone
  const box = code.free && logoBox(code.free)
  const image =
    box && logo !== null
      ? `<image x="${box.from + quietZone}" y="${box.from + quietZone}" width="${box.side}" height="${box.side}" href="data:image/png;base64,${logo}"/>`
      : ''
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${modules} ${modules}" shape-rendering="crispEdges">` +
    `<rect width="${modules}" height="${modules}" fill="${background}"/><path fill="${foreground}" d="${runs(code)}"/>${image}</svg>`
  )
}

/**
 * Returns the image of a QR code, with its logo in the middle. The text is encoded as a single string, even when a
 * mixed encoding would be shorter.
 */
export const draw = (drawing: Drawing): Buffer => {
  const { text, logo, format } = drawing
  const code = codeOf(text, logo !== null)
  if (format === 'svg') return Buffer.from(svg(code, drawing))
  return code.free && logo !== null
    ? pngWithLogo(code, code.free, rasterOf(Buffer.from(logo, 'base64')), drawing)
    : plainPng(code, drawing)
}
