import { splash } from '../../commands/splash.ts'
import type { Interstitial } from '../../queries/target.ts'
import type { AnswerForm } from './answerform.ts'
import { overlayPage } from './overlaypage.ts'
import { type Html, html, own, type PageOptions, passBy, sourceOf } from './html.ts'
import type { Shown } from './resolve.ts'
import {
  bar,
  framed,
  frameSource,
  hostOf,
  pixelsOf,
  refresh,
  mergePolicies,
  told,
  type WayPage,
  wideStyle,
} from './interstitialparts.ts'
import { count, leave } from './scripts.ts'

const splashStyle =
  own(`.splash{text-align:center}.splash img{display:block;max-width:100%;margin:0 auto 1.25rem;border-radius:.5rem}.splash .logo{max-height:4.5rem}
.splash .banner{width:100%;max-height:16rem;object-fit:cover}.splash p{white-space:pre-line;text-wrap:balance}.splash h1 a{color:inherit}`)

const framePage = (shows: Interstitial, url: string): WayPage => {
  const { mark, script, may } = pixelsOf(shows)
  return {
    title: shows.title || hostOf(url),
    head: html`${passBy}${told(shows)}`,
    wide: true,
    styles: [wideStyle],
    may: mergePolicies(frameSource(url), may),
    ...(script && { script: own(script) }),
    content: html`${bar(shows.title, url)}
      <div class="stage" role="main">${framed(url)}</div>
      ${mark}`,
  }
}

const plain = splash.initialState.fields
const splashPage = (shows: Interstitial, url: string): WayPage => {
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
    may: mergePolicies({ 'img-src': images.map(sourceOf) }, may),
    script: own(script + count),
    content: html`<article class="splash">
      ${banner && linked(html`<img class="banner" src="${banner}" alt="${product && heading}" />`)}
      ${logo && html`<img class="logo" src="${logo}" alt="" />`}
      <h1 dir="auto" lang="">${linked(html`${heading}`)}</h1>
      ${message && html`<p dir="auto" lang="">${message}</p>`}
      <p>You go on to <b dir="ltr">${hostOf(url)}</b> in <b id="left" role="timer">${counter}</b> seconds.</p>
      <a id="go" class="button" href="${url}" rel="noreferrer nofollow ugc">Go on now</a>
      ${mark}
    </article>`,
  }
}

const pixelPage = (shows: Interstitial, url: string): WayPage => {
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
const metaPage = (shows: Interstitial, url: string): WayPage => ({
  title: shows.title || hostOf(url),
  head: told(shows),
  content: html`<h1 dir="auto" lang="">${shows.title || hostOf(url)}</h1>
    ${shows.description && html`<p dir="auto" lang="">${shows.description}</p>`}
    <a class="button" href="${url}" rel="noreferrer nofollow ugc">Go on</a>`,
})

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
