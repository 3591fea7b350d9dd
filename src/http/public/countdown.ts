import { html } from './html.ts'
import { counted, type Texts } from './texts/languages.ts'

/** Returns a countdown, hidden until the script shows it: without script there is no redirect. It has `stayButton` for a companion. */
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
