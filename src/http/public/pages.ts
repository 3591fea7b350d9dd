import type { BioFields } from '../../events/bio.ts'
import { html, type PageOptions, sourceOf } from './html.ts'

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
  onlyPost: note(405, 'This address only takes answers', 'The form that it belongs to stands on a short link.', {
    Allow: 'POST',
  }),
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
    ...(avatar && { may: { 'img-src': [sourceOf(avatar)] } }),
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
