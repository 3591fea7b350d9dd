import type { BioTarget } from '../../queries/target.ts'
import { sourceOf } from './csp.ts'
import { html } from './html.ts'
import { noIndex, type Page } from './page.ts'
import { texts } from './texts.ts'

type MessageName = keyof typeof texts.messages

const messagePage = (status: number, name: MessageName, headers: Readonly<Record<string, string>> = {}): Page => {
  const { title, text } = texts.messages[name]
  return {
    status,
    title,
    content: html`<h1>${title}</h1>
      <p>${text}</p>`,
    headers,
  }
}

/** Pages that are a heading and a sentence. */
export const pages = {
  home: messagePage(200, 'home'),
  notFound: messagePage(404, 'notFound'),
  expired: messagePage(410, 'expired'),
  loop: messagePage(410, 'loop'),
  methodNotAllowed: messagePage(405, 'methodNotAllowed', { Allow: 'GET, HEAD, POST' }),
  readOnly: messagePage(405, 'methodNotAllowed', { Allow: 'GET, HEAD' }),
  postOnly: messagePage(405, 'postOnly', { Allow: 'POST' }),
  passwordTooLong: messagePage(413, 'passwordTooLong'),
  unavailable: messagePage(503, 'unavailable', { 'Retry-After': '2' }),
  failed: messagePage(500, 'failed'),
} satisfies Record<string, Page>

export interface LinkList {
  readonly title: string
  readonly links: readonly { readonly url: string; readonly title: string; readonly note: string }[]
  /** addresses of the neighboring pages */
  readonly newer: string | undefined
  readonly older: string | undefined
}

/** Returns a page of links, one below the other. */
export const listPage = ({ title, links, newer, older }: LinkList): Page => ({
  status: 200,
  title,
  content: html`<h1 dir="auto">${title}</h1>
    ${links.length === 0 ? html`<p>${texts.list.empty}</p>` : ''}
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
            ${newer ? html`<a rel="prev" href="${newer}">${texts.list.newer}</a>` : ''}
            ${older ? html`<a rel="next" href="${older}">${texts.list.older}</a>` : ''}
          </nav>`
        : ''
    }`,
})

/** The address by which a visitor follows an entry of a bio page, so that the click is counted. */
const entryAddress = (alias: string, entry: number) => `/${alias}/${entry}`

/** Returns a bio page. It loads its picture from the picture's own host, and nothing else from any other host. */
export const bioPage = ({ name, title, alias, description, avatar, links }: BioTarget): Page => {
  const heading = title || name
  return {
    status: 200,
    title: heading,
    ...(avatar && { directives: { 'img-src': [sourceOf(avatar)] } }),
    head: html`<meta name="description" content="${description}" />
      ${avatar && html`<meta property="og:image" content="${avatar}" />`}`,
    // the language and the writing direction of the owner's text are unknown
    content: html`<article class="bio" lang="">
      ${avatar && html`<img src="${avatar}" alt="" width="96" height="96" />`}
      <h1 dir="auto">${heading}</h1>
      ${description && html`<p dir="auto">${description}</p>`}
      <ul>
        ${links.map(({ id, title }) => html`<li><a dir="auto" href="${entryAddress(alias, id)}" rel="noopener nofollow ugc">${title}</a></li>`)}
      </ul>
    </article>`,
  }
}

/** Returns the password form of a link, with a problem above its button if there is one. */
export const passwordPage = (
  status: 200 | 401 | 429,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): Page => ({
  status,
  title: problem || texts.password.title,
  // Chromium applies form-action to the redirects that follow too, and the last of them leads to the link's destination
  formAction: `'self' http: https:`,
  content: html`<h1>${texts.password.title}</h1>
    <p>${texts.password.text}</p>
    <form method="post">
      <label for="password">${texts.password.field}</label>
      <input id="password" name="password" type="password" autocomplete="off" required autofocus />
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}<button>${texts.password.submit}</button>
    </form>`,
  headers,
})

/** Returns the page after an answer. It redirects to the URL after five seconds, long enough to read it. */
export const thanksPage = (type: keyof typeof texts.answer.sent, url: string): Page => ({
  status: 200,
  title: texts.answer.thanks,
  content: html`<h1>${texts.answer.thanks}</h1>
    <p>${texts.answer.sent[type]}</p>
    <a class="button" href="${url}" rel="noreferrer nofollow ugc">${texts.answer.continueTo(new URL(url).host)}</a>`,
  head: html`${noIndex}<meta http-equiv="refresh" content="5;url=${url}" />`,
})

/** Returns the page for an answer that was refused. */
export const notSentPage = (
  status: 400 | 403 | 413 | 429,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): Page => ({
  status,
  title: problem,
  content: html`<h1>${texts.answer.notSent}</h1>
    <p class="problem" role="alert">${problem}</p>
    ${status === 403 || status === 429 ? '' : html`<p>${texts.answer.tryAgain}</p>`}`,
  headers,
})
