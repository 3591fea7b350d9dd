import { hostOf } from '../page/destination.ts'
import { html } from '../page/html.ts'
import { counted, type Texts } from '../texts/languages.ts'

/**
 * Returns a countdown, hidden until the script `count` shows it: without script there is no redirect. It needs
 * `countdownActions` below it.
 */
export const countdown = (texts: Texts, seconds: number) => {
  const { timeLeft, progress, stopped } = texts.redirecting
  return html`<div id="countdown" class="countdown" hidden>
      <p id="left" role="timer" data-one="${timeLeft.one}" data-other="${timeLeft.other}">
        ${counted(texts, timeLeft, seconds)}
      </p>
      <progress id="bar" max="${seconds}" value="${seconds}" aria-label="${progress}"></progress>
    </div>
    <p id="said" role="status" class="said" data-stopped="${stopped}"></p>`
}

/** Returns the button that stops the countdown. */
export const stayButton = ({ redirecting }: Texts) =>
  html`<button id="stay" class="button" type="button" hidden>${redirecting.stay}</button>`

/** Returns the buttons that redirect at once and that stop the countdown. */
export const countdownActions = (texts: Texts, url: string) => {
  const { redirecting } = texts
  return html`<p class="actions">
    <a
      id="go"
      class="button go"
      href="${url}"
      rel="noreferrer nofollow ugc"
      data-now="${redirecting.continueNow}"
      data-going="${redirecting.redirectingTo} ${hostOf(url)}"
      >${redirecting.continue}</a
    >
    ${stayButton(texts)}
  </p>`
}
