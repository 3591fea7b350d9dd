import type { OverlayFields } from '../../events/overlay.ts'
import { contrast } from '../../qr/color.ts'
import type { Interstitial } from '../../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { html, own, type PageOptions, passBy, sourceOf } from './html.ts'
import {
  bar,
  framed,
  frameSource,
  hostOf,
  pixelsOf,
  mergePolicies,
  told,
  type WayPage,
  wideStyle,
} from './interstitialparts.ts'

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

/** The destination with a call to action on it; alone where it cannot be framed. */
export const overlayPage = (
  shows: Interstitial & { readonly overlay: OverlayFields },
  url: string,
  { secure, form }: { readonly secure: boolean; readonly form: AnswerForm },
): WayPage => {
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
    may: mergePolicies(
      shown ? frameSource(url) : {},
      { 'img-src': overlay.image ? [sourceOf(overlay.image)] : [] },
      may,
    ),
    ...(script && { script: own(script) }),
    content: html`${bar(shows.title, url)}
      <div class="stage" role="main">
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
