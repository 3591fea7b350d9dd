import { inline } from '../page/csp.ts'
import { around, filled, html, type Html } from '../page/html.ts'
import type { Page, WritePage } from '../page/page.ts'
import type { TextOf } from '../page/messages.ts'
import { submitOnce } from '../page/scripts.ts'
import { formStyle } from '../styles/form.ts'
import { counted, type Texts } from '../texts/languages.ts'
import type { Message } from '../texts/parts.ts'

type Field = 'email' | 'password'
/** The problem with a form: of one field, or of the whole. */
export interface FormProblem {
  readonly status: 400 | 429
  readonly field: Field | undefined
  readonly text: TextOf
  readonly headers?: Readonly<Record<string, string>>
}
export const tooMany = (wait: number): FormProblem => ({
  status: 429,
  field: undefined,
  text: (texts) => counted(texts, texts.account.problems.tooMany, Math.ceil(wait / 60)),
  headers: { 'Retry-After': String(wait) },
})
/** The current values of a form. */
export interface FormState {
  readonly token: string
  readonly email?: string
  readonly problem?: FormProblem | undefined
}

interface FormField {
  readonly name: Field
  readonly label: string
  readonly hint?: string
  /** whether it is the password of an existing account */
  readonly current?: boolean
}
interface FormParts {
  readonly title: string
  readonly text: string | Html
  readonly fields: readonly FormField[]
  readonly submit: string
}

const control = ({ name, current }: FormField, email: string, invalid: Html | string) =>
  name === 'email'
    ? html`<input
        id="email"
        name="email"
        type="email"
        value="${email}"
        autocomplete="email"
        maxlength="254"
        required${invalid}
      />`
    : html`<input
        id="password"
        name="password"
        type="password"
        autocomplete="${current ? 'current' : 'new'}-password"
        minlength="8"
        maxlength="1024"
        required${invalid}
      />`

/**
 * A form that sends the token of a link. Opening the link changes nothing, because scanners of mails open links, too.
 */
export const form = (
  texts: Texts,
  { token, email = '', problem }: FormState,
  { title, text, fields, submit }: FormParts,
): Page => {
  const wrong = problem?.text(texts) ?? ''
  const alert = (field: Field | undefined) =>
    problem && problem.field === field ? html`<p class="error" role="alert" id="problem">${wrong}</p>` : ''
  return {
    status: problem?.status ?? 200,
    title: wrong || title,
    styles: [formStyle],
    script: inline(submitOnce),
    headers: problem?.headers ?? {},
    content: html`<h1>${title}</h1>
      <p>${text}</p>
      ${alert(undefined)}
      <form method="post">
        ${fields.map((field) => {
          const { name, label, hint } = field
          return html`<div class="field">
            <label for="${name}">${label}</label>
            ${hint ? html`<p class="small">${hint}</p>` : ''} ${alert(name)}
            ${control(field, email, problem?.field === name ? html` aria-invalid="true" aria-errormessage="problem"` : '')}
          </div>`
        })}
        <input type="hidden" name="t" value="${token}" />
        <p class="actions"><button class="button go">${submit}</button></p>
      </form>`,
  }
}

/** The form with which the first account is created. */
export const firstAccountPage =
  (state: FormState): WritePage =>
  ({ texts }) => {
    const { first, fields } = texts.account
    return form(texts, state, {
      ...first,
      fields: [
        { name: 'email', label: fields.email },
        { name: 'password', label: fields.password, hint: fields.passwordHint },
      ],
    })
  }

/**
 * The form that confirms an address: of a new account, which gets its password here, or of an existing one, whose
 * password it asks for; an account without a password must be signed in. Any person can request the mail with the
 * address of another.
 */
export const confirmPage =
  (
    kind: 'register' | 'email' | 'signedIn',
    { email, username }: { readonly email: string; readonly username?: string | null | undefined },
    state: FormState,
  ): WritePage =>
  ({ texts }) => {
    const { confirm, created, fields } = texts.account
    const hint = kind === 'register' ? fields.passwordHint : filled(confirm.ask, username ?? '')
    const text = around(confirm[kind === 'register' ? kind : 'email'], html`<b><bdi>${email}</bdi></b>`)
    const { title, submit } = confirm
    if (kind === 'signedIn') {
      const way = html`<a href="/dashboard">${created.open}</a>`
      return form(texts, state, {
        title,
        text: html`${text} ${filled(confirm.signedIn, username ?? '')} ${way}`,
        submit,
        fields: [],
      })
    }
    return form(texts, state, {
      title,
      text,
      submit,
      fields: [{ name: 'password', label: fields.password, hint, current: kind === 'email' }],
    })
  }

export const newPasswordPage =
  (state: FormState): WritePage =>
  ({ texts }) => {
    const { reset, fields } = texts.account
    return form(texts, state, {
      ...reset,
      fields: [{ name: 'password', label: fields.newPassword, hint: fields.passwordHint }],
    })
  }

const messageOf =
  (status: number, name: 'confirmed' | 'changed' | 'gone' | 'taken'): WritePage =>
  ({ texts }) => {
    const { title, text }: Message = texts.account[name]
    return {
      status,
      title,
      content: html`<h1>${title}</h1>
        <p>${text}</p>`,
    }
  }
export const confirmedPage = messageOf(200, 'confirmed')
export const passwordChangedPage = messageOf(200, 'changed')
export const takenPage = messageOf(400, 'taken')
export const gonePage = messageOf(410, 'gone')

/** The page of a link that signs in without a password. */
export const enterPage =
  (state: FormState): WritePage =>
  ({ texts }) =>
    form(texts, state, { ...texts.account.enter, fields: [] })

export const enteredPage =
  (cookie: string): WritePage =>
  ({
    texts: {
      account: { created, entered },
    },
  }) => ({
    status: 200,
    title: entered.title,
    headers: { 'Set-Cookie': cookie },
    content: html`<h1>${entered.title}</h1>
      <p>${entered.text}</p>
      <p class="actions"><a class="button go" href="/dashboard/account">${created.open}</a></p>`,
  })

/** The page that shows the key of a new account, once. `joined` is the account that it has joined. */
export const createdPage =
  (made: { readonly id: number; readonly username: string; readonly api_key: string }, joined?: number): WritePage =>
  ({
    texts: {
      account: { created },
    },
  }) => ({
    status: 200,
    title: created.title,
    styles: [formStyle],
    json: made,
    content: html`<h1>${created.title}</h1>
      <p>${created.text}</p>
      <section class="next">
        <h2>${created.key}</h2>
        <p><bdi class="key">${made.api_key}</bdi></p>
        <p class="small">${created.username}: <bdi>${made.username}</bdi></p>
      </section>
      <p class="actions">
        <a class="button go" href="${joined === undefined ? '/dashboard' : `/dashboard/@${joined}`}">${created.open}</a>
      </p>`,
  })
