import accepts from 'accepts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { contentSecurityPolicy, type CspDirectives, type Inline } from './csp.ts'
import { Html, html } from './html.ts'
import { baseStyle } from './styles.ts'

export interface Page {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** meta tags; default `noIndex` */
  readonly head?: Html
  /** uses the whole window instead of a card in the middle */
  readonly wide?: boolean
  /** what its Content-Security-Policy allows in addition */
  readonly directives?: CspDirectives
  /** in addition to the style of every page */
  readonly styles?: readonly Inline[]
  readonly script?: Inline | undefined
  /** targets that its form may lead to, redirects included; by default this service only */
  readonly formAction?: string
  readonly headers?: Readonly<Record<string, string>>
  /** further fields of the JSON response */
  readonly json?: object
}

export const noIndex = html`<meta name="robots" content="noindex" />`

// the text must stay exactly as it was hashed
const element = (name: 'style' | 'script', { text }: Inline) => new Html(`<${name}>${text}</${name}>`)
const start = new Html(
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`,
)

const document = ({ title, content, head = noIndex, wide, styles = [], script }: Page) => {
  const styleElements = [baseStyle, ...styles].map((style) => element('style', style))
  const body = wide ? content : html`<main>${content}</main>`
  const scriptElement = script ? element('script', script) : ''
  return html`${start}<title>${title}</title>${head}${styleElements}</head><body>${body}${scriptElement}</body></html>`
    .text
}

// clients that send the charset too must not get a page: `accepts` compares the parameters of media types
const mediaTypes = ['html', 'json', 'application/json;charset=utf-8']
const prefersJson = (req: IncomingMessage) => /json/.test(String(accepts(req).types(mediaTypes)))

/** Responds with the page; to a client that prefers JSON, with `{ error, message }` as the API has it: `error` is 1 from status 400 on, `message` the title. */
export const sendPage = (req: IncomingMessage, res: ServerResponse, page: Page) => {
  const { status, title, styles = [], headers = {}, json = {} } = page
  const asJson = prefersJson(req)
  const body = asJson ? JSON.stringify({ error: status < 400 ? 0 : 1, message: title, ...json }) : document(page)
  res.writeHead(status, {
    'Content-Type': asJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': contentSecurityPolicy({ ...page, styles: [baseStyle, ...styles] }),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
    ...headers,
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}
