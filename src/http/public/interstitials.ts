import { splash } from '../../commands/splash.ts'
import type { Interstitial } from '../../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { countdown, countdownActions } from './countdown.ts'
import { inline, mergeDirectives, sourceOf } from './csp.ts'
import { continueButton, hostMarkup, hostOf } from './destination.ts'
import { type Html, html } from './html.ts'
import { bar, framed, frameSource, type InterstitialPage, metaTags, pixelParts } from './interstitialparts.ts'
import { overlayPage } from './overlaypage.ts'
import { noIndex, topOf, type WritePage } from './page.ts'
import { leadsToTitle, redirecting, redirectSeconds } from './redirecting.ts'
import type { Shown } from './resolve.ts'
import { count, fireNow } from './scripts.ts'
import { countdownStyle } from './styles/countdown.ts'
import { frameStyle } from './styles/frame.ts'
import { splashStyle } from './styles/splash.ts'
import type { View } from './view.ts'

const framePage = (view: View, interstitial: Interstitial, url: string): InterstitialPage => {
  const { markup, script, directives } = pixelParts(interstitial)
  return {
    title: interstitial.title || hostOf(url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    wide: true,
    styles: [frameStyle],
    directives: mergeDirectives(frameSource(url), directives),
    ...(script && { script: inline(script + fireNow) }),
    className: 'framed',
    content: html`${bar(view, url)}
      <main class="stage">${framed(url)}</main>
      ${markup}`,
  }
}

const plainSplash = splash.initialState.fields
const splashPage = (view: View, interstitial: Interstitial, url: string): InterstitialPage => {
  const { texts } = view
  const { logo, banner, title, message, product, counter } = interstitial.splash ?? plainSplash
  const { markup, script, directives } = pixelParts(interstitial)
  const heading = title || interstitial.title || texts.splash.title
  const images = [logo, banner].filter(Boolean)
  const linked = (content: Html) =>
    product ? html`<a href="${product}" rel="noreferrer nofollow ugc">${content}</a>` : content
  return {
    title: heading,
    head: html`${noIndex}${metaTags(interstitial)}`,
    styles: [countdownStyle, splashStyle],
    directives: mergeDirectives({ 'img-src': images.map(sourceOf) }, directives),
    script: inline(script + count),
    top: topOf(view),
    content: html`<article class="splash">
      ${banner && linked(html`<img class="banner" src="${banner}" alt="${product && heading}" />`)}
      ${logo && html`<img class="logo" src="${logo}" alt="" />`}
      <h1 dir="auto" lang="">${linked(html`${heading}`)}</h1>
      ${message && html`<p dir="auto" lang="">${message}</p>`}
      <p class="where">
        <span id="going" data-going="${texts.redirecting.redirectingTo}">${texts.redirecting.leadsTo}</span>
        ${hostMarkup(url)}
      </p>
      ${countdown(texts, counter)} ${countdownActions(texts, url)} ${markup}
    </article>`,
  }
}

/** Fires the pixels when it redirects, not before. Without script it fires none, and has a link. */
const pixelPage = (view: View, interstitial: Interstitial, url: string): InterstitialPage => {
  const { texts } = view
  const { markup, script, directives } = pixelParts(interstitial)
  return {
    title: leadsToTitle(texts, url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    styles: [countdownStyle],
    directives,
    script: inline(script + count),
    top: topOf(view),
    content: html`${redirecting(texts, url, redirectSeconds)} ${markup}`,
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

export interface InterstitialOptions {
  /** the visitor uses https */
  readonly secure: boolean
  /** of the overlay, when one is shown */
  readonly form: AnswerForm | undefined
}

/** Returns the page between a short link and its destination. All of them have a link to the destination, and work without script. */
export const interstitialPage = (
  { way, interstitial }: Shown,
  url: string,
  { secure, form }: InterstitialOptions,
): WritePage => {
  const page = (view: View) => {
    switch (way) {
      case 'card':
        return cardPage(view, interstitial, url)
      case 'frame':
        return framePage(view, interstitial, url)
      case 'splash':
        return splashPage(view, interstitial, url)
      case 'pixels':
        return pixelPage(view, interstitial, url)
      case 'overlay':
        if (!interstitial.overlay || !form) throw new Error('the overlay or its form is missing')
        return overlayPage(view, { ...interstitial, overlay: interstitial.overlay }, url, { secure, form })
    }
  }
  return (view) => ({ status: 200, json: { url }, ...page(view) })
}
