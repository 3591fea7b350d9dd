import { knownIn } from '../../../events/openenum.ts'
import { type OverlayFields, OverlayPosition, OverlayType } from '../../../events/pages/overlay.ts'
import type { AnswerForm } from './signed.ts'
import { inline, mergeDirectives, sourceOf } from '../page/csp.ts'
import { hostMarkup, hostOf } from '../page/destination.ts'
import { around, filled, type Html, html } from '../page/html.ts'
import { bar, framed, frameSource, type InterstitialPage, metaTags } from '../interstitial/parts.ts'
import { measuredHere, type MeasureOptions } from '../interstitial/measure.ts'
import { type FormType, isFormType, notSent, overlayForm, type WrongAnswer } from './form.ts'
import { noIndex, type WritePage } from '../page/page.ts'
import type { ShownPage } from '../link/resolve.ts'
import { copy } from '../page/scripts.ts'
import { formStyle } from '../styles/form.ts'
import { frameStyle } from '../styles/frame.ts'
import { overlayStyle } from '../styles/overlay.ts'
import { ownerStyle } from '../styles/owner.ts'
import type { Texts } from '../texts/languages.ts'
import type { View } from '../page/view.ts'

const button = (url: string, label: string) =>
  html`<a class="button go" href="${url}" rel="noreferrer nofollow ugc"
    ><span dir="auto">${label}</span><small dir="ltr">${hostOf(url)}</small></a
  >`

const couponOf = ({ overlay }: Texts, code: string) =>
  html`<p class="coupon">
    <code dir="ltr">${code}</code>
    <button class="button small-one" type="button" hidden data-copy="${code}" data-copied="${overlay.copied}">
      ${overlay.copy}</button
    ><span class="said" role="status"></span>
  </p>`

/** What only a newer release knows is shown as a message. */
const typeOf = ({ type }: OverlayFields) => knownIn(OverlayType, type) ?? 'message'

/** Returns what an overlay says before it is answered. */
const callToAction = (texts: Texts, overlay: OverlayFields, form: AnswerForm, wrong?: WrongAnswer) => {
  const { name, message, image, coupon, link } = overlay
  const type = typeOf(overlay)
  const label = overlay.label || texts.overlay.actions[type]
  const linked = image && link && !label
  // the name is the title of the overlay; only a link needs it again
  const picture = image && html`<img src="${image}" alt="${linked ? name : ''}" />`
  return html`${linked ? html`<a href="${link}" rel="noreferrer nofollow ugc">${picture}</a>` : picture}
  ${type === 'coupon' ? couponOf(texts, coupon) : ''}
  ${message && html`<p class="owner-text" dir="auto" lang="">${message}</p>`}
  ${isFormType(type) ? overlayForm(texts, type, overlay, form, wrong) : link && label ? button(link, label) : ''}`
}

/**
 * Returns the overlay around its body. It comes before the frame, whose page may have any number of stops for a
 * keyboard. `<dialog open>` and `<form method="dialog">` close it without script.
 */
const aside = ({ overlay: { close } }: Texts, { position }: OverlayFields, title: Html, open: boolean, body: Html) =>
  html`<aside class="overlay ${knownIn(OverlayPosition, position) ?? 'bl'}" aria-labelledby="overlay-title">
    <dialog open aria-labelledby="overlay-title">
      <form method="dialog" class="close"><button class="button small-one">${close}</button></form>
      <details${open ? html` open` : ''}>
        <summary>${title}</summary>
        <div class="body">${body}</div>
      </details>
    </dialog>
  </aside>`

const titled = (title: string) => html`<h2 id="overlay-title" dir="auto" lang="">${title}</h2>`

/** Shown in place of a destination that the browser would not load in a frame. */
const notFramed = ({ frame }: Texts, url: string) =>
  html`<div class="hint">
    <p>${around(frame.notFramed, hostMarkup(url))}</p>
    <a class="button go" href="${url}" rel="noreferrer nofollow ugc">${frame.open}</a>
  </div>`

interface Framed {
  readonly overlay: OverlayFields
  /** of the destination */
  readonly url: string
  /** the visitor uses https, where browsers block a frame with an http page */
  readonly secure: boolean
}

/** Returns what the page of an overlay is made of in any state, but for its title and its script. */
const overFrame = (view: View, { overlay, url, secure }: Framed, over: Html, choice: Html | '' = '') => {
  const canBeFramed = url.startsWith('https:') || !secure
  return {
    wide: true,
    className: 'framed',
    styles: [...(isFormType(typeOf(overlay)) ? [formStyle] : []), frameStyle, overlayStyle, ownerStyle(overlay.color)],
    directives: mergeDirectives(canBeFramed ? frameSource(url) : {}, {
      'img-src': overlay.image ? [sourceOf(overlay.image)] : [],
    }),
    content: html`${bar(view, url, choice)} ${over}
      <main class="stage">${canBeFramed ? framed(url) : notFramed(view.texts, url)}</main>`,
  }
}

interface OverlayOptions extends MeasureOptions {
  readonly secure: boolean
  readonly form: AnswerForm
}

/** Returns the framed destination with a call to action over it, which phones show as its title only. */
export const overlayPage = (
  view: View,
  shown: Pick<ShownPage, 'interstitial' | 'untracked'> & { readonly overlay: OverlayFields },
  url: string,
  { secure, form, ...measuring }: OverlayOptions,
): InterstitialPage => {
  const { overlay, interstitial } = shown
  const { texts, phone } = view
  const { choice, ...measured } = measuredHere(texts, shown, measuring)
  const script = measured.script + (overlay.type === 'coupon' ? copy : '')
  const over = aside(texts, overlay, titled(overlay.name), !phone, callToAction(texts, overlay, form))
  const page = overFrame(view, { overlay, url, secure }, over, choice)
  return {
    ...page,
    title: interstitial.title || hostOf(url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    directives: mergeDirectives(page.directives, measured.directives),
    ...(script && { script: inline(script) }),
  }
}

/** The data that a posted form was shown with. */
export interface Answered extends Framed {
  readonly type: FormType
  /** of the short link, as the bar shows it; empty when it is unknown */
  readonly address: string
}

/** Returns the page again after an answer that was not accepted. */
export const wrongAnswerPage =
  (answered: Answered, form: AnswerForm, wrong: WrongAnswer, json: object): WritePage =>
  (view) => {
    const { overlay, address } = answered
    const { texts } = view
    const over = aside(texts, overlay, titled(overlay.name), true, callToAction(texts, overlay, form, wrong))
    const title = filled(texts.errorTitle, notSent(texts, wrong))
    return { ...overFrame({ ...view, address }, answered, over), status: 400, title, json }
  }

/** Returns the page again with thanks for an answer. */
export const thanksPage =
  (answered: Answered, name: string): WritePage =>
  (view) => {
    const { overlay, address, type } = answered
    const { answer } = view.texts
    const title = html`<h2 id="overlay-title" dir="auto">${name ? filled(answer.thanksTo, name) : answer.thanks}</h2>`
    const body = html`<p role="status" tabindex="-1" autofocus>${answer.sent[type]}</p>`
    const over = aside(view.texts, overlay, title, true, body)
    return { ...overFrame({ ...view, address }, answered, over), status: 200, title: answer.thanks }
  }
