import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BioFields } from '../events/bio.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that is HTML already. */
class Html {
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
input,button{font:inherit;padding:.65rem .8rem;border-radius:.5rem;border:1px solid #8a94a3;width:100%}
button{background:#1d4ed8;border-color:#1d4ed8;color:#fff;font-weight:600;cursor:pointer}
input:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#12161c;color:#e6eaf0}main{background:#1b212a}main,li,nav{border-color:#313a46}
.problem{color:#ff9c94}a{color:#8ab4ff}small{color:#a7b1be}
input{background:#12161c;color:inherit;border-color:#5b6675}.bio li a{background:#242c37;border-color:#465160}.bio img{background:#313a46}}`
const styleHash = createHash('sha256').update(style).digest('base64')

/** No script, nothing from elsewhere, in nobody's frame. */
const policy = (formAction: string) =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`

export interface PageOptions {
  readonly status: number
  readonly title: string
  readonly content: Html
  /** what programs are told of it; without it, to pass it by */
  readonly head?: Html
  /** what it may do that others may not: further directives of its Content-Security-Policy */
  readonly may?: string
  /** where its form may lead, redirects included; to us without it */
  readonly formAction?: string
  readonly headers?: Readonly<Record<string, string>>
}

const passBy = html`<meta name="robots" content="noindex" />`
const document = ({ title, content, head = passBy }: PageOptions) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">` +
  html`<title>${title}</title>${head}<style>${new Html(style)}</style></head><body><main>${content}</main></body></html>`
    .text

const wantsJson = ({ headers: { accept = '' } }: IncomingMessage) =>
  /\bapplication\/json\b/.test(accept) && !/\btext\/html\b/.test(accept)

/** A page for a person; for who asks for JSON its title, as the API says it. */
export const sendPage = (req: IncomingMessage, res: ServerResponse, page: PageOptions) => {
  const { status, title, may, formAction = `'self'`, headers = {} } = page
  const asJson = wantsJson(req)
  const body = asJson ? JSON.stringify({ error: status < 400 ? 0 : 1, message: title }) : document(page)
  res.writeHead(status, {
    'Content-Type': asJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': [policy(formAction), ...(may ? [may] : [])].join('; '),
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
    ...headers,
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

const note = (
  status: number,
  title: string,
  explanation: string,
  headers: Readonly<Record<string, string>> = {},
): PageOptions => ({
  status,
  title,
  content: html`<h1>${title}</h1>
    <p>${explanation}</p>`,
  headers,
})

export const pages = {
  home: note(200, 'Linkledger', 'Short links are served here. Add the rest of an address to follow one.'),
  missing: note(404, 'There is no such link', 'The address may be mistyped, or its owner has deleted the link.'),
  expired: note(410, 'This link has expired', 'Its owner set a time after which it leads nowhere.'),
  loop: note(410, 'This link leads nowhere', 'Its destination has become one of this service\u2019s own addresses.'),
  method: note(405, 'This address only takes GET', 'Follow the link in a browser.', { Allow: 'GET, HEAD, POST' }),
  large: note(413, 'That is too long', 'A password has at most 1,024 characters.'),
  unavailable: note(503, 'Just a moment', 'This link cannot be looked up just now. Try again in a few seconds.', {
    'Retry-After': '2',
  }),
  failed: note(500, 'Something went wrong here', 'Try again; if it stays like this, tell the operator.'),
}

export interface ListPage {
  readonly title: string
  readonly links: readonly { readonly url: string; readonly title: string; readonly note: string }[]
  /** addresses of the pages beside it */
  readonly newer: string | undefined
  readonly older: string | undefined
}
/** Links, one below the other. */
export const listPage = ({ title, links, newer, older }: ListPage): PageOptions => ({
  status: 200,
  title,
  content: html`<h1 dir="auto">${title}</h1>
    ${links.length === 0 ? html`<p>There is nothing here just now.</p>` : ''}
    <ul>
      ${links.map(
        ({ url, title, note }) =>
          html`<li>
            <a dir="auto" href="${url}" rel="noopener nofollow ugc">${title}<small>${note}</small></a>
          </li>`,
      )}
    </ul>
    ${
      newer || older
        ? html`<nav>
            ${newer ? html`<a rel="prev" href="${newer}">Newer</a>` : ''}
            ${older ? html`<a rel="next" href="${older}">Older</a>` : ''}
          </nav>`
        : ''
    }`,
})

/** Somebody's page of links. Their picture comes from where it lies, and nothing else from anywhere. */
export const bioPage = ({ name, title, description, avatar, links }: BioFields): PageOptions => {
  const heading = title || name
  return {
    status: 200,
    title: heading,
    ...(avatar && { may: `img-src ${new URL(avatar).origin}` }),
    head: html`<meta name="description" content="${description}" />
      ${avatar && html`<meta property="og:image" content="${avatar}" />`}`,
    // whatever language it is in, and whichever way that is written
    content: html`<article class="bio" lang="">
      ${avatar && html`<img src="${avatar}" alt="" width="96" height="96" />`}
      <h1 dir="auto">${heading}</h1>
      ${description && html`<p dir="auto">${description}</p>`}
      <ul>
        ${links.map(({ title, url }) => html`<li><a dir="auto" href="${url}" rel="noopener nofollow ugc">${title}</a></li>`)}
      </ul>
    </article>`,
  }
}

export const passwordPage = (
  status: 200 | 401 | 429,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): PageOptions => ({
  status,
  title: problem || 'This link is protected',
  // Chromium holds the redirects that follow to it too, and the last of them leads wherever the link does
  formAction: `'self' http: https:`,
  content: html`<h1>This link is protected</h1>
    <p>Enter its password to go on.</p>
    <form method="post">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="off" required autofocus />
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}<button>Go on</button>
    </form>`,
  headers,
})
