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
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
const shown = (value: string | number | Html) =>
  value instanceof Html ? value.text : String(value).replaceAll(/[&<>"']/g, (character) => entities[character]!)

/** The one template of all pages: whatever is put in is escaped, for text and for quoted attributes. */
export const html = (parts: TemplateStringsArray, ...values: readonly (string | number | Html)[]) =>
  new Html(parts.reduce((text, part, i) => text + shown(values[i - 1] ?? '') + part))

const style = `:root{color-scheme:light dark}*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;font:1.05rem/1.5 system-ui,sans-serif;background:#f6f7f9;color:#1c2430}
main{width:100%;max-width:28rem;background:#fff;border:1px solid #dfe3e8;border-radius:.75rem;padding:2rem}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 .5rem}p{margin:.5rem 0 0}.problem{color:#a3231f}
form{margin-top:1.25rem;display:grid;gap:.75rem}label{font-weight:600}
input,button{font:inherit;padding:.65rem .8rem;border-radius:.5rem;border:1px solid #8a94a3;width:100%}
button{background:#1d4ed8;border-color:#1d4ed8;color:#fff;font-weight:600;cursor:pointer}
input:focus-visible,button:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){body{background:#12161c;color:#e6eaf0}main{background:#1b212a;border-color:#313a46}.problem{color:#ff9c94}
input{background:#12161c;color:inherit;border-color:#5b6675}}`
const styleHash = createHash('sha256').update(style).digest('base64')

/** No script, nothing from elsewhere, in nobody's frame. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

const document = (title: string, content: Html) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">` +
  html`<title>${title}</title><style>${new Html(style)}</style></head><body><main>${content}</main></body></html>`.text

export interface PageOptions {
  readonly status: number
  readonly title: string
  readonly content: Html
  readonly headers?: Readonly<Record<string, string>>
}

const wantsJson = ({ headers: { accept = '' } }: IncomingMessage) =>
  /\bapplication\/json\b/.test(accept) && !/\btext\/html\b/.test(accept)

/** A page for a person; for who asks for JSON its title, as the API says it. */
export const sendPage = (
  req: IncomingMessage,
  res: ServerResponse,
  { status, title, content, headers = {} }: PageOptions,
) => {
  const asJson = wantsJson(req)
  const body = asJson ? JSON.stringify({ error: status < 400 ? 0 : 1, message: title }) : document(title, content)
  res.writeHead(status, {
    'Content-Type': asJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'private, no-store',
    'Content-Security-Policy': policy,
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

export const passwordPage = (
  status: 200 | 401 | 429,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): PageOptions => ({
  status,
  title: problem || 'This link is protected',
  content: html`<h1>This link is protected</h1>
    <p>Enter its password to go on.</p>
    <form method="post">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="off" required autofocus />
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}<button>Go on</button>
    </form>`,
  headers,
})
