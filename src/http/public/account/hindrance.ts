import type { Hindrance, NotSignedIn } from '../../../security/notsignedin.ts'
import { retryAfter } from '../../accounts/identity.ts'
import { filled, html } from '../page/html.ts'
import type { WritePage } from '../page/page.ts'

const statuses: Readonly<Record<Hindrance, number>> = {
  away: 503,
  proxy: 403,
  begin: 400,
  answer: 400,
  refused: 403,
  fresh: 403,
  unknown: 403,
  taken: 403,
  unverified: 403,
  linked: 403,
  disabled: 403,
  deactivated: 403,
  session: 403,
  other: 403,
}

/** Returns the page that says why a sign-in failed, and what to do. */
export const hindrancePage =
  ({ why, message }: Pick<NotSignedIn, 'why' | 'message'>, issuer: string, endsFlow?: string): WritePage =>
  ({ texts: { oidc } }) => {
    const text = oidc.why[why].replaceAll('#', () => issuer)
    return {
      status: statuses[why],
      title: text,
      headers: {
        ...(endsFlow && { 'Set-Cookie': endsFlow }),
        ...(why === 'away' && { 'Retry-After': String(retryAfter) }),
      },
      json: { code: why },
      content: html`<h1>${filled(oidc.title, issuer)}</h1>
        <p role="alert">${text}</p>
        ${why === 'answer' ? html`<p class="small"><bdi>${message}</bdi></p>` : ''}
        <p class="actions"><a class="button go" href="/dashboard">${oidc.back}</a></p>`,
    }
  }
