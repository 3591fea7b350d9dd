import { hostMarkup, hostOf, pathOf } from './destination.ts'
import { html } from './html.ts'
import type { Texts } from './texts/languages.ts'

/** Returns the title of a page that leads to a URL. */
export const leadsToTitle = ({ redirecting }: Texts, url: string) => `${redirecting.leadsTo} ${hostOf(url)}`

/** Returns where the page leads: the host is its largest text. The scripts replace "leads to" with "redirecting to". */
export const whereTo = ({ redirecting }: Texts, url: string) => {
  const { leadsTo, redirectingTo } = redirecting
  const path = pathOf(url)
  return html`<h1 class="where">
      <span id="going" data-going="${redirectingTo}" data-title="${redirectingTo} ${hostOf(url)}">${leadsTo}</span>
      ${hostMarkup(url)}
    </h1>
    ${path && html`<p class="path"><bdi class="address" dir="ltr">${path}</bdi></p>`}`
}
