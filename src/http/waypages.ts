import { splash } from '../commands/splash.ts'
import type { OverlayFields } from '../events/overlay.ts'
import { contrast } from '../qr/colour.ts'
import type { Shows } from '../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { type Html, html, type May, own, type PageOptions, passBy, sourceOf } from './page.ts'
import type { Shown } from './resolve.ts'
import { firing } from './vendors.ts'
import { count, fire, leave } from './wayscripts.ts'

const hostOf = (url: string) => new URL(url).host

/** What programs are told of a link: the Open Graph protocol, https://ogp.me, and what some read beside it. */
const told = ({ title, description, image }: Shows) => {
  const named = { description, 'twitter:card': image ? 'summary_large_image' : 'summary' }
  const properties = { 'og:type': 'website', 'og:title': title, 'og:description': description, 'og:image': image }
  const given = (of: object) => Object.entries(of).filter((entry): entry is [string, string] => entry[1] !== '')
  return html`${given(named).map(([name, content]) => html`<meta name="${name}" content="${content}" />`)}
  ${given(properties).map(([name, content]) => html`<meta property="${name}" content="${content}" />`)}`
}

/** Leads on without script, after whole seconds. */
const refresh = (url: string, seconds: number) =>
  html`<noscript><meta http-equiv="refresh" content="${seconds};url=${url}" /></noscript>`

/** Of one page what several give: their directives together. */
const together = (...all: readonly May[]): May =>
  Object.fromEntries(
    [...new Set(all.flatMap((may) => Object.keys(may)))].map((name) => [name, all.flatMap((may) => may[name] ?? [])]),
  )

/** The pixels of a page: its markup, its script, and what it has to let them. */
const pixelsOf = ({ pixels }: Shows) => {
  if (pixels.length === 0) return { mark: '', script: '', may: {} }
  const { fires, may } = firing(pixels)
  return { mark: html`<div id="fire" hidden data-fires="${JSON.stringify(fires)}"></div>`, script: fire, may }
}

const wideStyle =
  own(`body{display:flex;flex-direction:column;align-items:stretch;height:100vh;height:100dvh;min-height:0;padding:0}
.bar{display:flex;align-items:center;gap:.75rem;padding:.45rem .75rem;background:#fff;border-bottom:1px solid #dfe3e8;font-size:.95rem;line-height:1.3}
.bar p{flex:1;min-width:0;margin:0;overflow-wrap:anywhere}.bar b{display:block;font-weight:600;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar small{font-size:.85rem}.bar a,.hint a{flex:none;padding:.4rem .8rem;border-radius:.5rem;background:#1d4ed8;color:#fff;font-weight:600;text-decoration:none}
.stage{position:relative;flex:1;min-height:0}iframe{display:block;width:100%;height:100%;border:0;background:#fff}
.hint{display:grid;place-content:center;justify-items:center;gap:1rem;height:100%;padding:1.25rem;text-align:center}.hint p{margin:0}
@media(prefers-color-scheme:dark){.bar{background:#1b212a;border-color:#313a46}}`)

const ctaStyle = `.cta{position:absolute;z-index:1;width:min(22rem,calc(100% - 1.5rem));max-height:calc(100% - 1.5rem);overflow:auto;overflow-wrap:anywhere;
background:#fff;border:1px solid #dfe3e8;border-top:.3rem solid var(--own);border-radius:.75rem;box-shadow:0 .5rem 2rem #0005;padding:0 1.1rem 1.1rem}
.cta:not([open]){width:auto;padding-bottom:0}.bl,.br{bottom:.75rem}.tl,.tr{top:.75rem}.bl,.tl{left:.75rem}.br,.tr{right:.75rem}
.cta summary{display:flex;justify-content:space-between;gap:1rem;padding:.6rem 0;cursor:pointer;list-style:none;font-size:.85rem;color:#5b6675}
.cta summary::-webkit-details-marker{display:none}.cta summary::after{content:"\\2715"}.cta:not([open]) summary::after{content:"\\2197"}
.cta p,.cta legend{margin:0;white-space:pre-line}.cta p+p{margin-top:.5rem}.cta img{display:block;max-width:100%;max-height:45vh;margin:0 auto;border-radius:.5rem}
.cta form{margin-top:.75rem;gap:.5rem}.cta fieldset{border:0;margin:0;padding:0;display:grid;gap:.4rem}.cta legend{padding:0 0 .5rem;font-weight:600}
.cta fieldset label{display:flex;gap:.6rem;align-items:baseline;font-weight:400;padding:.3rem 0}.cta input[type=radio]{width:auto;flex:none}
.cta code{display:block;margin-top:.75rem;padding:.7rem;border:2px dashed var(--own);border-radius:.5rem;font:600 1.2rem ui-monospace,monospace;text-align:center;user-select:all}
.cta .button,.cta button{background:var(--own);border-color:var(--own);color:var(--on)}.cta .button{margin-top:.9rem}
summary:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
@media(prefers-color-scheme:dark){.cta{background:#1b212a;border-color:#313a46;border-top-color:var(--own)}.cta summary{color:#a7b1be}}`

const splashStyle =
  own(`.splash{text-align:center}.splash img{display:block;max-width:100%;margin:0 auto 1.25rem;border-radius:.5rem}.splash .logo{max-height:4.5rem}
.splash .banner{width:100%;max-height:16rem;object-fit:cover}.splash p{white-space:pre-line;text-wrap:balance}.splash h1 a{color:inherit}`)

/** Where it leads stands above it, and a way there for when it does not let itself be framed. */
const bar = (title: string, url: string) =>
  html`<header class="bar">
    <p>${title && html`<b dir="auto" lang="">${title}</b>`}<small dir="ltr">${hostOf(url)}</small></p>
    <a href="${url}" rel="noreferrer nofollow ugc">Open it</a>
  </header>`

/** Least rights that pages work with: it cannot lead the window elsewhere. */
const framed = (url: string) =>
  html`<iframe
    src="${url}"
    title="${hostOf(url)}"
    sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox"
    referrerpolicy="no-referrer"
  ></iframe>`
/** The destination's own host, and its twin with or without `www.`, which it often sends on to. */
const frameSource = (url: string): May => {
  const { protocol, host } = new URL(url)
  const twin = host.startsWith('www.') ? host.slice(4) : `www.${host}`
  const named = /^[\w.-]+\.[a-z][\w-]*(?::\d+)?$/.test(host)
  return { 'frame-src': [sourceOf(url), ...(named ? [`${protocol}//${twin}`] : [])] }
}

const framePage = (shows: Shows, url: string): Omit<PageOptions, 'status'> => {
  const { mark, script, may } = pixelsOf(shows)
  return {
    title: shows.title || hostOf(url),
    head: html`${passBy}${told(shows)}`,
    wide: true,
    styles: [wideStyle],
    may: together(frameSource(url), may),
    ...(script && { script: own(script) }),
    content: html`${bar(shows.title, url)}
      <div class="stage">${framed(url)}</div>
      ${mark}`,
  }
}

const plain = splash.initialState.fields
const splashPage = (shows: Shows, url: string): Omit<PageOptions, 'status'> => {
  const { logo, banner, title, message, product, counter } = shows.splash ?? plain
  const { mark, script, may } = pixelsOf(shows)
  const heading = title || shows.title || 'You are leaving this page'
  const images = [logo, banner].filter(Boolean)
  const linked = (content: Html) =>
    product ? html`<a href="${product}" rel="noreferrer nofollow ugc">${content}</a>` : content
  return {
    title: heading,
    head: html`${passBy}${told(shows)}${refresh(url, counter)}`,
    styles: [splashStyle],
    may: together({ 'img-src': images.map(sourceOf) }, may),
    script: own(script + count),
    content: html`<article class="splash">
      ${banner && linked(html`<img class="banner" src="${banner}" alt="" />`)}
      ${logo && html`<img class="logo" src="${logo}" alt="" />`}
      <h1 dir="auto" lang="">${linked(html`${heading}`)}</h1>
      ${message && html`<p dir="auto" lang="">${message}</p>`}
      <p>You go on to <b dir="ltr">${hostOf(url)}</b> in <b id="left" role="timer">${counter}</b> seconds.</p>
      <a id="go" class="button" href="${url}" rel="noreferrer nofollow ugc">Go on now</a>
      ${mark}
    </article>`,
  }
}

const pixelPage = (shows: Shows, url: string): Omit<PageOptions, 'status'> => {
  const { mark, script, may } = pixelsOf(shows)
  return {
    title: hostOf(url),
    head: html`${passBy}${told(shows)}${refresh(url, 0)}`,
    may,
    script: own(script + leave),
    content: html`<h1>One moment</h1>
      <p>You go on to <b dir="ltr">${hostOf(url)}</b>.</p>
      <a id="go" class="button" href="${url}" rel="noreferrer nofollow ugc">Go on now</a>
      ${mark}`,
  }
}

/** Nobody is sent on from it: a program that follows would draw its card of the destination. */
const metaPage = (shows: Shows, url: string): Omit<PageOptions, 'status'> => ({
  title: shows.title || hostOf(url),
  head: told(shows),
  content: html`<h1 dir="auto" lang="">${shows.title || hostOf(url)}</h1>
    ${shows.description && html`<p dir="auto" lang="">${shows.description}</p>`}
    <a class="button" href="${url}" rel="noreferrer nofollow ugc">Go on</a>`,
})

const kinds: Readonly<Record<OverlayFields['type'], { readonly name: string; readonly label: string }>> = {
  message: { name: 'Message', label: 'Read more' },
  contact: { name: 'Contact', label: 'Send' },
  poll: { name: 'Poll', label: 'Vote' },
  newsletter: { name: 'Newsletter', label: 'Subscribe' },
  image: { name: 'Picture', label: '' },
  coupon: { name: 'Coupon', label: 'Use it' },
}

const inputs = ({ type, question, options }: OverlayFields) => {
  const email = html`<label for="email">E-mail</label
    ><input id="email" name="email" type="email" autocomplete="email" maxlength="255" required />`
  switch (type) {
    case 'contact':
      return html`<label for="name">Name (optional)</label
        ><input id="name" name="name" autocomplete="name" maxlength="255" />${email} <label for="message">Message</label
        ><textarea id="message" name="message" rows="3" maxlength="1000" required></textarea>`
    case 'newsletter':
      return email
    case 'poll':
      return html`<fieldset>
        <legend dir="auto" lang="">${question}</legend>
        ${options.map((option) => html`<label dir="auto" lang=""><input type="radio" name="choice" value="${option}" required />${option}</label>`)}
      </fieldset>`
    case 'message':
    case 'image':
    case 'coupon':
      return undefined
  }
}

/** What is asked or told. Its form has a field that no person sees, and that programs fill. */
const callToAction = (overlay: OverlayFields, { action, link, to, sign }: AnswerForm) => {
  const { type, message, image, coupon, link: leads, position } = overlay
  const label = overlay.label || kinds[type].label
  const picture = image && html`<img src="${image}" alt="${type === 'image' ? overlay.name : ''}" />`
  const asked = inputs(overlay)
  const hidden = Object.entries({ link, to, sign })
  return html`<details class="cta ${position}" open>
    <summary>${kinds[type].name}</summary>
    ${picture && leads ? html`<a href="${leads}" rel="noreferrer nofollow ugc">${picture}</a>` : picture}
    ${message && html`<p dir="auto" lang="">${message}</p>`}
    ${type === 'coupon' ? html`<code dir="auto">${coupon}</code>` : ''}
    ${
      asked
        ? html`<form method="post" action="${action}">
            ${asked}${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
            <input class="trap" name="website" tabindex="-1" autocomplete="off" aria-hidden="true" />
            <button>${label}</button>
          </form>`
        : leads && label
          ? html`<a class="button" href="${leads}" rel="noreferrer nofollow ugc">${label}</a>`
          : ''
    }
  </details>`
}

const overlayPage = (
  shows: Shows & { readonly overlay: OverlayFields },
  url: string,
  { secure, form }: { readonly secure: boolean; readonly form: AnswerForm },
): Omit<PageOptions, 'status'> => {
  const { overlay } = shows
  const { mark, script, may } = pixelsOf(shows)
  const shown = url.startsWith('https:') || !secure
  const { color } = overlay
  const text = contrast(color, '#ffffff') >= 4.5 ? '#ffffff' : '#111827'
  return {
    title: shows.title || hostOf(url),
    head: html`${passBy}${told(shows)}`,
    wide: true,
    styles: [wideStyle, own(`:root{--own:${color};--on:${text}}${ctaStyle}`)],
    may: together(shown ? frameSource(url) : {}, { 'img-src': overlay.image ? [sourceOf(overlay.image)] : [] }, may),
    ...(script && { script: own(script) }),
    content: html`${bar(shows.title, url)}
      <div class="stage">
        ${
          shown
            ? framed(url)
            : html`<div class="hint">
                <p><b dir="ltr">${hostOf(url)}</b> cannot be shown inside another page.</p>
                <a href="${url}" rel="noreferrer nofollow ugc">Open it</a>
              </div>`
        }
        ${callToAction(overlay, form)}
      </div>
      ${mark}`,
  }
}

export interface WayOptions {
  /** the visitor came by https */
  readonly secure: boolean
  /** of the overlay that is shown */
  readonly form: AnswerForm | undefined
}

/** The page that a visitor is shown on the way; all of them lead on without script too. */
export const wayPage = ({ way, shows }: Shown, url: string, { secure, form }: WayOptions): PageOptions => {
  const page = () => {
    switch (way) {
      case 'meta':
        return metaPage(shows, url)
      case 'frame':
        return framePage(shows, url)
      case 'splash':
        return splashPage(shows, url)
      case 'pixels':
        return pixelPage(shows, url)
      case 'overlay':
        if (!shows.overlay || !form) throw new Error('an overlay is shown that is none')
        return overlayPage({ ...shows, overlay: shows.overlay }, url, { secure, form })
    }
  }
  return { status: 200, json: { url }, ...page() }
}

/** After an answer, and a moment to read that. */
export const thanksPage = (type: OverlayFields['type'], url: string | undefined): PageOptions => ({
  status: 200,
  title: 'Thank you',
  content: html`<h1>Thank you</h1>
    <p>${type === 'poll' ? 'Your vote has been counted.' : 'Your answer has been sent.'}</p>
    ${url ? html`<a class="button" href="${url}" rel="noreferrer nofollow ugc">Go on to ${hostOf(url)}</a>` : ''}`,
  head: html`${passBy}${url ? html`<meta http-equiv="refresh" content="5;url=${url}" />` : ''}`,
})

/** An answer that is not taken, and why. */
export const unansweredPage = (
  status: 400 | 413 | 429,
  problem: string,
  headers: Readonly<Record<string, string>> = {},
): PageOptions => ({
  status,
  title: problem,
  content: html`<h1>That was not sent</h1>
    <p class="problem" role="alert">${problem}</p>
    <p>Go back to change it.</p>`,
  headers,
})
