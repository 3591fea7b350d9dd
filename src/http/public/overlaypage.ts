import { knownIn } from '../../events/openenum.ts'
import { type OverlayFields, OverlayPosition, OverlayType } from '../../events/overlay.ts'
import type { Interstitial } from '../../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { inline, mergeDirectives, sourceOf } from './csp.ts'
import { hostMarkup, hostOf } from './destination.ts'
import { around, type Html, html } from './html.ts'
import { bar, framed, frameSource, type InterstitialPage, metaTags, pixelParts } from './interstitialparts.ts'
import { noIndex } from './page.ts'
import { fireNow } from './scripts.ts'
import { formStyle } from './styles/form.ts'
import { frameStyle } from './styles/frame.ts'
import { overlayStyle } from './styles/overlay.ts'
import type { Texts } from './texts/languages.ts'
import type { View } from './view.ts'

/** Returns the fields of an overlay's form; undefined for a type without a form. */
const inputs = ({ overlay: { fields } }: Texts, { type, question, options }: OverlayFields) => {
  const email = html`<label for="email">${fields.email}</label
    ><input id="email" name="email" type="email" autocomplete="email" maxlength="255" required />`
  switch (type) {
    case 'contact':
      return html`<label for="name">${fields.name}</label
        ><input id="name" name="name" autocomplete="name" maxlength="255" />${email}
        <label for="message">${fields.message}</label
        ><textarea id="message" name="message" rows="3" maxlength="1000" required></textarea>`
    case 'newsletter':
      return email
    case 'poll':
      return html`<fieldset>
        <legend dir="auto" lang="">${question}</legend>
        ${options.map((option) => html`<label dir="auto" lang=""><input type="radio" name="choice" value="${option}" required />${option}</label>`)}
      </fieldset>`
    default:
      return undefined
  }
}

const button = (url: string, label: string) =>
  html`<a class="button" href="${url}" rel="noreferrer nofollow ugc">${label}</a>`

/** Returns the form around the fields. Its field `website` is hidden from people; only programs fill it in. */
const answerFormOf = (fields: Html, label: string, { action, hidden }: AnswerForm) => {
  return html`<form method="post" action="${action}">
    ${fields}${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <input class="trap" name="website" tabindex="-1" autocomplete="off" aria-hidden="true" />
    <button class="button">${label}</button>
  </form>`
}

const callToAction = (texts: Texts, overlay: OverlayFields, form: AnswerForm) => {
  const { message, image, coupon, link } = overlay
  // what only a newer release knows is shown as a message
  const type = knownIn(OverlayType, overlay.type) ?? 'message'
  const position = knownIn(OverlayPosition, overlay.position) ?? 'bl'
  const { name, action } = texts.overlay[type]
  const label = overlay.label || action
  const fields = inputs(texts, overlay)
  const picture = image && html`<img src="${image}" alt="${type === 'image' ? overlay.name : ''}" />`
  const next = fields ? answerFormOf(fields, label, form) : link && label ? button(link, label) : ''
  return html`<details class="cta ${position}" open>
    <summary>${name}</summary>
    ${picture && link ? html`<a href="${link}" rel="noreferrer nofollow ugc">${picture}</a>` : picture}
    ${message && html`<p dir="auto" lang="">${message}</p>`}
    ${type === 'coupon' ? html`<code dir="auto">${coupon}</code>` : ''} ${next}
  </details>`
}

/** Shown in place of a destination that the browser would not load in a frame. */
const notFramed = ({ frame }: Texts, url: string) =>
  html`<div class="hint">
    <p>${around(frame.notFramed, hostMarkup(url))}</p>
    <a class="button go" href="${url}" rel="noreferrer nofollow ugc">${frame.open}</a>
  </div>`

/** Returns the framed destination with a call to action over it. An http destination is not framed on an https page: browsers block it. */
export const overlayPage = (
  { texts }: View,
  interstitial: Interstitial & { readonly overlay: OverlayFields },
  url: string,
  { secure, form }: { readonly secure: boolean; readonly form: AnswerForm },
): InterstitialPage => {
  const { overlay } = interstitial
  const { markup, script, directives } = pixelParts(interstitial)
  const canBeFramed = url.startsWith('https:') || !secure
  return {
    title: interstitial.title || hostOf(url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    wide: true,
    styles: [formStyle, frameStyle, overlayStyle(overlay.color)],
    directives: mergeDirectives(
      canBeFramed ? frameSource(url) : {},
      { 'img-src': overlay.image ? [sourceOf(overlay.image)] : [] },
      directives,
    ),
    ...(script && { script: inline(script + fireNow) }),
    content: html`${bar(texts, interstitial.title, url)}
      <div class="stage" role="main">
        ${canBeFramed ? framed(url) : notFramed(texts, url)} ${callToAction(texts, overlay, form)}
      </div>
      ${markup}`,
  }
}
