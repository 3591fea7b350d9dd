import { hostOf } from './destination.ts'
import { around, filled, type Html, html } from './html.ts'
import type { WritePage } from './page.ts'
import { formStyle } from '../styles/form.ts'
import { listStyle } from '../styles/list.ts'
import { dayIn, type Texts } from '../texts/languages.ts'
import type { View } from './view.ts'

/** A text of a page, in the language that the visitor turns out to read. */
export type TextOf = (texts: Texts) => string

type MessageName = keyof Texts['messages']

/**
 * How the address that was opened is shown below the heading: it works, it no longer leads anywhere, or its alias may
 * be misspelled.
 */
type AddressForm = 'plain' | 'over' | 'misspelled'

const asked = ({ address, host }: View, how: AddressForm = 'plain') => {
  const path = address.slice(host.length + 1)
  const text = how === 'misspelled' && path ? html`${host}/<u>${path}</u>` : html`${address}`
  const line = html`<bdi class="address">${text}</bdi>`
  return html`<p class="asked">${how === 'over' ? html`<s>${line}</s>` : line}</p>`
}

/** Returns what the visitor can do: a sentence, or a list of them. */
export const nextSteps = ({ help }: Texts, steps: readonly Html[]) => {
  if (steps.length === 0) return html``
  const list =
    steps.length === 1
      ? html`<p>${steps}</p>`
      : html`<ul>
          ${steps.map((step) => html`<li>${step}</li>`)}
        </ul>`
  return html`<section class="next">
    <h2>${help.next}</h2>
    ${list}
  </section>`
}

/** Returns the button that opens the same address again. */
export const tryAgain = ({ help }: Texts, className: 'button' | 'button go') =>
  html`<a class="${className}" href="">${help.tryAgain}</a>`

interface MessageOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** shows the address that was opened */
  readonly shows?: AddressForm
}

const messagePage =
  (status: number, name: MessageName, { headers = {}, shows }: MessageOptions = {}): WritePage =>
  (view) => {
    const { title, text, next } = view.texts.messages[name]
    const steps = (next ?? []).map((step) => html`${step}`)
    return {
      status,
      title,
      content: html`<h1>${title}</h1>
        ${shows ? asked(view, shows) : ''}
        <p>${text}</p>
        ${nextSteps(view.texts, steps)}`,
      headers,
    }
  }

/** Pages that are a heading, a sentence, and what the visitor can do. */
export const pages = {
  notFound: messagePage(404, 'notFound', { shows: 'misspelled' }),
  loop: messagePage(410, 'loop', { shows: 'over' }),
  methodNotAllowed: messagePage(405, 'methodNotAllowed', { headers: { Allow: 'GET, HEAD, POST, OPTIONS' } }),
  readOnly: messagePage(405, 'methodNotAllowed', { headers: { Allow: 'GET, HEAD, OPTIONS' } }),
  postOnly: messagePage(405, 'postOnly', { headers: { Allow: 'POST, OPTIONS' } }),
  passwordTooLong: messagePage(413, 'passwordTooLong'),
} satisfies Record<string, WritePage>

/** Returns the page for a network that sends too many requests: how many seconds it must wait. */
export const tooManyRequestsPage = (seconds: number) =>
  messagePage(429, 'tooManyRequests', { headers: { 'Retry-After': String(seconds) } })

const homeWith =
  (link: (texts: Texts) => Html | string): WritePage =>
  ({ texts, host }) => ({
    status: 200,
    cacheable: true,
    title: host,
    json: { message: texts.messages.home.title },
    content: html`<h1>${host}</h1>
      <p>${texts.messages.home.text}</p>
      ${link(texts)}`,
  })
/** The page at the root of a branded domain. */
export const homePage = homeWith(() => '')
/** That of the service's own host leads to the dashboard, which no other host has. */
export const mainHomePage = homeWith(({ account }) => html`<p><a href="/dashboard">${account.created.open}</a></p>`)

/**
 * Returns the page of a link that has ended: when (null: it was opened as often as it may be), and where its owner's
 * own site is, if the domain names one.
 */
export const endedPage =
  (expiry: Date | null, site = ''): WritePage =>
  (view) => {
    const { messages, help } = view.texts
    const { title, text, next } = expiry ? messages.expired : messages.usedUp
    const day = expiry && html`<time datetime="${expiry.toISOString()}">${dayIn(view.texts, expiry)}</time>`
    return {
      status: 410,
      title,
      content: html`<h1>${title}</h1>
        ${asked(view, 'over')}
        <p>${day ? around(text, day) : text}</p>
        ${nextSteps(
          view.texts,
          (next ?? []).map((step) => html`${step}`),
        )}
        ${site && html`<p class="actions"><a class="button go" href="${site}" rel="noreferrer nofollow ugc">${filled(help.goTo, hostOf(site))}</a></p>`}`,
    }
  }

/** Returns the page of a failure on our side, with the reference that its log line has, if it has one. */
export const failurePage =
  (name: 'unavailable' | 'failed', reference?: string): WritePage =>
  (view) => {
    const { messages, help } = view.texts
    const { title, text } = messages[name]
    const mark = html`<bdi class="reference">${reference ?? ''}</bdi>`
    return {
      status: name === 'unavailable' ? 503 : 500,
      title,
      ...(name === 'unavailable' && { headers: { 'Retry-After': '2' } }),
      ...(reference && { json: { reference } }),
      content: html`<h1>${title}</h1>
        ${asked(view)}
        <p>${text}</p>
        <p class="actions">${tryAgain(view.texts, 'button go')}</p>
        ${reference ? html`<p class="next small">${around(help.reference, mark)}</p>` : ''}`,
    }
  }

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
    cacheable: true,
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

/** Returns the page for an answer that was not read: the form cannot be shown again. */
export const notSentPage =
  (status: 403 | 413 | 429, problemOf: TextOf, headers: Readonly<Record<string, string>> = {}): WritePage =>
  ({ texts }) => ({
    status,
    title: problemOf(texts),
    styles: [formStyle],
    content: html`<h1>${texts.answer.notSent}</h1>
      <p class="error" role="alert">${problemOf(texts)}</p>
      ${status === 413 ? html`<p>${texts.answer.tryAgain}</p>` : ''}`,
    headers,
  })

/** The page for a form that was on a page of another site. */
export const otherSitePage: WritePage = notSentPage(403, ({ messages }) => messages.postOnly.text)
