import { createHmac, timingSafeEqual } from 'node:crypto'

/** What the form of an overlay is sent with: it says where its visitor is on the way to, and that we said so. */
export interface AnswerForm {
  readonly action: string
  readonly link: number
  readonly to: string
  readonly sign: string
}

const signOf = (secret: Buffer, overlay: number, link: number, to: string) =>
  createHmac('sha256', secret).update(`answer ${overlay} ${link} ${to}`).digest('base64url')

/** An address of its own, for that of the page may be a rotator's, which leads elsewhere the next time. */
export const answerForm = (secret: Buffer, overlay: number, link: number, to: string): AnswerForm => ({
  action: `/o/${overlay}`,
  link,
  to,
  sign: signOf(secret, overlay, link, to),
})

/** The link and the destination that a form was served with; nobody is sent on to what we did not write. */
export const cameFrom = (secret: Buffer, overlay: number, form: URLSearchParams) => {
  const [link, to] = [Number(form.get('link')), form.get('to') ?? '']
  const expected = Buffer.from(signOf(secret, overlay, link, to))
  const given = Buffer.from(form.get('sign') ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected) ? { link, to } : undefined
}
