import type { Interstitial } from '../../queries/target.ts'
import { type CspDirectives, sourceOf } from './csp.ts'
import { hostOf } from './destination.ts'
import { type Html, html } from './html.ts'
import type { Page } from './page.ts'
import { firing } from './pixels.ts'
import { fire } from './scripts.ts'
import type { Texts } from './texts/languages.ts'

/** A page between a short link and its destination; `interstitialPage` adds the status. */
export type InterstitialPage = Omit<Page, 'status'>

/** Meta tags that describe a link to programs: the Open Graph protocol, https://ogp.me, and the tags that some read in addition. */
export const metaTags = ({ title, description, image }: Pick<Interstitial, 'title' | 'description' | 'image'>) => {
  const named = { description, 'twitter:card': image ? 'summary_large_image' : 'summary' }
  const properties = { 'og:type': 'website', 'og:title': title, 'og:description': description, 'og:image': image }
  const filled = (tags: Readonly<Record<string, string>>) =>
    Object.entries(tags).filter(([, content]) => content !== '')
  return html`${filled(named).map(([name, content]) => html`<meta name="${name}" content="${content}" />`)}
  ${filled(properties).map(([name, content]) => html`<meta property="${name}" content="${content}" />`)}`
}

/** What the pixels of a page need: its markup, its script (an empty string without pixels), and the sources it must allow. */
export interface PixelParts {
  readonly markup: Html | ''
  readonly script: string
  readonly directives: CspDirectives
}

export const pixelParts = ({ pixels }: Pick<Interstitial, 'pixels'>): PixelParts => {
  if (pixels.length === 0) return { markup: '', script: '', directives: {} }
  const { fires, directives } = firing(pixels)
  return { markup: html`<div id="fire" hidden data-fires="${JSON.stringify(fires)}"></div>`, script: fire, directives }
}

/** The bar above a framed destination: its host, and a link to it in case it refuses to be framed. */
export const bar = ({ frame }: Texts, title: string, url: string) =>
  html`<header class="bar">
    <p>${title && html`<b dir="auto" lang="">${title}</b>`}<small dir="ltr">${hostOf(url)}</small></p>
    <a class="button small-one go" href="${url}" rel="noreferrer nofollow ugc">${frame.open}</a>
  </header>`

/** A frame with the fewest rights that pages work with: it cannot navigate the window. */
export const framed = (url: string) =>
  html`<iframe
    src="${url}"
    title="${hostOf(url)}"
    sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"
    referrerpolicy="no-referrer"
  ></iframe>`

/** Allows the destination's own host, and the same host with or without `www.`, to which it often redirects. */
export const frameSource = (url: string): CspDirectives => {
  const { protocol, host } = new URL(url)
  const twin = host.startsWith('www.') ? host.slice(4) : `www.${host}`
  const named = /^[\w.-]+\.[a-z][\w-]*(?::\d+)?$/.test(host)
  return { 'frame-src': [sourceOf(url), ...(named ? [`${protocol}//${twin}`] : [])] }
}
