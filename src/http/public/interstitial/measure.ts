import { type CspDirectives, type Inline, inline, mergeDirectives } from '../page/csp.ts'
import { around, type Html, html } from '../page/html.ts'
import { firing, networksOf } from './pixels.ts'
import type { ShownPage } from '../link/resolve.ts'
import { ask, chooseHere, count, fire, fireApart, showChoice } from '../page/scripts.ts'
import type { Texts } from '../texts/languages.ts'

/** Whether pages say that networks measure a visit, or ask first. */
export type PixelConsent = 'notice' | 'ask'

export interface MeasureOptions {
  readonly consent: PixelConsent
  /**
   * Scripts of networks run apart from the origin of the page: on a host where the dashboard has its sessions, which
   * such a script would have, too.
   */
  readonly apart: boolean
}

/** What the pixels of a link add to its page. */
export interface Measured {
  /** who measures, and the choice; a script shows it, because without script nothing is measured */
  readonly choice: Html | ''
  /** the script of the page, which counts down unless the visitor is asked; an empty string when it needs none */
  readonly script: string
  /** the sources that the page must allow */
  readonly directives: CspDirectives
  /** the visitor is asked first, so the page must not redirect by itself */
  readonly asks: boolean
}

type Measuring = Pick<ShownPage, 'interstitial' | 'untracked'>

const nothing = { directives: {}, asks: false }
const names = ({ locale }: Texts, { interstitial: { pixels } }: Measuring) =>
  html`${new Intl.ListFormat(locale, { type: 'conjunction' }).format(networksOf(pixels))}`

/** How a page fires its pixels. */
interface Firing {
  readonly markup: Html
  /** declares `fire()` */
  readonly script: string
  readonly directives: CspDirectives
  /** a script of a network runs */
  readonly runs: boolean
}

/** Returns how the pixels are fired; undefined when no network measures. */
const firingOf = ({ interstitial: { pixels } }: Measuring): Firing | undefined => {
  const { fires, runs, directives } = firing(pixels)
  if (fires.length === 0) return undefined
  return {
    directives,
    runs,
    markup: html`<div id="fire" hidden data-fires="${JSON.stringify(fires)}"></div>`,
    script: fire,
  }
}

/** What a page may do that has no origin: run, and lead on as a page of any origin does. */
const leading = [
  'allow-scripts',
  'allow-forms',
  'allow-downloads',
  'allow-popups',
  'allow-popups-to-escape-sandbox',
  'allow-top-navigation',
]

/** Takes the origin from the page itself. */
const withoutOrigin = ({ directives, ...found }: Firing): Firing => ({
  ...found,
  directives: { ...directives, sandbox: leading },
})

const runsAlone: Inline = inline(`${fire}fire()`)

/** Fires from a page in a frame without origin: what the page itself frames would lose its own origin with it. */
const fromFrame = ({ directives, markup, runs }: Firing): Firing => ({
  runs,
  directives: mergeDirectives(directives, { 'script-src': [runsAlone.hash] }),
  markup: html`<div id="fire" hidden data-page="${`${markup.text}<script>${runsAlone.text}</script>`}"></div>`,
  script: fireApart,
})

/** For a page that leads to a URL. It measures when the redirect starts, and not before. */
export const measured = (texts: Texts, shown: Measuring, url: string, { consent, apart }: MeasureOptions): Measured => {
  const { agree, without, untracked } = texts.pixels
  const fired = firingOf(shown)
  const found = apart && fired?.runs ? withoutOrigin(fired) : fired
  if (!found)
    return { ...nothing, script: count, choice: shown.untracked ? html`<p class="choice small">${untracked}</p>` : '' }
  const asks = consent === 'ask'
  const button = asks
    ? html`<button id="agree" class="button" type="button">${agree}</button>`
    : html`<a id="without" class="button" href="${url}" rel="noreferrer nofollow ugc">${without}</a>`
  return {
    choice: html`<div id="choice" class="choice small" hidden>
        <p>${around(asks ? texts.pixels.ask : texts.pixels.measured, names(texts, shown))}</p>
        <p class="actions">${button}</p>
      </div>
      ${found.markup}`,
    script: found.script + (asks ? ask : showChoice + count),
    directives: found.directives,
    asks,
  }
}

/** seconds in which a visitor can continue without measurement */
const delaySeconds = 8

/** For a page that shows the destination in a frame. */
export const measuredHere = (texts: Texts, shown: Measuring, { consent, apart }: MeasureOptions): Measured => {
  const { agree, without, untracked, about } = texts.pixels
  const fired = firingOf(shown)
  const found = apart && fired?.runs ? fromFrame(fired) : fired
  if (!found)
    return {
      ...nothing,
      script: '',
      choice: shown.untracked ? html`<aside class="measure" aria-label="${about}"><p>${untracked}</p></aside>` : '',
    }
  const asks = consent === 'ask'
  return {
    choice: html`<aside
        id="choice"
        class="measure"
        aria-label="${about}"
        data-seconds="${asks ? 0 : delaySeconds}"
        hidden
      >
        <p>${around(asks ? texts.pixels.ask : texts.pixels.measuredHere, names(texts, shown))}</p>
        <p class="actions">
          ${asks ? html`<button id="agree" class="button small-one" type="button">${agree}</button>` : ''}
          <button id="without" class="button small-one" type="button">${without}</button>
        </p>
      </aside>
      ${found.markup}`,
    script: found.script + chooseHere,
    directives: found.directives,
    asks,
  }
}
