import { splash } from '../../commands/splash.ts'
import type { Interstitial } from '../../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { inline, mergeDirectives, sourceOf } from './csp.ts'
import { type Html, html } from './html.ts'
import {
  bar,
  boldHost,
  continueButton,
  framed,
  frameSource,
  hostOf,
  type InterstitialPage,
  metaTags,
  pixelParts,
  refresh,
} from './interstitialparts.ts'
import { overlayPage } from './overlaypage.ts'
import { noIndex, type Page } from './page.ts'
import type { Shown } from './resolve.ts'
import { count, leave } from './scripts.ts'
import { splashStyle, wideStyle } from './styles.ts'
import { texts } from './texts.ts'

const framePage = (interstitial: Interstitial, url: string): InterstitialPage => {
  const { markup, script, directives } = pixelParts(interstitial)
  return {
    title: interstitial.title || hostOf(url),
    head: html`${noIndex}${metaTags(interstitial)}`,
    wide: true,
    styles: [wideStyle],
    directives: mergeDirectives(frameSource(url), directives),
    ...(script && { script: inline(script) }),
    content: html`${bar(interstitial.title, url)}
      <div class="stage" role="main">${framed(url)}</div>
      ${markup}`,
  }
}

const plainSplash = splash.initialState.fields
const splashPage = (interstitial: Interstitial, url: string): InterstitialPage => {
  const { logo, banner, title, message, product, counter } = interstitial.splash ?? plainSplash
  const { markup, script, directives } = pixelParts(interstitial)
  const heading = title || interstitial.title || texts.splash.title
  const images = [logo, banner].filter(Boolean)
  const linked = (content: Html) =>
    product ? html`<a href="${product}" rel="noreferrer nofollow ugc">${content}</a>` : content
  const secondsLeft = html`<b id="left" role="timer">${counter}</b>`
  return {
    title: heading,
    head: html`${noIndex}${metaTags(interstitial)}${refresh(url, counter)}`,
    styles: [splashStyle],
    directives: mergeDirectives({ 'img-src': images.map(sourceOf) }, directives),
    script: inline(script + count),
    content: html`<article class="splash">
      ${banner && linked(html`<img class="banner" src="${banner}" alt="${product && heading}" />`)}
      ${logo && html`<img class="logo" src="${logo}" alt="" />`}
      <h1 dir="auto" lang="">${linked(html`${heading}`)}</h1>
      ${message && html`<p dir="auto" lang="">${message}</p>`}
      <p>${texts.redirecting.countdown(boldHost(url), secondsLeft)}</p>
      ${continueButton(url, texts.redirecting.continueNow)} ${markup}
    </article>`,
  }
}

/** Redirects as soon as the pixels have been fired. Without script it fires none: the redirect would wait for a slow network. */
const pixelPage = (interstitial: Interstitial, url: string): InterstitialPage => {
  const { markup, script, directives } = pixelParts(interstitial)
  return {
    title: texts.redirecting.title(hostOf(url)),
    head: html`${noIndex}${metaTags(interstitial)}${refresh(url, 0)}`,
    directives,
    script: inline(script + leave),
    content: html`<h1>${texts.redirecting.heading(html`<span dir="ltr">${hostOf(url)}</span>`)}</h1>
      ${continueButton(url, texts.redirecting.continueNow)} ${markup}`,
  }
}

/** Does not redirect: a program that follows redirects would draw its card from the destination. */
const cardPage = (interstitial: Interstitial, url: string): InterstitialPage => ({
  title: interstitial.title || hostOf(url),
  head: metaTags(interstitial),
  content: html`<h1 dir="auto" lang="">${interstitial.title || hostOf(url)}</h1>
    ${interstitial.description && html`<p dir="auto" lang="">${interstitial.description}</p>`}
    ${continueButton(url, texts.redirecting.continue)}`,
})

export interface InterstitialOptions {
  /** the visitor uses https */
  readonly secure: boolean
  /** of the overlay, when one is shown */
  readonly form: AnswerForm | undefined
}

/** Returns the page between a short link and its destination. All of them lead on without script too. */
export const interstitialPage = (
  { way, interstitial }: Shown,
  url: string,
  { secure, form }: InterstitialOptions,
): Page => {
  const page = () => {
    switch (way) {
      case 'card':
        return cardPage(interstitial, url)
      case 'frame':
        return framePage(interstitial, url)
      case 'splash':
        return splashPage(interstitial, url)
      case 'pixels':
        return pixelPage(interstitial, url)
      case 'overlay':
        if (!interstitial.overlay || !form) throw new Error('the overlay or its form is missing')
        return overlayPage({ ...interstitial, overlay: interstitial.overlay }, url, { secure, form })
    }
  }
  return { status: 200, json: { url }, ...page() }
}
