import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PendingStreams } from '../../cache/pending.ts'
import { account as accounts } from '../../commands/account.ts'
import type { Handler as CommandHandler } from '../../commands/handle.ts'
import { qr } from '../../commands/qr.ts'
import { parseStreamId } from '../../events/streams.ts'
import type { Drawing } from '../../qr/draw.ts'
import { drawingKey, type Images } from '../../qr/images.ts'
import { Busy } from '../../qr/pool.ts'
import { findPublicQr, type PublicQr } from '../../queries/qr.ts'
import type { Reader } from '../../queries/reader.ts'
import { dataOf, isScanAddress, payload } from '../qraddress.ts'
import { sendPage } from './html.ts'
import { pages } from './pages.ts'
import type { Handler, Redirect } from './redirect.ts'

export interface QrPagesOptions extends Pick<Redirect, 'send' | 'below'> {
  readonly handler: CommandHandler
  readonly reader: Reader
  readonly pending: PendingStreams
  readonly images: Images
  readonly isOwnHost: (host: string) => boolean
  /** the address short links start with, without a trailing slash */
  readonly baseUrl: () => string
}

const path = /^\/qr\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(\/go|\.png|\.svg)?(?:\?(.*))?$/

/** Pixels a side: out of range is clamped, unreadable is as good as not asked for. */
const sizeOf = (query: string | undefined) => {
  const asked = /^\d{1,9}$/.exec(new URLSearchParams(query).get('size') ?? '')?.[0]
  return asked === undefined ? 512 : Math.min(2048, Math.max(64, Number(asked)))
}

/** How much a media type is wished for, 0 to 1: the most specific range that covers it counts (RFC 9110, 12.5.1). */
const quality = (accept: string, type: string) => {
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { name, q: q === undefined ? 1 : Number(q) || 0 }
  })
  const found = [type, 'image/*', '*/*'].map((name) => ranges.find((range) => range.name === name))
  return found.find((range) => range !== undefined)?.q ?? 0
}
/** PNG, unless the address says or the client prefers otherwise. */
const formatOf = ({ headers: { accept = '' } }: IncomingMessage, suffix: string | undefined): Drawing['format'] => {
  if (suffix !== undefined) return suffix === '.svg' ? 'svg' : 'png'
  return quality(accept, 'image/svg+xml') > quality(accept, 'image/png') ? 'svg' : 'png'
}
const mediaTypes = { png: 'image/png', svg: 'image/svg+xml' } as const

const holds = ({ headers }: IncomingMessage, etag: string) =>
  (headers['if-none-match'] ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

/** What a QR code shows to everyone: `/qr/{alias}` is its image, `/qr/{alias}/go` counts a scan of a link and leads to it. */
export const createQrPages = (options: QrPagesOptions): Handler => {
  const { handler, reader, pending, images, isOwnHost, baseUrl, send, below } = options

  const fromStream = async (stream: string, alias: string): Promise<PublicQr | undefined> => {
    const { number: id } = parseStreamId(stream)
    const { state, revision } = await handler.load(qr, id)
    const { status, account, fields } = state
    if (status !== 'open' || fields.alias !== alias) return undefined
    const owner = await handler.load(accounts, account)
    return owner.state.status === 'active' ? { ...fields, id, account, revision: Number(revision) } : undefined
  }

  /** From the tables, or what they are late with from the code's own stream. */
  const find = async (alias: string) => {
    const row = await findPublicQr(reader, alias)
    if (row)
      return pending.has(`qr-${row.id}`) || pending.has(`account-${row.account}`)
        ? fromStream(`qr-${row.id}`, alias)
        : row
    const stream = pending.any() ? await handler.claimant({ kind: 'qr', name: alias }) : undefined
    return stream === undefined ? undefined : fromStream(stream, alias)
  }

  const image = async (req: IncomingMessage, res: ServerResponse, drawing: Drawing) => {
    const etag = `"${drawingKey(drawing)}"`
    const headers = {
      ETag: etag,
      'Cache-Control': 'public, max-age=60',
      Vary: 'Accept',
      'X-Content-Type-Options': 'nosniff',
    }
    if (holds(req, etag)) return void res.writeHead(304, headers).end()
    const body = await images.draw(drawing)
    res.writeHead(200, {
      ...headers,
      'Content-Type': mediaTypes[drawing.format],
      'Content-Length': body.length,
      'Content-Security-Policy': "default-src 'none'; img-src data:",
    })
    res.end(req.method === 'HEAD' ? undefined : body)
  }

  /** The code's own address stands in it, so only a link is counted: what else it holds is read without us. */
  const go = async (req: IncomingMessage, res: ServerResponse, code: PublicQr) => {
    const url = dataOf(code)
    if (code.type !== 'link' || typeof url !== 'string') return false
    if (isScanAddress(url, isOwnHost)) sendPage(req, res, pages.loop)
    else {
      const { id, account, revision } = code
      await send(req, res, { account, link: 0, revision }, { url, rule: 'qr' }, { kind: 'qr', id })
    }
    return true
  }

  return below(async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendPage(req, res, { ...pages.method, headers: { Allow: 'GET, HEAD' } })
      return true
    }
    const [, alias, suffix, query] = path.exec(req.url ?? '') ?? []
    const code = alias === undefined ? undefined : await find(alias.toLowerCase())
    if (!code) return false
    if (suffix === '/go') return go(req, res, code)
    const { foreground, background, logo } = code
    const text = payload(code, baseUrl)
    try {
      await image(req, res, { text, foreground, background, logo, format: formatOf(req, suffix), size: sizeOf(query) })
    } catch (error) {
      if (!(error instanceof Busy)) throw error
      sendPage(req, res, pages.unavailable)
    }
    return true
  })
}
