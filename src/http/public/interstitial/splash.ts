import { splash } from '../../../commands/pages/splash.ts'
import { countdown, stayButton } from './countdown.ts'
import { inline, mergeDirectives, sourceOf } from '../page/csp.ts'
import { hostMarkup, hostOf } from '../page/destination.ts'
import { type Html, html } from '../page/html.ts'
import { type InterstitialPage, metaTags } from './parts.ts'
import { measured, type MeasureOptions } from './measure.ts'
import { noIndex, topOf } from '../page/page.ts'
import type { ShownPage } from '../link/resolve.ts'
import { countdownStyle } from '../styles/countdown.ts'
import { ownerStyle } from '../styles/owner.ts'
import { splashStyle } from '../styles/splash.ts'
import type { View } from '../page/view.ts'

/**
 * A logo is drawn for a light page, so it gets a light plate. Its size is fixed: nothing moves when the image arrives,
 * or never does.
 */
const withLogo = ({ address }: View, logo: string) =>
  html`<header class="top">
    <span class="plate"><img src="${logo}" alt="" /></span>
    <bdi class="address">${address}</bdi>
  </header>`

/** Returns a button that says what is behind it, and on which host. */
const destinationButton = (url: string, label: string, going?: string): Html =>
  html`<a
    ${going ? html`id="go" class="button go"` : html`class="button"`}
    href="${url}"
    rel="noreferrer nofollow ugc"
    ${going ? html`data-going="${going}"` : ''}
    ><span dir="auto" lang="">${label}</span><small dir="ltr">${hostOf(url)}</small></a
  >`

const plain = splash.initialState.fields

/**
 * Returns a page of the owner's, with a button for each destination, that redirects after its time unless the visitor
 * stays.
 */
export const splashPage = (view: View, shown: ShownPage, url: string, options: MeasureOptions): InterstitialPage => {
  const { texts } = view
  const { interstitial } = shown
  const { logo, banner, title, message, product, label, productLabel, color, counter } = interstitial.splash ?? plain
  const { choice, script, directives, asks } = measured(texts, shown, url, options)
  const heading = title || interstitial.title || texts.splash.title
  const word = asks ? texts.pixels.without : texts.redirecting.continue
  const waiting = html`<p class="where">
      <span id="going" data-going="${texts.redirecting.redirectingTo}">${texts.redirecting.leadsTo}</span>
      ${hostMarkup(url)}
    </p>
    ${countdown(texts, counter)}
    <p class="actions">${stayButton(texts)}</p>`
  return {
    title: heading,
    className: 'splash',
    head: html`${noIndex}${metaTags(interstitial)}`,
    styles: [countdownStyle, ...(color ? [ownerStyle(color)] : []), splashStyle],
    directives: mergeDirectives({ 'img-src': [logo, banner].filter(Boolean).map(sourceOf) }, directives),
    script: inline(script),
    top: logo ? withLogo(view, logo) : topOf(view),
    content: html`${banner && html`<span class="banner"><img src="${banner}" alt="" /></span>`}
      <h1 dir="auto" lang="">${heading}</h1>
      ${message && html`<p class="owner-text" dir="auto" lang="">${message}</p>`}
      <p class="actions">
        ${destinationButton(url, label || word, `${texts.redirecting.redirectingTo} ${hostOf(url)}`)}
        ${product && destinationButton(product, productLabel || texts.splash.product)}
      </p>
      ${asks ? '' : waiting} ${choice}`,
  }
}
