import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PNG } from 'pngjs'
import { rgb } from '../../qr/color.ts'
import { hasCached } from './page/etag.ts'

const size = 32
/** an entry, its amount, and the double rule that closes an account: left, top, width and height of each white bar */
const bars = [
  [8, 8, 16, 3],
  [8, 14, 10, 3],
  [8, 21, 16, 2],
  [8, 25, 16, 2],
] as const
const [red = 0, green = 0, blue = 0] = rgb('#0a6349')

const isCorner = (x: number, y: number) => {
  const [dx, dy] = [x, y].map((at) => Math.max(0, 6.5 - at, at - (size - 7.5)))
  return Math.hypot(dx ?? 0, dy ?? 0) > 6.5
}

const draw = () => {
  const image = new PNG({ width: size, height: size })
  for (let at = 0; at < size * size; at++) {
    const [x, y] = [at % size, Math.floor(at / size)]
    const white = bars.some(([left, top, w, h]) => x >= left && x < left + w && y >= top && y < top + h)
    image.data.set([...(white ? [255, 255, 255] : [red, green, blue]), isCorner(x, y) ? 0 : 255], at * 4)
  }
  return PNG.sync.write(image)
}

const icon = draw()
const headers = {
  ETag: `"${createHash('sha256').update(icon).digest('base64url').slice(0, 22)}"`,
  'Cache-Control': 'public, max-age=86400',
  'X-Content-Type-Options': 'nosniff',
}

/** Serves the icon that browsers show beside the title of a page, at `/favicon.ico` of every host. */
export const sendFavicon = (req: IncomingMessage, res: ServerResponse) => {
  if (hasCached(req, headers.ETag)) return void res.writeHead(304, headers).end()
  res.writeHead(200, { ...headers, 'Content-Type': 'image/png', 'Content-Length': icon.length })
  res.end(req.method === 'HEAD' ? undefined : icon)
}
