import type { IncomingMessage, ServerResponse } from 'node:http'
import QuickLRU from 'quick-lru'
import type { Blocks } from '../../cache/blocks.ts'
import type { Ordinals } from '../../events/ordinals.ts'
import { withTimeout } from '../../lib/async/timeout.ts'
import { containedHeader } from '../api/past/past.ts'
import type { Drawing } from '../../qr/draw.ts'
import { drawingKey, type Images, LogoMissing } from '../../qr/images.ts'
import { Busy } from '../../qr/pool.ts'
import { findInlineLogo, type PublicQr, qrPrefix } from '../../queries/qr/qr.ts'
import type { Reader } from '../../queries/reader.ts'
import type { ImageStore } from '../../security/images.ts'
import { addressesIn, dataOf, isScanAddress, payload } from '../qr/address.ts'
import { clientAddress, networkOf, type TrustedProxies } from '../../lib/address.ts'
import { withRequestedHost } from '../api/ownaddress.ts'
import { blockedPage } from './blocked.ts'
import { createBudget } from './budget.ts'
import { hasCached } from './page/etag.ts'
import { aliasesIn, findOwnLink, type OwnLinkOptions } from './link/ownlink.ts'
import { withMark } from './link/scan.ts'
import type { SendPage } from './page/page.ts'
import { failurePage, pages, tooManyRequestsPage } from './page/messages.ts'
import type { Redirect } from './redirect.ts'
import { type PublicHandler, redirectTo } from './responses.ts'

export interface QrPagesOptions extends Pick<Redirect, 'send' | 'isOpen' | 'withPrefix'>, OwnLinkOptions {
  readonly blocks: Pick<Blocks, 'destination'>
  readonly sendPage: SendPage
  readonly reader: Reader
  readonly images: Images
  readonly imageStore: Pick<ImageStore, 'find'>
  readonly ordinals: Pick<Ordinals, 'of'>
  /** Called once an hour for a code whose logo is missing. */
  readonly onLogoMissing: (code: Pick<PublicQr, 'qr' | 'account' | 'logoHash'>) => void
  readonly isMainHost: (host: string) => boolean
  readonly isOurHost: (host: string) => boolean
  /** key of the marks of scans */
  readonly pepper: Buffer
  /** the clock that links begin and end by, in ms since 1970 */
  readonly now: () => number
  readonly trustProxy: TrustedProxies
  /** Returns the address that short links start with, without a trailing slash. */
  readonly baseUrl: () => string
}

const path = /^\/qr\/([A-Za-z0-9][A-Za-z0-9_-]{0,63})(\/go|\.png|\.svg)?(?:\?(.*))?$/

/** pixels per side: each further size would be one more image of each code to draw */
const sizes = [64, 128, 256, 512, 1024, 2048] as const

/**
 * Returns the smallest size that has at least the requested pixels per side; a value that is not a number counts as not
 * given.
 */
export const sizeOf = (query: string | undefined) => {
  const given = /^\d{1,9}$/.exec(new URLSearchParams(query).get('size') ?? '')?.[0]
  return given === undefined ? 512 : (sizes.find((size) => size >= Number(given)) ?? 2048)
}

/** images that one network may have drawn in a minute; those that are cached do not count */
const drawingLimit = 200

/**
 * Returns the quality of a media type, 0 to 1: that of the most specific range that covers it (RFC 9110, 12.5.1).
 * Written here because `accepts` ranks types of equal quality by specificity, by which Chrome's `image/svg+xml,image/*`
 * would prefer SVG.
 */
const qualityOf = (accept: string, type: string) => {
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { name, q: q === undefined ? 1 : Number(q) || 0 }
  })
  const found = [type, 'image/*', '*/*'].map((name) => ranges.find((range) => range.name === name))
  return found.find((range) => range !== undefined)?.q ?? 0
}

/** PNG, unless the address has a suffix or the client prefers SVG. */
export const formatOf = (
  { headers: { accept = '' } }: IncomingMessage,
  suffix: string | undefined,
): Drawing['format'] => {
  if (suffix !== undefined) return suffix === '.svg' ? 'svg' : 'png'
  return qualityOf(accept, 'image/svg+xml') > qualityOf(accept, 'image/png') ? 'svg' : 'png'
}
export const mediaTypes = { png: 'image/png', svg: 'image/svg+xml' } as const

/** An image, and the drawing that it shows. */
interface Drawn {
  readonly drawing: Drawing
  readonly body: Buffer
}

export const headersOf = (drawing: Drawing) => ({
  ETag: `"${drawingKey(drawing)}"`,
  'Cache-Control': 'public, max-age=60',
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
})

const sendImage = async (
  req: IncomingMessage,
  res: ServerResponse,
  wanted: Drawing,
  draw: (drawing: Drawing) => Promise<Drawn>,
  contained: Readonly<Record<string, string>>,
) => {
  const cached = { ...headersOf(wanted), ...contained }
  if (hasCached(req, cached.ETag)) return void res.writeHead(304, cached).end()
  const { drawing, body } = await draw(wanted)
  res.writeHead(200, {
    ...headersOf(drawing),
    ...contained,
    'Content-Type': mediaTypes[drawing.format],
    'Content-Length': body.length,
    'Content-Security-Policy': "default-src 'none'; img-src data:",
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** Returns what identifies the logo of a QR code, for HTTP caches and the cache of images, without reading the logo. */
export const logoKey = ({ logoHash, hasInlineLogo, qr, revision }: PublicQr) =>
  logoHash ?? (hasInlineLogo ? `inline-${qr}-${revision}` : undefined)

type Drawers = Pick<QrPagesOptions, 'images' | 'imageStore' | 'reader' | 'onLogoMissing'>

/** Returns a function that draws a QR code, without its logo if that is missing. */
const createDraw = ({ images, imageStore, reader, onLogoMissing }: Drawers) => {
  const findLogo = ({ account, logoHash, qr }: PublicQr) =>
    logoHash ? imageStore.find(account, logoHash) : findInlineLogo(reader, qr)
  const reported = new QuickLRU<string, true>({ maxSize: 1000, maxAge: 3_600_000 })
  const report = ({ qr, account, logoHash }: PublicQr) => {
    const logo = `${account}/${logoHash}`
    if (!reported.has(logo)) onLogoMissing({ qr, account, logoHash })
    reported.set(logo, true)
  }
  return (code: PublicQr, source: string) =>
    async (wanted: Drawing): Promise<Drawn> => {
      try {
        return { drawing: wanted, body: await images.draw(wanted, () => findLogo(code), source) }
      } catch (error) {
        if (!(error instanceof LogoMissing)) throw error
        report(code)
        const { logoKey: _, ...drawing } = wanted
        return { drawing, body: await images.draw(drawing, undefined, source) }
      }
    }
}

/** ms that an image waits for the number of the code's last change */
const numberTimeoutMs = 50

/**
 * Returns a function that says which events the image of a code contains, as answers of the API do; nothing while
 * PostgreSQL does not answer.
 */
const createContained = ({ ordinals }: Pick<QrPagesOptions, 'ordinals'>) => {
  const known = new QuickLRU<bigint, number>({ maxSize: 10_000 })
  const look = async (position: bigint) => {
    const found = (await ordinals.of([position])).get(position)
    if (found !== undefined) known.set(position, found)
    return found
  }
  return async ({ position }: PublicQr): Promise<Readonly<Record<string, string>>> => {
    const number = known.get(position) ?? (await withTimeout(numberTimeoutMs, look(position)).catch(() => undefined))
    return number === undefined ? {} : { [containedHeader]: `domain=${number}, clicks=0` }
  }
}

type Following = Pick<
  QrPagesOptions,
  'targets' | 'domains' | 'isMainHost' | 'isOurHost' | 'isOpen' | 'pepper' | 'now' | 'blocks' | 'sendPage' | 'send'
>

/**
 * Returns what answers a scan. One that leads to a link of the same account is counted there, where the link decides by
 * its own rules. Only codes of type `link` have this address: the others contain their content.
 */
const createFollowScan = (options: Following) => {
  const { blocks, isMainHost, isOurHost, isOpen, pepper, now, sendPage, send } = options

  const openLink = async (req: IncomingMessage, url: URL, account: number) => {
    const aliases = withRequestedHost(req, isOurHost)(url.host) ? aliasesIn(url, options.domains) : []
    const link = await findOwnLink(options, { host: url.host, aliases }, account)
    return link && (await isOpen(link)) ? link.link : undefined
  }

  return async (req: IncomingMessage, res: ServerResponse, code: PublicQr) => {
    const url = dataOf(code)
    if (code.type !== 'link' || typeof url !== 'string') return false
    const { qr: id, account, revision } = code
    if (isScanAddress(url, withRequestedHost(req, isMainHost))) sendPage(req, res, pages.loop)
    else if (blocks.destination(url)) sendPage(req, res, blockedPage)
    else {
      const link = await openLink(req, new URL(url), account)
      if (link !== undefined) redirectTo(res, withMark(pepper, url, { code: id, link }, now()))
      else await send(req, res, { account, link: 0, revision }, { url, rule: 'qr' }, { kind: 'qr', id })
    }
    return true
  }
}

/**
 * Serves the public addresses of QR codes: `/qr/{alias}` is the image, `/qr/{alias}/go` counts a scan and redirects to
 * the destination.
 */
export const createQrPages = (options: QrPagesOptions): PublicHandler => {
  const { blocks, sendPage, images, baseUrl, targets, trustProxy, withPrefix } = options
  const draw = createDraw(options)
  const contained = createContained(options)
  const followScan = createFollowScan(options)
  const spendDrawing = createBudget(drawingLimit, trustProxy)

  return withPrefix(async (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendPage(req, res, pages.readOnly)
      return true
    }
    const [, alias, suffix, query] = path.exec(req.url ?? '') ?? []
    const code = alias === undefined ? undefined : await targets.get(null, qrPrefix + alias.toLowerCase())
    if (!code || !('qr' in code)) return false
    // without its key the content is unknown, not empty
    if (code.data === null) {
      sendPage(req, res, failurePage('unavailable'))
      return true
    }
    if (suffix === '/go') return followScan(req, res, code)
    // the image of any other type leads there by itself
    if (code.type !== 'link' && addressesIn(dataOf(code)).some((address) => blocks.destination(address))) {
      sendPage(req, res, blockedPage)
      return true
    }
    const { foreground, background } = code
    const text = payload(code, baseUrl)
    const plain = { text, foreground, background, logo: null, format: formatOf(req, suffix), size: sizeOf(query) }
    const logo = logoKey(code)
    const drawing = logo === undefined ? plain : { ...plain, logoKey: logo }
    const wait = hasCached(req, headersOf(drawing).ETag) || images.has(drawing) ? 0 : spendDrawing(req)
    if (wait > 0) {
      sendPage(req, res, tooManyRequestsPage(wait))
      return true
    }
    try {
      const drawn = draw(code, networkOf(clientAddress(req, trustProxy)))
      await sendImage(req, res, drawing, drawn, await contained(code))
    } catch (error) {
      if (!(error instanceof Busy)) throw error
      sendPage(req, res, failurePage('unavailable'))
    }
    return true
  })
}
