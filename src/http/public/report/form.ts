import type { IncomingMessage } from 'node:http'
import { ReportReason } from '../../../events/operator/report.ts'
import { isSignatureOf, sign } from '../../../security/signature.ts'
import { isFromOtherSite } from '../postedform.ts'
import { html } from '../page/html.ts'
import type { WritePage } from '../page/page.ts'
import type { TextOf } from '../page/messages.ts'
import { formStyle } from '../styles/form.ts'

/** seconds: a form may stay open for an hour */
const lifetime = 3600
const signedText = (block: string, until: number) => `report ${until} ${block}`

/**
 * Returns the hidden field of the form: our signature for an address block. Another site can get one, but not one for
 * its visitors.
 */
export const reportToken = (secret: Buffer, block: string, now: number) => {
  const until = Math.floor(now / 1000) + lifetime
  return `${until}.${sign(secret, signedText(block, until))}`
}

/**
 * Returns whether a person has sent the form on purpose: it is ours and for this address block, or a program has sent
 * it that is no browser. Browsers say from where a form was sent, so another site cannot make them look like such a
 * program.
 */
export const isDeliberate = (req: IncomingMessage, secret: Buffer, block: string, token: string, now: number) => {
  if (isFromOtherSite(req)) return false
  const { origin, 'sec-fetch-site': site } = req.headers
  if (site === 'same-origin' || (origin === undefined && site === undefined)) return true
  const [until, signature = ''] = token.split('.')
  return Number(until) * 1000 > now && isSignatureOf(secret, signedText(block, Number(until)), signature)
}

/** What the form shows: what the visitor has entered so far, and what is wrong with it. */
export interface ReportForm {
  readonly status: 200 | 400 | 403 | 413 | 429
  readonly token: string
  readonly link: string
  readonly reason?: string
  readonly details?: string
  readonly email?: string
  readonly problem?: { readonly field: 'link' | 'reason' | 'details' | 'email' | undefined; readonly text: TextOf }
  readonly headers?: Readonly<Record<string, string>>
}

export const reportPage =
  ({ status, token, link, reason = '', details = '', email = '', problem, headers = {} }: ReportForm): WritePage =>
  ({ texts }) => {
    const { report } = texts
    const wrong = problem?.text(texts)
    const isWrong = (field: string) => problem?.field === field
    const alert = (field: string | undefined) =>
      problem && problem.field === field ? html`<p class="error" role="alert" id="problem">${wrong ?? ''}</p>` : ''
    const invalid = (field: string) => (isWrong(field) ? html` aria-invalid="true" aria-errormessage="problem"` : '')
    return {
      status,
      title: wrong ?? report.title,
      styles: [formStyle],
      headers,
      content: html`<h1>${report.title}</h1>
        <p>${report.text}</p>
        ${alert(undefined)}
        <form method="post" action="/report?link=">
          <div class="field">
            <label for="link">${report.link}</label>
            ${alert('link')}
            <input id="link" name="link" value="${link}" maxlength="2048" required dir="ltr" ${link !== '' && !isWrong('link') ? 'readonly' : ''}${invalid('link')} />
          </div>
          <fieldset${invalid('reason')}>
            <legend>${report.reason}</legend>
            ${alert('reason')}
            ${ReportReason.options.map((one) => {
              const { label, note } = report.reasons[one]
              return html`<label class="option"
                ><input type="radio" name="reason" value="${one}" required ${reason === one ? 'checked' : ''} /><span
                  >${label} ${note && html`<small>${note}</small>`}</span
                ></label
              >`
            })}
          </fieldset>
          <div class="field">
            <label for="details">${report.details}</label>
            <p class="small" id="details-hint">${report.detailsHint}</p>
            ${alert('details')}
            <textarea id="details" name="details" rows="3" maxlength="1000" aria-describedby="details-hint"${invalid('details')}>${details}</textarea>
          </div>
          <div class="field">
            <label for="email">${report.email}</label>
            <p class="small" id="email-hint">${report.emailHint}</p>
            ${alert('email')}
            <input id="email" name="email" type="email" value="${email}" autocomplete="email" maxlength="254" aria-describedby="email-hint"${invalid('email')} />
          </div>
          <input class="trap" name="website" tabindex="-1" autocomplete="off" aria-hidden="true" />
          <input type="hidden" name="token" value="${token}" />
          <p class="actions"><button class="button go">${report.submit}</button></p>
        </form>`,
    }
  }

export const reportSentPage =
  (reference: string): WritePage =>
  ({
    texts: {
      report: { sent },
    },
  }) => ({
    status: 200,
    title: sent.title,
    json: { reference },
    content: html`<h1>${sent.title}</h1>
      <p>${sent.text}</p>
      <section class="next">
        <h2>${sent.reference}</h2>
        <p><bdi class="reference">${reference}</bdi></p>
        <p class="small">${sent.note}</p>
      </section>`,
  })
