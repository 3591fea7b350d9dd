/** A picture in memory: RGBA, eight bits each, not premultiplied. */
export interface Raster {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

/** Returns for each new pixel which old pixels it covers, and how much of each. */
const spans = (from: number, to: number) =>
  Array.from({ length: to }, (_, i) => {
    const [start, end] = [(i * from) / to, ((i + 1) * from) / to]
    const first = Math.floor(start)
    return Array.from({ length: Math.ceil(end) - first }, (_, n) => ({
      at: first + n,
      weight: Math.min(end, first + n + 1) - Math.max(start, first + n),
    }))
  })

/** Resizes a picture. Each new pixel is the mean of the pixels it covers, weighted by opacity. */
export const resize = ({ width, height, data }: Raster, toWidth: number, toHeight: number): Raster => {
  if (toWidth === width && toHeight === height) return { width, height, data }
  const resized = new Uint8Array(toWidth * toHeight * 4)
  const [columns, rows] = [spans(width, toWidth), spans(height, toHeight)]
  rows.forEach((row, y) =>
    columns.forEach((column, x) => {
      let [r, g, b, a, all] = [0, 0, 0, 0, 0]
      for (const { at: sy, weight: wy } of row)
        for (const { at: sx, weight: wx } of column) {
          const i = (sy * width + sx) * 4
          const alpha = data[i + 3]! * wx * wy
          r += data[i]! * alpha
          g += data[i + 1]! * alpha
          b += data[i + 2]! * alpha
          a += alpha
          all += wx * wy
        }
      if (a > 0) resized.set([r / a, g / a, b / a, a / all].map(Math.round), (y * toWidth + x) * 4)
    }),
  )
  return { width: toWidth, height: toHeight, data: resized }
}

/** Returns the largest size with the same aspect ratio that fits into a square. */
export const fitted = ({ width, height }: Pick<Raster, 'width' | 'height'>, side: number) => {
  const scale = side / Math.max(width, height)
  const of = (length: number) => Math.max(1, Math.round(length * scale))
  return { width: of(width), height: of(height) }
}
