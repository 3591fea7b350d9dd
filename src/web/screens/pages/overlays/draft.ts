import type { OverlayDetails } from '../../../../http/pages/contract/overlay.ts'

export const types = ['message', 'contact', 'poll', 'newsletter', 'image', 'coupon'] as const
export type OverlayType = (typeof types)[number]
export const positions = ['bl', 'br', 'tl', 'tr'] as const

/** What the API takes and returns of an overlay. */
type Fields = Omit<OverlayDetails, 'id' | 'date' | 'revision'>
/** An overlay as its form has it. */
export interface Draft extends Fields {
  readonly type: OverlayType
  readonly position: (typeof positions)[number]
}

export const blank: Draft = {
  type: 'message',
  name: '',
  message: '',
  label: '',
  link: '',
  image: '',
  color: '#0a6349',
  position: 'bl',
  question: '',
  options: ['', ''],
  coupon: '',
}
export const fields = Object.keys(blank)

/** The fields that each type shows, besides its name and its look. */
export const fieldsOf: Readonly<Record<OverlayType, readonly (keyof Draft)[]>> = {
  message: ['message', 'label', 'link', 'image'],
  contact: ['message', 'label'],
  poll: ['question', 'options', 'label'],
  newsletter: ['message', 'label'],
  image: ['image', 'link', 'label', 'message'],
  coupon: ['coupon', 'message', 'label', 'link'],
}

/** What visitors send through an overlay, by the names of its fields. */
export const answersOf: Readonly<Partial<Record<OverlayType, readonly ('name' | 'email' | 'message' | 'choice')[]>>> = {
  contact: ['name', 'email', 'message'],
  poll: ['choice'],
  newsletter: ['email'],
}

/** Returns the form of an overlay that there is. */
export const draftOf = (overlay: Fields): Draft => {
  // what a newer release has added stays as it is
  const { type, name, message, label, link, image, color, position, question, options, coupon } = overlay as Draft
  const rows = options.length > 0 ? options : blank.options
  return { type, name, message, label, link, image, color, position, question, options: rows, coupon }
}

/** Returns a form as the API takes it: answers that are empty are left out. */
export const bodyOf = (draft: Draft) => ({
  ...draft,
  options: draft.options.map((one) => one.trim()).filter((one) => one !== ''),
})
