import type { Interstitial } from '../../../queries/links/target.ts'
import { frameHosts } from '../../../lib/framing.ts'
import { type CspDirectives, sourceOf } from '../page/csp.ts'
import { hostMarkup, hostOf } from '../page/destination.ts'
import { around, type Html, html } from '../page/html.ts'
import type { Page } from '../page/page.ts'
import type { View } from '../page/view.ts'

/** A page between a short link and its destination; `interstitialPage` adds the status. */
export type InterstitialPage = Omit<Page, 'status'>

/**
 * Meta tags that describe a link to programs: the Open Graph protocol, https://ogp.me, and the tags that some read in
 * addition.
 */
export const metaTags = (
  { title, description, image }: Pick<Interstitial, 'title' | 'description' | 'image'>,
  card = image ? 'summary_large_image' : 'summary',
) => {
  const named = { description, 'twitter:card': card }
  const properties = { 'og:type': 'website', 'og:title': title, 'og:description': description, 'og:image': image }
  const filled = (tags: Readonly<Record<string, string>>) =>
    Object.entries(tags).filter(([, content]) => content !== '')
  return html`${filled(named).map(([name, content]) => html`<meta name="${name}" content="${content}" />`)}
  ${filled(properties).map(([name, content]) => html`<meta property="${name}" content="${content}" />`)}`
}

/**
 * The bar above a framed destination: its host, the short link that shows it, links to report it and to open it, and
 * what is said about measurement. Nothing in it is the owner's choice.
 */
export const bar = ({ texts: { frame }, address }: View, url: string, choice: Html | '' = '') =>
  html`<header class="bar">
    <div>
      <h1>${hostMarkup(url)}</h1>
      ${address && html`<p>${around(frame.shownBy, html`<bdi dir="ltr">${address}</bdi>`)}</p>`}
    </div>
    ${
      address &&
      html`<a href="/report?link=${encodeURIComponent(address)}" aria-label="${frame.report}"
        ><span class="wide">${frame.report}</span><span class="narrow">${frame.reportShort}</span></a
      >`
    }
    <a class="button small-one" href="${url}" rel="noreferrer nofollow ugc" aria-label="${frame.open}"
      ><span class="wide">${frame.open}</span><span class="narrow">${frame.openShort}</span></a
    >
    ${choice}
  </header>`

/**
 * What the destination may do in its frame, as a visitor expects of it: links with `target=_top`, downloads, new
 * windows (payments, logins) and full screen. It cannot navigate the window by itself, only after a click or a key, and
 * cannot open dialogs in our name.
 */
const rights = [
  'allow-scripts',
  'allow-same-origin',
  'allow-forms',
  'allow-downloads',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-top-navigation-by-user-activation',
]

export const framed = (url: string) =>
  html`<iframe
    src="${url}"
    title="${hostOf(url)}"
    sandbox="${rights.join(' ')}"
    allow="fullscreen *"
    referrerpolicy="no-referrer"
  ></iframe>`

/** Allows the destination's own hosts. One that has no place in a source expression is allowed by its scheme. */
export const frameSource = (url: string): CspDirectives => ({
  'frame-src': frameHosts(url).map((host) => sourceOf(`${new URL(url).protocol}//${host}`)),
})
