import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { account as accounts } from '../commands/account.ts'
import type { Handler as CommandHandler } from '../commands/handle.ts'
import { qr } from '../commands/qr.ts'
import { type QrFields, type QrPersonal, QrType } from '../events/qr.ts'
import { contrast } from '../qr/color.ts'
import type { Drawing } from '../qr/draw.ts'
import { drawingKey, type Images } from '../qr/images.ts'
import { nameOf, payloadLimit, payloadOf, type QrData } from '../qr/payload.ts'
import { Busy } from '../qr/pool.ts'
import { findPublicQr, findQr, listQrs, type PublicQr, type QrListRow } from '../queries/qr.ts'
import type { Reader } from '../queries/reader.ts'
import { scanStats } from '../queries/stats.ts'
import { withRandomAlias } from '../commands/alias.ts'
import { fail } from './api/errors.ts'
import type { PendingStreams } from '../cache/pending.ts'
import { deleteRoute, existing, listRoute, owns, readOwned } from './owned.ts'
import { sendPage } from './public/html.ts'
import { pages } from './public/pages.ts'
import { readData } from './qrdata.ts'
import type { Handler, Redirect } from './public/redirect.ts'
import { route, type Services } from './api/route.ts'
import { statistics } from './stats.ts'
import { safeTargetUrl } from '../lib/url.ts'
import { color, must, orEmpty, orInitial, orNone, text, timestamp } from './api/fields.ts'

const label = 'QR code'
const initial = qr.initialState.fields
type Fields = QrFields & QrPersonal

const type = z.enum(QrType.options, { error: must(`one of ${QrType.options.join(', ')}`).error })

/** `rgb(r,g,b)` (CSS Color 4, 5.1, the older syntax) or HEX; stored as `#rrggbb`. */
const colour = z.string(must('a text')).transform((input, context) => {
  const numbers = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/i.exec(input)?.slice(1).map(Number)
  if (numbers?.every((n) => n <= 255)) return `#${numbers.map((n) => n.toString(16).padStart(2, '0')).join('')}`
  const hex = color.safeParse(input)
  if (hex.success) return hex.data
  context.addIssue('must be a colour like rgb(0,0,0), with numbers from 0 to 255, or #000000')
  return z.NEVER
})

const Body = z.object({
  data: z.unknown().optional(),
  foreground: orInitial(colour, initial.foreground).optional(),
  background: orInitial(colour, initial.background).optional(),
  logo: orNone(z.string(must('a text'))).optional(),
  name: orEmpty(text(255)).optional(),
})
type Body = z.output<typeof Body>

export const imageAddress = (alias: string, baseUrl: () => string) => `${baseUrl()}/qr/${alias}`
const scanAddress = (alias: string, baseUrl: () => string) => `${imageAddress(alias, baseUrl)}/go`
/** A scan that leads to a scan would lead in circles. */
const isScanAddress = (url: string, isOwnHost: (host: string) => boolean) => {
  const { hostname, pathname } = new URL(url)
  return isOwnHost(hostname) && pathname.startsWith('/qr/')
}

const dataOf = ({ data }: Pick<Fields, 'data'>): QrData => (data ? (JSON.parse(data) as QrData) : '')
const payload = (fields: Fields, baseUrl: () => string) =>
  payloadOf(fields.type, dataOf(fields), scanAddress(fields.alias, baseUrl))

/** Contrast (WCAG 2.2) below which nothing tells a code from its background; from 4.5:1 on it is read well. */
const leastContrast = 2

/** Fails with what makes a code that nothing could read. */
const readable = (fields: Fields, { baseUrl, isOwnHost }: Services) => {
  const { type, foreground, background } = fields
  const data = dataOf(fields)
  if (type === 'link' && typeof data === 'string' && isScanAddress(data, isOwnHost))
    fail(400, 'data: must not lead to a QR code of this service.')
  const bytes = Buffer.byteLength(payload(fields, baseUrl))
  if (bytes > payloadLimit) fail(400, `data: comes to ${bytes} bytes in the code; it may come to ${payloadLimit}.`)
  const ratio = contrast(foreground, background)
  if (ratio < leastContrast)
    fail(
      400,
      `foreground: is too like the background to be read: their contrast is ${ratio.toFixed(1)}:1 and must be at least ${leastContrast}:1.`,
    )
}

/** What the body changes. A name that was made from the data goes on being made from it. */
const wished = (body: Body, before: Fields, services: Services): Partial<Fields> => {
  const data = readData(before.type, body.data)
  const made = body.name === '' || (body.name === undefined && before.name === nameOf(dataOf(before)))
  const sent = { ...body, data: JSON.stringify(data), name: made ? nameOf(data) : body.name, logo: undefined }
  const changes = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as Partial<Fields>
  readable({ ...before, ...changes }, services)
  return changes
}

const inline = /^data:image\/(?:png|jpe?g);base64,([A-Za-z0-9+/]+=*)$/i
const logoShape = 'must be an http or https address of a PNG or JPEG image, or a data:image/png;base64, or jpeg URL'

/** The picture itself, from its address or from the body. */
const picture = async (logo: string, { guardedFetch }: Services) => {
  const [, data] = inline.exec(logo) ?? []
  if (data !== undefined) return Buffer.from(data, 'base64')
  if (!/^https?:\/\//i.test(logo)) return fail(400, `logo: ${logoShape}.`)
  const safe = safeTargetUrl(logo)
  const fetched = safe.ok ? await guardedFetch(safe.url) : safe
  return fetched.ok ? fetched.body : fail(400, `logo: ${fetched.problem}.`)
}

/** The logo as it is kept; null takes it away, undefined leaves it as it is. Asked for last: it may take seconds. */
const logoOf = async ({ logo }: Body, services: Services): Promise<{ logo?: string | null }> => {
  if (logo === undefined) return {}
  if (logo === null) return { logo }
  const made = await services.images.logo(await picture(logo, services)).catch((error: unknown) => {
    if (error instanceof Busy)
      return fail(503, 'Too many logos are being read just now; try again shortly.', { 'Retry-After': '2' })
    throw error
  })
  return made.ok ? { logo: made.png } : fail(400, `logo: ${made.problem}.`)
}

const present = ({ id, alias, name, scans, created }: QrListRow, { baseUrl }: Services) => ({
  id,
  link: imageAddress(alias, baseUrl),
  scans,
  name: name ?? '',
  date: timestamp(created),
})

export const qrRoutes = [
  listRoute('/api/qr', 'qrs', listQrs, present),

  route({
    method: 'get',
    path: '/api/qr/:id',
    run: async (call, services) => {
      const row = await readOwned(qr, label, findQr, call, services)
      const scans = await scanStats(services.reader, row.id)
      return {
        details: present({ ...row, scans: scans.clicks }, services),
        data: statistics(scans, {}, ['facebook', 'twitter', 'instagram']),
      }
    },
  }),

  route({
    method: 'post',
    path: '/api/qr/add',
    body: Body.extend({ type }),
    run: async ({ account, body, create }, services) => {
      const blank = { ...initial, type: body.type }
      const fields = { ...blank, ...wished(body, blank, services), ...(await logoOf(body, services)) }
      const token = randomUUID()
      const { id, state } = await withRandomAlias((alias) =>
        create('qr', qr, (id) => ({ type: 'Create' as const, id, account, fields: { ...fields, alias }, token })),
      )
      return { id, link: imageAddress(state.fields.alias, services.baseUrl) }
    },
  }),

  route({
    method: 'put',
    path: '/api/qr/:id/update',
    body: Body,
    exists: existing(qr, label),
    run: async ({ account, ids: [id = 0], body, write }, services) => {
      const { fields } = await owns(qr, label, services, account, id)
      const changes = { ...wished(body, fields, services), ...(await logoOf(body, services)) }
      await write(qr, { type: 'Update', id, account, changes })
      return { message: `${label} has been updated.` }
    },
  }),

  deleteRoute('/api/qr/:id/delete', qr, label),
]

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
    const { state, revision } = await handler.load(qr, stream)
    const { status, account, fields } = state
    if (status !== 'open' || fields.alias !== alias) return undefined
    const owner = await handler.load(accounts, `account-${account}`)
    const id = Number(stream.slice('qr-'.length))
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
