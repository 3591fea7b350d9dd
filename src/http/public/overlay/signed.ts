import { isSignatureOf, sign } from '../../../security/signature.ts'

/** An overlay's form: where it posts to, and its hidden fields, which a post must return unchanged. */
export interface AnswerForm {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
}

/** What a signed form was shown for: the link (0 when unknown), and the visitor's destination. */
export interface Origin {
  readonly link: number
  readonly to: string
}

/** seconds: a page may stay open for a day before its visitor answers */
const lifetime = 86_400

const signedText = (overlay: number, { link, to }: Origin, until: number) => `answer ${overlay} ${link} ${until} ${to}`

/**
 * Returns the form for an overlay, with our signature of what it was shown for and of when it expires. It posts to an
 * address of its own: the page's address may be a rotator's, which leads elsewhere next time. `now` is in ms since
 * 1970.
 */
export const answerForm = (secret: Buffer, overlay: number, origin: Origin, now: number): AnswerForm => {
  const until = Math.floor(now / 1000) + lifetime
  return {
    action: `/o/${overlay}`,
    hidden: {
      link: String(origin.link),
      to: origin.to,
      until: String(until),
      sign: sign(secret, signedText(overlay, origin, until)),
    },
  }
}

/**
 * Returns what a posted form was shown for; undefined when we did not sign it for this overlay, or when it has expired.
 */
export const originOf = (secret: Buffer, overlay: number, form: URLSearchParams, now: number): Origin | undefined => {
  const origin = { link: Number(form.get('link')), to: form.get('to') ?? '' }
  const until = Number(form.get('until'))
  const isOurs = isSignatureOf(secret, signedText(overlay, origin, until), form.get('sign') ?? '')
  return isOurs && until * 1000 > now ? origin : undefined
}
