import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
type Shown = string | number | Html | readonly Html[]
const shown = (value: Shown): string => {
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(shown).join('')
  return String(value).replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/** The one template of all pages: whatever is put in is escaped, for text and for quoted attributes. */
export const html = (parts: TemplateStringsArray, ...values: readonly Shown[]) =>
  new Html(parts.reduce((text, part, i) => text + shown(values[i - 1] ?? '') + part))

const style = `:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100svh;display:grid;place-items:center;padding:1.25rem;font:1.05rem/1.5 system-ui,sans-serif;background:#f6f7f9;color:#1c2430}
main{width:100%;max-width:28rem;background:#fff;border:1px solid #dfe3e8;border-radius:.75rem;padding:clamp(1.25rem,6vw,2rem);overflow-wrap:anywhere}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem}p{margin:.5rem 0 0}.problem{color:#a3231f}a{color:#1d4ed8}
ul{list-style:none;margin:1.25rem 0 0;padding:0}li{border-top:1px solid #dfe3e8}li a{display:block;padding:.75rem 0;text-decoration:none}li a:hover{text-decoration:underline}
small{display:block;color:#5b6675}nav{display:flex;gap:1rem;padding-top:1rem;border-top:1px solid #dfe3e8}
.bio{text-align:center}.bio img{width:6rem;height:6rem;margin-bottom:1rem;border-radius:50%;object-fit:cover;background:#dfe3e8}.bio p{white-space:pre-line}
.bio li{border:0;margin-top:.75rem}.bio li a{padding:.85rem 1rem;border:1px solid #c3cad3;border-radius:.75rem;background:#f6f7f9;color:inherit;font-weight:600}
form{margin-top:1.25rem;display:grid;gap:.75rem}label{font-weight:600}
input,textarea,button,.button{font:inherit;padding:.65rem .8rem;border-radius:.5rem;border:1px solid #8a94a3;width:100%}textarea{resize:vertical}
button,.button{background:#1d4ed8;border-color:#1d4ed8;color:#fff;font-weight:600;cursor:pointer}
.button{display:block;margin-top:1.25rem;text-align:center;text-decoration:none}.trap{position:absolute;left:-99rem}
input:focus-visible,textarea:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#12161c;color:#e6eaf0}main{background:#1b212a}main,li,nav{border-color:#313a46}
.problem{color:#ff9c94}a{color:#8ab4ff}small{color:#a7b1be}
input,textarea{background:#12161c;color:inherit;border-color:#5b6675}.bio li a{background:#242c37;border-color:#465160}.bio img{background:#313a46}}`
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const styleHash = hashOf(style)

/** A style or a script of our own, and the source expression that lets it and nothing else be (CSP 3, 2.3.1). */
export interface Own {
  readonly text: string
  readonly hash: string
}
export const own = (text: string): Own => ({ text, hash: hashOf(text) })

/** What a page may do that others may not: further sources of its Content-Security-Policy, by directive. */
export type May = Readonly<Record<string, readonly string[]>>

/** An address's host as a source of the policy; where it cannot stand for itself there (CSP 3, 2.3.1: an IPv6 address), its scheme. */
export const sourceOf = (url: string) => {
  const { protocol, host, origin } = new URL(url)
  return /^[\w.-]+(?::\d+)?$/.test(host) ? origin : protocol
}

export interface PageOptions {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** what programs are told of it; without it, to pass it by */
  readonly head?: Html
  /** has the whole window instead of a card in its middle */
  readonly wide?: boolean
  readonly may?: May
  /** beside the style of all pages */
  readonly styles?: readonly Own[]
  readonly script?: Own | undefined
  /** where its form may lead, redirects included; to us without it */
  readonly formAction?: string
  readonly headers?: Readonly<Record<string, string>>
  /** told beside the title to who asks for JSON */
  readonly json?: object
}

/** No script, nothing from elsewhere, in nobody's frame, unless the page says so. */
const policy = ({ may = {}, styles = [], script, formAction = `'self'` }: PageOptions) => {
  const { 'script-src': scripts = [], 'style-src': styled = [], ...others } = may
  const directives: May = {
    'default-src': [`'none'`],
    'style-src': [styleHash, ...styles.map(({ hash }) => hash), ...styled],
    ...(script ? { 'script-src': [script.hash, ...scripts] } : {}),
    ...others,
    'form-action': [formAction],
    'base-uri': [`'none'`],
    'frame-ancestors': [`'none'`],
  }
  const given = Object.entries(directives).filter(([, sources]) => sources.length > 0)
  return given.map(([name, sources]) => [name, ...new Set(sources)].join(' ')).join('; ')
}

export const passBy = html`<meta name="robots" content="noindex" />`
// exactly as it was hashed
const element = (name: 'style' | 'script', { text }: Pick<Own, 'text'>) => new Html(`<${name}>${text}</${name}>`)
const start = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`
const document = ({ title, content, head = passBy, wide, styles = [], script }: PageOptions) =>
  shown([
    new Html(start),
    html`<title>${title}</title>`,
    head,
    ...[{ text: style }, ...styles].map((own) => element('style', own)),
    new Html('</head><body>'),
    wide ? content : html`<main>${content}</main>`,
    ...(script ? [element('script', script)] : []),
    new Html('</body></html>'),
  ])

const wantsJson = ({ headers: { accept = '' } }: IncomingMessage) =>
  /\bapplication\/json\b/.test(accept) && !/\btext\/html\b/.test(accept)

/** A page for a person; for who asks for JSON its title, as the API says it. */
export const sendPage = (req: IncomingMessage, res: ServerResponse, page: PageOptions) => {
  const { status, title, headers = {}, json = {} } = page
  const asJson = wantsJson(req)
  const body = asJson ? JSON.stringify({ error: status < 400 ? 0 : 1, message: title, ...json }) : document(page)
  res.writeHead(status, {
    'Content-Type': asJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': policy(page),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
    ...headers,
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}
