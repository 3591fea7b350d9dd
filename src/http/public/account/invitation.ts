import { around, html } from '../page/html.ts'
import type { WritePage } from '../page/page.ts'
import { formStyle } from '../styles/form.ts'
import { form, type FormState } from './pages.ts'

/**
 * The form to accept an invitation without an account. A person with an account signs in on the dashboard, and so does
 * everybody when passwords are off.
 */
export const invitationPage =
  (
    { name, email }: { readonly name: string; readonly email?: string | undefined },
    state: FormState,
    passwords: boolean,
  ): WritePage =>
  ({ texts }) => {
    const { invitation, fields } = texts.account
    const text = around(invitation.text, html`<b><bdi>${name}</bdi></b>`)
    const signIn = html`<a class="button" href="/dashboard/invitation?t=${state.token}">${invitation.signIn}</a>`
    if (!passwords)
      return {
        status: 200,
        title: invitation.title,
        styles: [formStyle],
        content: html`<h1>${invitation.title}</h1>
          <p>${text}</p>
          <p class="actions">${signIn}</p>`,
      }
    return form(texts, state, {
      title: invitation.title,
      text: html`${text} ${invitation.choose} ${signIn}`,
      submit: invitation.submit,
      fields: [
        ...(email === undefined ? [{ name: 'email', label: fields.email } as const] : []),
        { name: 'password', label: fields.password, hint: fields.passwordHint },
      ],
    })
  }
