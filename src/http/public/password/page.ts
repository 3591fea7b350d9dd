import { inline } from '../page/csp.ts'
import { around, filled, html } from '../page/html.ts'
import { topOf, type WritePage } from '../page/page.ts'
import { nextSteps, tryAgain } from '../page/messages.ts'
import { localTimes, showPassword } from '../page/scripts.ts'
import { formStyle } from '../styles/form.ts'
import { counted, timeIn } from '../texts/languages.ts'

/**
 * Returns the password form of a link; above its field, that the last password was wrong. What was entered is not sent
 * back. `schemes` are those of destinations that are no web addresses.
 */
export const passwordPage =
  ({ wrong, schemes = [] }: { readonly wrong: boolean; readonly schemes?: readonly string[] }): WritePage =>
  (view) => {
    const { password, errorTitle } = view.texts
    const { title, text, field, show, showLabel, submit, noPassword } = password
    const invalid = wrong ? html`aria-invalid="true" aria-describedby="hint problem"` : html`aria-describedby="hint"`
    return {
      status: wrong ? 401 : 200,
      title: wrong ? filled(errorTitle, password.wrongTitle) : title,
      json: wrong ? { message: password.wrong } : {},
      styles: [formStyle],
      script: inline(showPassword),
      // Chromium applies form-action to the redirects that follow too, and the last of them leads to the link's
      // destination
      formAction: ["'self' http: https:", ...schemes].join(' '),
      top: topOf(view),
      content: html`<h1>${title}</h1>
        <p id="hint">${text}</p>
        <form method="post">
          <div class="field">
            <label for="password">${field}</label>
            ${wrong ? html`<p class="error" id="problem">${password.wrong}</p>` : ''}
            <div class="with-button">
              <input
                id="password"
                name="password"
                type="password"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                maxlength="1024"
                required
                autofocus
                ${invalid}
              />
              <button
                id="show"
                class="button"
                type="button"
                aria-pressed="false"
                aria-controls="password"
                aria-label="${showLabel}"
                hidden
              >
                ${show}
              </button>
            </div>
          </div>
          <p class="actions"><button class="button go">${submit}</button></p>
        </form>
        <p class="small">${noPassword}</p>`,
    }
  }

/** Returns the page after too many wrong passwords: how many seconds to wait, and until when. */
export const passwordLimitPage =
  (wait: number): WritePage =>
  (view) => {
    const { title, text, ask, after } = view.texts.password.limit
    const end = new Date(Date.now() + wait * 1000)
    const message = counted(view.texts, text, Math.max(1, Math.ceil(wait / 60)))
    const time = html`<time datetime="${end.toISOString()}">${timeIn(view.texts, end)}</time>`
    return {
      status: 429,
      title,
      json: { message },
      headers: { 'Retry-After': String(wait) },
      script: inline(localTimes),
      top: topOf(view),
      content: html`<h1>${title}</h1>
        <p>${message}</p>
        ${nextSteps(view.texts, [html`${ask}`, around(after, time)])}
        <p class="actions">${tryAgain(view.texts, 'button')}</p>`,
    }
  }
