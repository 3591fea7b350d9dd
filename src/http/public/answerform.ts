import { isSignatureOf, sign } from '../../security/signature.ts'

/** The hidden part of an overlay's form: the link it was shown by, the visitor's destination, and our signature of both. */
export interface AnswerForm {
  readonly action: string
  readonly link: number
  readonly to: string
  readonly sign: string
}

const signedText = (overlay: number, link: number, to: string) => `answer ${overlay} ${link} ${to}`

/** Returns the form for an overlay. It posts to an address of its own: the page's address may be a rotator's, which leads elsewhere next time. */
export const answerForm = (secret: Buffer, overlay: number, link: number, to: string): AnswerForm => ({
  action: `/o/${overlay}`,
  link,
  to,
  sign: sign(secret, signedText(overlay, link, to)),
})

/** Returns the link and the destination of a posted form; undefined unless they are signed, so that a forged form redirects nowhere. */
export const originOf = (secret: Buffer, overlay: number, form: URLSearchParams) => {
  const [link, to] = [Number(form.get('link')), form.get('to') ?? '']
  return isSignatureOf(secret, signedText(overlay, link, to), form.get('sign') ?? '') ? { link, to } : undefined
}
