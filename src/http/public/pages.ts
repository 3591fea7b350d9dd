import { continueButton, hostOf } from './destination.ts'
import { filled, html } from './html.ts'
import { topOf, type WritePage } from './page.ts'
import { formStyle } from './styles/form.ts'
import { listStyle } from './styles/list.ts'
import type { Texts } from './texts/languages.ts'

/** A text of a page, in the language that the visitor turns out to read. */
export type TextOf = (texts: Texts) => string

type MessageName = keyof Texts['messages']

const messagePage =
  (status: number, name: MessageName, headers: Readonly<Record<string, string>> = {}): WritePage =>
  ({ texts }) => {
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
  tooManyRequests: (seconds: number) => messagePage(429, 'tooManyRequests', { 'Retry-After': String(seconds) }),
} satisfies Record<string, WritePage | ((seconds: number) => WritePage)>

export interface LinkList {
  readonly title: string
  /** a link without a host asks for a password first */
  readonly links: readonly { readonly url: string; readonly title: string; readonly host: string | undefined }[]
  /** addresses of the neighboring pages */
  readonly newer: string | undefined
  readonly older: string | undefined
}

/** Returns a page of links, one below the other. */
export const listPage =
  ({ title, links, newer, older }: LinkList): WritePage =>
  ({ texts: { list } }) => ({
    status: 200,
    title,
    styles: [listStyle],
    content: html`<h1 dir="auto">${title}</h1>
      ${links.length === 0 ? html`<p>${list.empty}</p>` : ''}
      <ul class="links">
        ${links.map(
          ({ url, title, host }) =>
            html`<li>
              <a href="${url}" rel="noopener nofollow ugc"
                ><span><b dir="auto">${title}</b><small>${host ?? list.passwordRequired}</small></span></a
              >
            </li>`,
        )}
      </ul>
      ${
        newer || older
          ? html`<nav class="pager">
              ${newer ? html`<a rel="prev" href="${newer}">${list.newer}</a>` : ''}
              ${older ? html`<a rel="next" href="${older}">${list.older}</a>` : ''}
            </nav>`
          : ''
      }`,
  })

/** Returns the password form of a link, with a problem above its button if there is one. */
export const passwordPage =
  (status: 200 | 401 | 429, problemOf?: TextOf, headers: Readonly<Record<string, string>> = {}): WritePage =>
  (view) => {
    const { password } = view.texts
    const problem = problemOf?.(view.texts)
    return {
      status,
      title: problem ?? password.title,
      styles: [formStyle],
      // Chromium applies form-action to the redirects that follow too, and the last of them leads to the link's destination
      formAction: `'self' http: https:`,
      top: topOf(view),
      content: html`<h1>${password.title}</h1>
        <p>${password.text}</p>
        <form method="post">
          <div class="field">
            <label for="password">${password.field}</label>
            ${problem ? html`<p class="error" role="alert">${problem}</p>` : ''}
            <input id="password" name="password" type="password" autocomplete="off" required autofocus />
          </div>
          <p class="actions"><button class="button go">${password.submit}</button></p>
        </form>`,
      headers,
    }
  }

/** Returns the page after an answer, with a link to the URL. */
export const thanksPage =
  (type: keyof Texts['answer']['sent'], url: string): WritePage =>
  ({ texts: { answer } }) => ({
    status: 200,
    title: answer.thanks,
    content: html`<h1>${answer.thanks}</h1>
      <p>${answer.sent[type]}</p>
      <p class="actions">${continueButton(url, filled(answer.continueTo, hostOf(url)))}</p>`,
  })

/** Returns the page for an answer that was refused. */
export const notSentPage =
  (status: 400 | 403 | 413 | 429, problemOf: TextOf, headers: Readonly<Record<string, string>> = {}): WritePage =>
  ({ texts }) => ({
    status,
    title: problemOf(texts),
    styles: [formStyle],
    content: html`<h1>${texts.answer.notSent}</h1>
      <p class="error" role="alert">${problemOf(texts)}</p>
      ${status === 403 || status === 429 ? '' : html`<p>${texts.answer.tryAgain}</p>`}`,
    headers,
  })
