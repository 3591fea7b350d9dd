import type { Interstitial } from '../../../queries/links/target.ts'
import type { AnswerForm } from '../overlay/signed.ts'
import { inline, mergeDirectives } from '../page/csp.ts'
import { continueButton, hostOf } from '../page/destination.ts'
import { html } from '../page/html.ts'
import { bar, framed, frameSource, type InterstitialPage, metaTags } from './parts.ts'
import { measured, measuredHere, type MeasureOptions } from './measure.ts'
import { overlayPage } from '../overlay/page.ts'
import { noIndex, topOf, type WritePage } from '../page/page.ts'
import { leadsTo, leadsToTitle, redirecting, redirectSeconds } from './redirecting.ts'
import type { ShownPage } from '../link/resolve.ts'
import { splashPage } from './splash.ts'
import { countdownStyle } from '../styles/countdown.ts'
import { frameStyle } from '../styles/frame.ts'
import type { View } from '../page/view.ts'

const framePage = (view: View, shown: ShownPage, url: string, options: MeasureOptions): InterstitialPage => {
  const { interstitial } = shown
  const { choice, script, directives } = measuredHere(view.texts, shown, options)
  return {
    title: interstitial.title || hostOf(url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    wide: true,
    styles: [frameStyle],
    directives: mergeDirectives(frameSource(url), directives),
    ...(script && { script: inline(script) }),
    className: 'framed',
    content: html`${bar(view, url, choice)}
      <main class="stage">${framed(url)}</main>`,
  }
}

/**
 * Says who measures the visit. It redirects after a while, unless the visitor is asked first; without script it does
 * not, and nothing is measured.
 */
const pixelPage = (view: View, shown: ShownPage, url: string, options: MeasureOptions): InterstitialPage => {
  const { texts } = view
  const { choice, script, directives, asks } = measured(texts, shown, url, options)
  return {
    title: leadsToTitle(texts, url),
    head: html`${noIndex}${metaTags(shown.interstitial)}`,
    styles: [countdownStyle],
    directives,
    script: inline(script),
    top: topOf(view),
    content: html`${asks ? leadsTo(texts, url, texts.pixels.without) : redirecting(texts, url, redirectSeconds)}
    ${choice}`,
  }
}

/** Does not redirect: a program that follows redirects would draw its card from the destination. */
const cardPage = (view: View, interstitial: Interstitial, url: string): InterstitialPage => ({
  title: interstitial.title || hostOf(url),
  head: metaTags(interstitial),
  top: topOf(view),
  content: html`<h1 dir="auto" lang="">${interstitial.title || hostOf(url)}</h1>
    ${interstitial.description && html`<p dir="auto" lang="">${interstitial.description}</p>`}
    <p class="actions">${continueButton(url, view.texts.redirecting.continue)}</p>`,
})

/**
 * The page of a link that lets so many people through, for programs: with what its owner says about it, and without its
 * destination. 503 tells a browser to load it again once it is opened.
 */
export const peoplePage =
  (interstitial: Interstitial | undefined, status: 200 | 503): WritePage =>
  (view) => {
    const { title, text } = view.texts.messages.people
    const card = interstitial?.card ? interstitial : undefined
    return {
      status,
      title: card?.title || title,
      head: html`${noIndex}${card ? metaTags(card) : ''}`,
      top: topOf(view),
      content: html`<h1>${title}</h1>
        <p>${text}</p>`,
    }
  }

export interface InterstitialOptions extends MeasureOptions {
  /** the visitor uses https */
  readonly secure: boolean
  /** of the overlay, when one is shown */
  readonly form: AnswerForm | undefined
}

/**
 * Returns the page between a short link and its destination. All of them have a link to the destination, and work
 * without script.
 */
export const interstitialPage = (shown: ShownPage, url: string, options: InterstitialOptions): WritePage => {
  const { way, interstitial } = shown
  const { form } = options
  const page = (view: View) => {
    switch (way) {
      case 'card':
        return cardPage(view, interstitial, url)
      case 'frame':
        return framePage(view, shown, url, options)
      case 'splash':
        return splashPage(view, shown, url, options)
      case 'pixels':
        return pixelPage(view, shown, url, options)
      case 'overlay':
        if (!interstitial.overlay || !form) throw new Error('the overlay or its form is missing')
        return overlayPage(view, { ...shown, overlay: interstitial.overlay }, url, { ...options, form })
    }
  }
  return (view) => ({ status: 200, json: { url }, ...page(view) })
}
