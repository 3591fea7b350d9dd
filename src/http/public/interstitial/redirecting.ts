import { countdown, countdownActions } from './countdown.ts'
import { continueButton, hostMarkup, hostOf, pathOf } from '../page/destination.ts'
import { type Html, html } from '../page/html.ts'
import type { Texts } from '../texts/languages.ts'

/** seconds before a page redirects on which its owner has set no other time */
export const redirectSeconds = 5

/** Returns the title of a page that leads to a URL. */
export const leadsToTitle = ({ redirecting }: Texts, url: string) => `${redirecting.leadsTo} ${hostOf(url)}`

/**
 * Returns where the page leads: the host is its largest text. The script `count` replaces "leads to" with "redirecting
 * to".
 */
const whereTo = ({ redirecting }: Texts, url: string) => {
  const { leadsTo, redirectingTo, notEncrypted } = redirecting
  const path = pathOf(url)
  return html`<h1 class="where">
      <span id="going" data-going="${redirectingTo}" data-title="${redirectingTo} ${hostOf(url)}">${leadsTo}</span>
      ${hostMarkup(url)}
    </h1>
    ${path && html`<p class="path"><bdi class="address" dir="ltr">${path}</bdi></p>`}
    ${url.startsWith('http:') ? html`<p class="small">${notEncrypted}</p>` : ''}`
}

/** Returns the content of a page that says where it leads and waits for a click. */
export const leadsTo = (texts: Texts, url: string, label = texts.redirecting.continue): Html =>
  html`${whereTo(texts, url)}
    <p class="actions">${continueButton(url, label)}</p>`

/**
 * Returns the content of a page that redirects after seconds, by the script `count`, unless the visitor stays. It needs
 * `countdownStyle`.
 */
export const redirecting = (texts: Texts, url: string, seconds: number): Html =>
  html`${whereTo(texts, url)} ${countdown(texts, seconds)} ${countdownActions(texts, url)}`
