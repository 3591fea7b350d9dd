import type { Interstitial } from '../../queries/target.ts'
import { html, type May, own, type PageOptions, sourceOf } from './html.ts'
import { firing } from './pixels.ts'
import { fire } from './scripts.ts'

/** A page on the way: all but its status. */
export type WayPage = Omit<PageOptions, 'status'>

export const hostOf = (url: string) => new URL(url).host

/** What programs are told of a link: the Open Graph protocol, https://ogp.me, and what some read beside it. */
export const told = ({ title, description, image }: Interstitial) => {
  const named = { description, 'twitter:card': image ? 'summary_large_image' : 'summary' }
  const properties = { 'og:type': 'website', 'og:title': title, 'og:description': description, 'og:image': image }
  const given = (of: object) => Object.entries(of).filter((entry): entry is [string, string] => entry[1] !== '')
  return html`${given(named).map(([name, content]) => html`<meta name="${name}" content="${content}" />`)}
  ${given(properties).map(([name, content]) => html`<meta property="${name}" content="${content}" />`)}`
}

/** Leads on without script, after whole seconds. */
export const refresh = (url: string, seconds: number) =>
  html`<noscript><meta http-equiv="refresh" content="${seconds};url=${url}" /></noscript>`

/** Of one page what several give: their directives together. */
export const mergePolicies = (...all: readonly May[]): May =>
  Object.fromEntries(
    [...new Set(all.flatMap((may) => Object.keys(may)))].map((name) => [name, all.flatMap((may) => may[name] ?? [])]),
  )

/** The pixels of a page: its markup, its script, and what it has to let them. */
export const pixelsOf = ({ pixels }: Interstitial) => {
  if (pixels.length === 0) return { mark: '', script: '', may: {} }
  const { fires, may } = firing(pixels)
  return { mark: html`<div id="fire" hidden data-fires="${JSON.stringify(fires)}"></div>`, script: fire, may }
}

export const wideStyle =
  own(`body{display:flex;flex-direction:column;align-items:stretch;height:100vh;height:100dvh;min-height:0;padding:0}
.bar{display:flex;align-items:center;gap:.75rem;padding:.45rem .75rem;background:#fff;border-bottom:1px solid #dfe3e8;font-size:.95rem;line-height:1.3}
.bar p{flex:1;min-width:0;margin:0;overflow-wrap:anywhere}.bar b{display:block;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar small{font-size:.85rem}.bar a,.hint a{flex:none;padding:.4rem .8rem;border-radius:.5rem;background:#1d4ed8;color:#fff;font-weight:600;text-decoration:none}
.stage{position:relative;flex:1;min-height:0}iframe{display:block;width:100%;height:100%;border:0;background:#fff}
.hint{display:grid;place-content:center;justify-items:center;gap:1rem;height:100%;padding:1.25rem;text-align:center}.hint p{margin:0}
@media(prefers-color-scheme:dark){.bar{background:#1b212a;border-color:#313a46}}`)

/** Where it leads stands above it, and a way there for when it does not let itself be framed. */
export const bar = (title: string, url: string) =>
  html`<header class="bar">
    <p>${title && html`<b dir="auto" lang="">${title}</b>`}<small dir="ltr">${hostOf(url)}</small></p>
    <a href="${url}" rel="noreferrer nofollow ugc">Open it</a>
  </header>`

/** Least rights that pages work with: it cannot lead the window elsewhere. */
export const framed = (url: string) =>
  html`<iframe
    src="${url}"
    title="${hostOf(url)}"
    sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"
    referrerpolicy="no-referrer"
  ></iframe>`
/** The destination's own host, and its twin with or without `www.`, which it often sends on to. */
export const frameSource = (url: string): May => {
  const { protocol, host } = new URL(url)
  const twin = host.startsWith('www.') ? host.slice(4) : `www.${host}`
  const named = /^[\w.-]+\.[a-z][\w-]*(?::\d+)?$/.test(host)
  return { 'frame-src': [sourceOf(url), ...(named ? [`${protocol}//${twin}`] : [])] }
}
