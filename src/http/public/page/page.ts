import accepts from 'accepts'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { compress } from './compress.ts'
import { contentSecurityPolicy, type CspDirectives, type Inline } from './csp.ts'
import { hasCached } from './etag.ts'
import { around, Html, html } from './html.ts'
import { baseStyle } from '../styles/base.ts'
import { type Operator, type Requested, type View, viewOf } from './view.ts'

export interface Page {
  readonly status: number
  readonly title: string
  /** above the content: which link was opened (`topOf`) */
  readonly top?: Html
  /** what the page says; between `top` and the foot, which names the operator */
  readonly content: Html
  /** meta tags; default `noIndex` */
  readonly head?: Html
  /** the content is the whole body: it has its own landmarks, and the page has no foot */
  readonly wide?: boolean
  /** of the body */
  readonly className?: string
  /** what its Content-Security-Policy allows in addition */
  readonly directives?: CspDirectives
  /** in addition to the style of every page */
  readonly styles?: readonly Inline[]
  readonly script?: Inline | undefined
  /** targets that its form may lead to, redirects included; by default this service only */
  readonly formAction?: string
  readonly headers?: Readonly<Record<string, string>>
  /** browsers may keep the page, and ask whether it has changed */
  readonly cacheable?: boolean
  /** further fields of the JSON response */
  readonly json?: object
}

/** Returns a page in the language of a visitor. */
export type WritePage = (view: View) => Page
/**
 * Responds with the page; to a client that prefers JSON, with `{ error, message }` as the API has it: `error` is 1 from
 * status 400 on, `message` the title.
 */
export type SendPage = (req: IncomingMessage, res: ServerResponse, write: WritePage) => void

export const noIndex = html`<meta name="robots" content="noindex" />`

/** Returns the line above the content of a page that belongs to a link: its address. */
export const topOf = ({ texts, address }: View) =>
  html`<header class="top">
    <span>${texts.anatomy.shortLink} <bdi class="address">${address}</bdi></span>
  </header>`

/** Returns where a link can be reported; undefined on a page that belongs to none. */
const reportAddress = ({ address, host }: View, status: number) => {
  const path = address.slice(host.length)
  const isLink = path.length > 1 && !path.startsWith('/report') && status !== 404 && status !== 405 && status < 500
  return isLink ? `/report?link=${encodeURIComponent(address)}` : undefined
}

/** Returns whom to ask: the operator, and the addresses that the settings have. */
const footOf = (view: View, status: number) => {
  const { texts, operator } = view
  const { anatomy } = texts
  const { name, email, privacy, imprint } = operator
  const links: readonly (readonly [url: string | undefined, label: string | undefined])[] = [
    [email && `mailto:${email}`, email],
    [reportAddress(view, status), texts.report.title],
    [privacy, anatomy.privacy],
    [imprint, anatomy.imprint],
  ]
  const items = links.flatMap(([url, label]) => (url && label ? html`<li><a href="${url}">${label}</a></li>` : []))
  return html`<footer class="foot">
    <p>${around(anatomy.servedBy, html`<b>${name}</b>`)}</p>
    ${
      items.length > 0
        ? html`<nav aria-label="${anatomy.about}">
            <ul>
              ${items}
            </ul>
          </nav>`
        : ''
    }
  </footer>`
}

// the text must stay exactly as it was hashed
const element = (name: 'style' | 'script', { text }: Inline) => new Html(`<${name}>${text}</${name}>`)
const charset = new Html(
  `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`,
)

/** Returns a page as HTML. */
export const renderPage = (page: Page, view: View) => {
  const { status, title, top = '', content, head = noIndex, wide, className, styles = [], script } = page
  const styleElements = [baseStyle, ...styles].map((style) => element('style', style))
  const body = wide
    ? content
    : html`${top}
        <main class="main">${content}</main>
        ${footOf(view, status)}`
  const scriptElement = script ? element('script', script) : ''
  const classes = className ? html` class="${className}"` : ''
  return html`<!doctype html><html lang="${view.texts.lang}">${charset}<title>${title}</title>${head}${styleElements}</head><body${classes}>${body}${scriptElement}</body></html>`
    .text
}

// clients that send the charset too must not get a page: `accepts` compares the parameters of media types
const mediaTypes = ['html', 'json', 'application/json;charset=utf-8']
const prefersJson = (req: IncomingMessage) => /json/.test(String(accepts(req).types(mediaTypes)))

const bodyHeaders = (body: Buffer, encoding: string | undefined, asJson: boolean) => ({
  'Content-Type': asJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
  'Content-Length': body.length,
  ...(encoding && { 'Content-Encoding': encoding }),
})
// weak: the same page has several encodings
const etagOf = (text: string) => `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`

/**
 * Returns how the pages of a service are sent: each in the visitor's language, with what is known of the operator.
 * `hostOf` names the host of a request, and says whether its paths are exact aliases.
 */
export const createSendPage =
  (operator: Operator, hostOf: (req: IncomingMessage) => Requested): SendPage =>
  (req, res, write) => {
    const asJson = prefersJson(req)
    const view = viewOf(req, operator, { asJson, ...hostOf(req) })
    const page = write(view)
    const { status, title, styles = [], headers = {}, json = {} } = page
    if (req.method === 'OPTIONS' && headers['Allow']) return void res.writeHead(204, headers).end()
    const text = asJson
      ? JSON.stringify({ error: status < 400 ? 0 : 1, message: title, ...json })
      : renderPage(page, view)
    const { body, encoding } = asJson ? { body: Buffer.from(text) } : compress(req, text)
    const etag = page.cacheable ? { ETag: etagOf(text), 'Cache-Control': 'private, no-cache' } : {}
    const cached = etag.ETag !== undefined && hasCached(req, etag.ETag)
    res.writeHead(cached ? 304 : status, {
      'Cache-Control': 'private, no-store',
      ...(cached ? {} : bodyHeaders(body, encoding, asJson)),
      ...etag,
      'Content-Security-Policy': contentSecurityPolicy({ ...page, styles: [baseStyle, ...styles] }),
      // what runs on a page reaches no other window of this host
      'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept, Accept-Encoding, Accept-Language',
      ...headers,
    })
    res.end(req.method === 'HEAD' || cached ? undefined : body)
  }
